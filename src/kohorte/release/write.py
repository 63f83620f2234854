"""The only way from a candidate to its reader: written, read again, verified, certified, and only then handed over.

The command, the jobs of the service and the series all call `publish`. They differ in the sink: files that get their
names, bytes for an encrypted file, or files whose series first adds the release to its state.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from kohorte.data import (
    Formulas,
    TableFile,
    atomic_write,
    output_separator,
    parse_table,
    refuse_format,
    refuse_same_file,
    without_quotes,
    write_csv,
)
from kohorte.data.files import Flushing, SignalsIgnored, flush
from kohorte.errors import KohorteError
from kohorte.languages import ENGLISH
from kohorte.plans.parts import About
from kohorte.plans.plan import Plan
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.release.candidate import Candidate
from kohorte.release.certificate import Certificate, FileFacts, certify
from kohorte.release.release import Release
from kohorte.release.telling.verdict import Standing
from kohorte.release.verification import not_verified
from kohorte.sources import DuckDbSource, FrameSource, SparkSource, TableSource, Written
from kohorte.sources.parquet_files import refuse_among_files

Verified = TypeVar("Verified")


class Sink(Protocol):
    """Where a release goes. Nobody sees anything of it before `hand_over`."""

    @property
    def name(self) -> str:
        """The name of the file, as the progress tells it."""

    def write(self, table: TableSource) -> Written:
        """Write the table where nobody sees it yet, and read it again."""

    def hand_over(self, certificate: Certificate) -> None:
        """Add the certificate, and let the reader see both."""


def publish(
    table: TableSource,
    sink: Sink,
    *,
    verify: Callable[[TableSource], Verified],
    certify: Callable[[Verified, Written], Certificate],
    progress: ProgressCallback | None = None,
) -> tuple[Verified, Certificate]:
    """Bring a table to its reader; returns what `verify` and `certify` made of the table that was read again.

    `verify` raises if that table does not satisfy its plan. A certificate whose verdict is red is never handed over.
    """
    tell(progress, Stage.WRITING, sink.name)
    written = sink.write(table)
    tell(progress, Stage.VERIFYING, sink.name)
    verified = verify(written.table)
    certificate = certify(verified, written)
    if certificate.verdict.standing is Standing.RED:
        raise not_verified()
    sink.hand_over(certificate)
    return verified, certificate


Commit = Callable[[str, Sequence[tuple[Path, Path]]], None]
"""Takes the hash of a written table, and its temporary files with their names, in the order of renaming."""


def only_files(sha256: str, names: Sequence[tuple[Path, Path]]) -> None:
    """Commit a release that is nothing but its files: there is nothing to do."""


def certificate_paths(output: Path) -> tuple[Path, Path]:
    """The files of the certificate, next to the output: JSON and text."""
    return output.with_suffix(".certificate.json"), output.with_suffix(".certificate.txt")


def write_release(
    candidate: Candidate,
    output: str | Path,
    *,
    source: TableFile | DuckDbSource | None = None,
    force: bool = False,
    about: About | None = None,
    progress: ProgressCallback | None = None,
    commit: Commit = only_files,
    language: str = ENGLISH.code,
) -> Certificate:
    """Write a candidate (or a release) and its certificate; the written table is read again and verified.

    `source` is the file that the table came from, if any: the certificate then names it, and it is never overwritten.
    `about` says what the release is for, and takes precedence over what the plan states. `commit` is called when all
    files are complete, before they get their names; if it raises, they get none. `language` is that of the certificate
    as text, `en` or `de`; the certificate as JSON is the same in every language.

    No file gets its final name before all files are written and verified. The table gets its name last, so that it
    never exists without its certificate.
    """
    with StagedFiles(Path(output), candidate.plan, source=source, force=force) as files:
        files.commit = commit
        if language != ENGLISH.code:
            from kohorte.pages.reader_language import language_named

            files.language = language_named(language)
        return published(candidate, files, source=files.source, about=about, progress=progress)[1]


def certified_bytes(candidate: Candidate, name: str) -> tuple[bytes, Release, Certificate]:
    """Return a release as the bytes of a CSV file, read again and verified, with its certificate."""
    sink = _Bytes(name, candidate.plan.formulas)
    release, certificate = published(candidate, sink)
    return sink.content, release, certificate


def certified_again(candidate: Candidate, read: Written, name: str) -> tuple[Release, Certificate]:
    """Verify a release that somebody else wrote, as it was read, and certify it.

    The certificate has the hash of the file that this program writes of these rows: a file with another hash was
    written in another way.
    """
    return published(candidate, _Read(name, candidate.plan.formulas, read))


def published(
    candidate: Candidate, sink: Sink, *, progress: ProgressCallback | None = None, **known: Any
) -> tuple[Release, Certificate]:
    """Publish a candidate; `known` are further facts for the certificate."""

    def certified(release: Release, written: Written) -> Certificate:
        if not isinstance(written.table, FrameSource):  # what was written is counted faster than joined again
            release = replace(release, table=written.table)
        return certify(release, output=FileFacts(sink.name, written.sha256), quoted=written.quoted, **known)

    verify = partial(Release.verified, candidate)
    return publish(candidate.table, sink, verify=verify, certify=certified, progress=progress)


class _Bytes:
    """A sink in memory; `content` is empty until the release is handed over."""

    def __init__(self, name: str, formulas: Formulas) -> None:
        self.name, self.content, self._formulas, self._written = name, b"", formulas, BytesIO()

    def write(self, table: TableSource) -> Written:
        """Write the table as CSV, and read it again from the bytes."""
        write_csv(table.in_memory("a release as bytes"), self._written, formulas=self._formulas)
        file = parse_table(self._written.getvalue(), Path(self.name), separator=",")
        file, quoted = without_quotes(file, self._formulas)
        return Written(FrameSource(file.frame), file.sha256, quoted)

    def hand_over(self, certificate: Certificate) -> None:
        """Show the bytes; the caller keeps the certificate."""
        del certificate
        self.content = self._written.getvalue()


class _Read:
    """A sink for a file that is already there, as it was read."""

    def __init__(self, name: str, formulas: Formulas, read: Written) -> None:
        self.name, self._formulas, self._read = name, formulas, read

    def write(self, table: TableSource) -> Written:
        """Return what was read, with the hash of the file that the table gives."""
        written = BytesIO()
        write_csv(table.in_memory("a release as bytes"), written, formulas=self._formulas)
        return replace(self._read, sha256=hashlib.sha256(written.getbuffer()).hexdigest())

    def hand_over(self, certificate: Certificate) -> None:
        """Do nothing: the reader has the file."""


def certificate_beside(file: TableFile) -> str | None:
    """The hash of the certificate next to a table; None unless it certifies exactly this file."""
    found = _beside(file)
    return None if found is None else hashlib.sha256(found[0]).hexdigest()


def certified_input(file: TableFile) -> str | None:
    """The hash of the file from which a table was made, by the certificate next to it; None if it does not say it."""
    found = _beside(file)
    made_from = None if found is None else found[1].get("input")
    sha256 = made_from.get("sha256") if isinstance(made_from, dict) else None
    return sha256 if isinstance(sha256, str) else None


def is_certified(file: TableFile | DuckDbSource | SparkSource, plan: Plan) -> bool:
    """Whether the certificate next to a table certifies exactly this file, for the same plan.

    Search, metric and output of a plan decide about no open point and may differ.
    """
    found = _beside(file)
    certified = None if found is None else found[1].get("plan")
    given = json.loads(json.dumps(plan.to_dict()))
    return isinstance(certified, dict) and _about_points(certified) == _about_points(given)


def certified_points(file: TableFile | DuckDbSource | SparkSource, plan: Plan) -> list[str]:
    """The open points that the certificate next to a table names, if it was made for the same plan.

    Some are about columns that the release does not have.
    """
    found = _beside(file)
    verdict = None if found is None else found[1].get("verdict")
    reasons = verdict.get("reasons") if isinstance(verdict, dict) else None
    if not isinstance(reasons, list) or not is_certified(file, plan):
        return []
    return ["".join(filter(str.isprintable, reason)) for reason in reasons if isinstance(reason, str)]


def other_certificates(file: TableFile | DuckDbSource | SparkSource, named: Path | None = None) -> list[str]:
    """An open point for each certificate, next to a table or named with it, that certifies another table."""
    beside = certificate_paths(file.path)[0]
    paths = [beside] if named is None or named.resolve() == beside.resolve() else [beside, named]
    certified = {_printable(path): _stated(path)[2] for path in paths}
    return [
        f"the certificate {name} is about another table (the SHA-256 that it states is not that of this one): this "
        "table was changed after it was certified, or the certificate belongs to another one"
        for name, sha256 in certified.items()
        if sha256 not in (None, file.sha256)
    ]


def only_certified(points: Iterable[str], said: Iterable[str]) -> list[str]:
    """The points of a certificate, in words, without those that are said already: others about the same."""
    known = {_kind(point) for point in said}
    return [f"the certificate of the table says: {point}" for point in points if _kind(point) not in known]


def _kind(point: str) -> str:
    """What an open point is about: its words before the reasons and figures."""
    return point.partition(":")[0]


def _about_points(plan: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in plan.items() if key not in ("search", "metric", "output")}


def _beside(file: TableFile | DuckDbSource | SparkSource) -> tuple[bytes, dict[str, Any]] | None:
    """The certificate next to a table, as bytes and as data; None unless it certifies exactly this file."""
    content, facts, certified = _stated(certificate_paths(file.path)[0])
    return (content, facts) if certified == file.sha256 else None


def _stated(certificate: Path) -> tuple[bytes, dict[str, Any], str | None]:
    """A certificate, as bytes and as data, and the hash of the table that it certifies; None if it does not say one."""
    try:
        content = certificate.read_bytes()
        facts = json.loads(content)
        certified = facts["output"]["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return b"", {}, None
    return content, facts, certified if isinstance(certified, str) else None


class StagedFiles:
    """A table and its certificate under temporary names; either all of them get their final names or none does.

    `paths` are the final names. `commit` is called when the files are complete, before they are renamed. `language` is
    that of the text. If the block ends before all have their names, they are removed and existing files are unchanged.
    """

    def __init__(
        self, output: Path, plan: Plan, *, source: TableFile | DuckDbSource | SparkSource | None, force: bool
    ) -> None:
        self.paths = (output, *certificate_paths(output))
        self.source = None if source is None else file_facts(source)
        self.commit: Commit = only_files
        self.language = ENGLISH
        self._output, self._force, self._formulas, self._sha256 = output, force, plan.formulas, ""
        self._is_personal = bool(plan.pseudonyms)
        self._separator = output_separator(output, source.separator if source else None)
        for path in self.paths:
            for needed in (*(source.files if source else ()), *plan.files()):
                refuse_same_file(needed, path)
        if source is not None and not isinstance(source, TableFile):
            refuse_among_files(source.path, output)
        refuse_format(output)
        self._blocks, self._naming, self._signals = ExitStack(), ExitStack(), SignalsIgnored()
        self._names: list[tuple[Path, Path]] = []
        self._flushing: Flushing | None = None

    def __enter__(self) -> Self:
        self._blocks.enter_context(self._signals)
        self._blocks.enter_context(_Restored(*self.paths[1:]))
        self._blocks.enter_context(self._naming)
        return self

    @property
    def name(self) -> str:
        """The final name of the table."""
        return _printable(self._output)

    def write(self, table: TableSource) -> Written:
        """Write the table, read it again, and return it for verification."""
        temporary = self._staged(self._output)
        layout: Any = {"separator": self._separator, "formulas": self._formulas}
        table.write(temporary, self._output, **layout)
        self._flushing = Flushing(temporary)
        written = table.reread(temporary, self._output, **layout)
        self._sha256 = written.sha256
        return written

    def write_bytes(self, content: bytes) -> str:
        """Write a table that was verified as these bytes, and return the hash of the file, read again."""
        temporary = self._staged(self._output)
        temporary.write_bytes(content)
        self._sha256 = hashlib.sha256(temporary.read_bytes()).hexdigest()
        return self._sha256

    def hand_over(self, certificate: Certificate) -> None:
        """Write the certificate as JSON and as text; rename the table last: it never exists without its certificate."""
        texts = (certificate.to_json(), certificate.to_text(self.language))
        for path, text in zip(self.paths[1:], texts, strict=True):
            self._staged(path).write_text(text, encoding="utf-8")
        if self._flushing is not None:
            self._flushing.finish()
        for temporary, _ in self._names:
            flush(temporary)
        self._signals.begins()  # from here on nothing is slow, and nothing is interrupted
        self.commit(self._sha256, tuple(self._names))
        self._naming.close()
        self._names.clear()

    def _staged(self, path: Path) -> Path:
        private = self._is_personal and path == self._output  # pseudonyms lead to people; the certificate does not
        temporary = self._naming.enter_context(atomic_write(path, force=self._force, private=private))
        self._names.insert(0, (temporary, path))  # renamed in reverse order
        return temporary

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None and self._names:
            kind, error = _Discarded, _Discarded()
        self._blocks.__exit__(kind, error, traceback)


class _Discarded(Exception):
    """Raised inside the block to discard files that are not to be renamed."""


def file_facts(file: TableFile | DuckDbSource | SparkSource) -> FileFacts:
    """The name and the hash of a file."""
    return FileFacts(_printable(file.path), file.sha256)


def _printable(path: Path) -> str:
    """Return the name of a file, even if it is not valid UTF-8."""
    return os.fsencode(path.name).decode("utf-8", "replace")


class _Restored:
    """Restores files to their previous state if the block raises."""

    def __init__(self, *paths: Path) -> None:
        self._before = {path: path.read_bytes() if path.is_file() else None for path in paths}

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is None:
            return
        for path, content in self._before.items():
            with suppress(OSError, KohorteError):
                if content is None:
                    path.unlink(missing_ok=True)
                elif path.read_bytes() != content:
                    with atomic_write(path, force=True) as temporary:
                        temporary.write_bytes(content)
