"""Writes a release: the table and its certificate, or nothing."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from io import BytesIO
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

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
from kohorte.errors import KohorteError
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.release.candidate import Candidate
from kohorte.release.certificate import Certificate, FileFacts, certify
from kohorte.release.release import Release
from kohorte.release.telling.about import About
from kohorte.sources import DuckDbSource, FrameSource, TableSource, Written


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
) -> Certificate:
    """Write a candidate (or a release) and its certificate; the written table is read again and verified.

    `source` is the file that the table came from, if any: the certificate then names it, and it is never overwritten.
    `about` says what the release is for.

    No file gets its final name before all files are written and verified. The table gets its name last, so that it
    never exists without its certificate.
    """
    output = Path(output)
    origin = None if source is None else file_facts(source)
    inputs = (*(() if source is None else (source.path,)), *candidate.plan.files())
    like = source if isinstance(source, TableFile) else None
    formulas = candidate.plan.formulas
    with StagedFiles(output, inputs=inputs, like=like, force=force, formulas=formulas) as files:
        tell(progress, Stage.WRITING, output.name)
        written = files.write_table(candidate.table)
        tell(progress, Stage.VERIFYING, output.name)
        release = Release.verified(candidate, written.table)
        facts = facts_of(output, written)
        certificate = certify(release, source=origin, output=facts, about=about, quoted=written.quoted)
        files.write_certificate(certificate)
        files.seal()
        files.name_all()
    return certificate


def certified_bytes(candidate: Candidate, name: str) -> tuple[bytes, Release, Certificate]:
    """Return a release as the bytes of a CSV file, read again and verified, with its certificate."""
    buffer = BytesIO()
    formulas = candidate.plan.formulas
    write_csv(candidate.table.in_memory("a release as bytes"), buffer, formulas=formulas)
    content = buffer.getvalue()
    file, quoted = without_quotes(parse_table(content, Path(name), separator=","), formulas)
    release = Release.verified(candidate, FrameSource(file.frame))
    return content, release, certify(release, output=file_facts(file), quoted=quoted)


def certificate_beside(file: TableFile) -> str | None:
    """The hash of the certificate next to a table; None unless it certifies exactly this file."""
    path = certificate_paths(file.path)[0]
    try:
        content = path.read_bytes()
        certified = json.loads(content)["output"]["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return hashlib.sha256(content).hexdigest() if certified == file.sha256 else None


class StagedFiles:
    """A table and its certificate under temporary names; either all of them get their final names or none does.

    The order of the steps is `write_table`, `write_certificate`, `seal`, `name_all`. If the block ends before the last
    step, the temporary files are removed and existing files are unchanged.
    """

    def __init__(
        self, output: Path, *, inputs: Sequence[Path], like: TableFile | None, force: bool, formulas: Formulas
    ) -> None:
        self._output, self._force, self._separator = output, force, output_separator(output, like)
        self._certificates, self._formulas = certificate_paths(output), formulas
        for path in (output, *self._certificates):
            for needed in inputs:
                refuse_same_file(needed, path)
        refuse_format(output)
        self._blocks, self._naming, self._signals = ExitStack(), ExitStack(), _SignalsIgnored()
        self.names: list[tuple[Path, Path]] = []
        """The temporary files and their final names, in the order in which they are renamed."""

    def __enter__(self) -> Self:
        self._blocks.enter_context(self._signals)
        self._blocks.enter_context(_Restored(*self._certificates))
        self._blocks.enter_context(self._naming)
        return self

    def write_table(self, table: TableSource) -> Written:
        """Write the table, read it again, and return it for verification."""
        temporary = self._staged(self._output)
        layout: Any = {"separator": self._separator, "formulas": self._formulas}
        table.write(temporary, self._output, **layout)
        return table.reread(temporary, self._output, **layout)

    def write_certificate(self, certificate: Certificate) -> None:
        """Write the certificate as JSON and as text."""
        for path, text in zip(self._certificates, (certificate.to_json(), certificate.to_text()), strict=True):
            self._staged(path).write_text(text, encoding="utf-8")

    def seal(self) -> None:
        """Flush all files to disk, which is slow; then ignore signals, so that renaming is not interrupted."""
        for temporary, _ in self.names:
            _flush(temporary)
        self._signals.begins()

    def name_all(self) -> None:
        """Rename the files, the table last, so that it never exists without its certificate."""
        self._naming.close()
        self.names.clear()

    def _staged(self, path: Path) -> Path:
        temporary = self._naming.enter_context(atomic_write(path, force=self._force))
        self.names.insert(0, (temporary, path))  # renamed in reverse order
        return temporary

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None and self.names:
            kind, error = _Discarded, _Discarded()
        self._blocks.__exit__(kind, error, traceback)


class _Discarded(Exception):
    """Raised inside the block to discard files that are not to be renamed."""


def file_facts(file: TableFile | DuckDbSource) -> FileFacts:
    """The name and the hash of a file."""
    return FileFacts(_printable(file.path), file.sha256)


def facts_of(output: Path, written: Written) -> FileFacts:
    """The final name of a written table, and the hash of its file."""
    return FileFacts(_printable(output), written.sha256)


def _printable(path: Path) -> str:
    """Return the name of a file, even if it is not valid UTF-8."""
    return os.fsencode(path.name).decode("utf-8", "replace")


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


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


STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that end the command; not every system has all of them."""


class _SignalsIgnored:
    """From `begins` until the end of the block, signals such as Ctrl-C are ignored, so that all files are renamed."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _SignalsIgnored:
        return self

    def begins(self) -> None:
        """Ignore signals; only the main thread receives them."""
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                self._before[number] = signal.signal(number, _ignore)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _ignore(number: int, frame: FrameType | None) -> None:
    del number, frame
