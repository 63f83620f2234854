"""Writing a release: the table and its certificate, all of it or nothing."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from io import BytesIO
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl

from kohorte.data import (
    TableFile,
    atomic_write,
    fill_table,
    output_separator,
    parse_table,
    refuse_same_file,
    to_polars,
    write_csv,
)
from kohorte.errors import KohorteError
from kohorte.release.certificate import Certificate, FileFacts, certify
from kohorte.release.release import Release
from kohorte.release.verification import refuse_unverified, verify_table


def certificate_paths(output: Path) -> tuple[Path, Path]:
    """Where the certificate of an output goes: beside it, as JSON and as text."""
    return output.with_suffix(".certificate.json"), output.with_suffix(".certificate.txt")


def write_release(
    release: Release, output: str | Path, *, source: TableFile | None = None, force: bool = False
) -> Certificate:
    """Write a release and its certificate, after reading the written table again and verifying it anew.

    `source` is the file that the table came from, if any: the certificate then names it, and it is never overwritten.

    Nothing gets its name before everything is written and verified. The table gets its name last, so that it never
    stands there without its certificate.
    """
    output = Path(output)
    data, _ = to_polars(release.data)

    def certified(written: TableFile) -> Certificate:
        return _certified(release, written, None if source is None else file_facts(source))

    inputs = (*(() if source is None else (source.path,)), *release.plan.files())
    return write_certified(data, output, certified, inputs=inputs, like=source, force=force)


def certified_bytes(release: Release, name: str) -> tuple[bytes, Certificate]:
    """Return a release as the bytes of a CSV file of this name, read again and verified anew, and its certificate."""
    written = BytesIO()
    write_csv(to_polars(release.data)[0], written)
    content = written.getvalue()
    return content, _certified(release, parse_table(content, Path(name), separator=","), None)


def _certified(release: Release, written: TableFile, source: FileFacts | None) -> Certificate:
    """Verify a release from what was written of it; what fails goes no further."""
    verification = verify_table(written.frame, release.plan, release.populations, levels=release.levels)
    refuse_unverified(verification, release)
    return certify(release, verification, source=source, output=file_facts(written))


Naming = Sequence[tuple[Path, Path]]
"""Temporary files with the names that they are about to get, in that order."""


def write_certified(
    data: pl.DataFrame,
    output: Path,
    certified: Callable[[TableFile], Certificate],
    *,
    inputs: Sequence[Path],
    like: TableFile | None,
    force: bool,
    before_naming: Callable[[Naming], None] | None = None,
) -> Certificate:
    """Write a table and the certificate that `certified` gives for it, read again from the written file.

    `before_naming` is the last that can fail: it is called when all files are written and none has its name.
    """
    separator = output_separator(output, like)
    as_json, as_text = certificate_paths(output)
    for path in (output, as_json, as_text):
        for needed in inputs:
            refuse_same_file(needed, path)
    with _Undisturbed() as naming, _Restored(as_json, as_text), ExitStack() as files:
        table = files.enter_context(atomic_write(output, force=force))
        fill_table(data, table, output, separator=separator)
        certificate = certified(parse_table(table.read_bytes(), output, separator=separator))
        json_file = files.enter_context(atomic_write(as_json, force=force))
        json_file.write_text(certificate.to_json(), encoding="utf-8")
        text_file = files.enter_context(atomic_write(as_text, force=force))
        text_file.write_text(certificate.to_text(), encoding="utf-8")
        for file in (text_file, json_file, table):  # the slow part, while everything can still be undone
            _flush(file)
        naming.begins()
        if before_naming is not None:
            before_naming([(text_file, as_text), (json_file, as_json), (table, output)])
    return certificate


def file_facts(file: TableFile) -> FileFacts:
    """The name and the hash of a file."""
    return FileFacts(_printable(file.path), file.sha256)


def _printable(path: Path) -> str:
    """Return the name of a file, also where it is no UTF-8."""
    return os.fsencode(path.name).decode("utf-8", "replace")


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


class _Restored:
    """Puts files back as they were when the block raises, also those that were there before."""

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


class _Undisturbed:
    """From `begins` on, Ctrl-C and the like come too late: the files get their names, all of them."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Undisturbed:
        return self

    def begins(self) -> None:
        """Hold signals off; only the main thread ever gets any."""
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                self._before[number] = signal.signal(number, _too_late)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _too_late(number: int, frame: FrameType | None) -> None:
    del number, frame
