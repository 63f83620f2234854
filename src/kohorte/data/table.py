"""A table in a file: CSV or Parquet."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from kohorte.data.csv import read_csv, write_csv
from kohorte.data.files import atomic_write, refuse_same_file, sha256_of, unreadable
from kohorte.data.formulas import FormulaCells, Formulas, unquote_formulas
from kohorte.data.parquet import MAGIC, read_parquet, write_parquet
from kohorte.errors import InputError

PARQUET = {".parquet", ".pq"}
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_TEXT = {".csv", ".txt", ".tsv", ""}
_EXCEL = {".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"}
_LARGE = 1 << 20  # bytes from which a thread of its own is worth while
_FOREIGN = {  # what a file starts with
    b"PK\x03\x04": "a ZIP archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x1f\x8b": "compressed with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard",
}


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table and the file it was read from."""

    path: Path
    format: Literal["csv", "parquet"]
    frame: pl.DataFrame = field(repr=False)
    sha256: str
    separator: str | None = None
    encoding: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that the table was read from."""
        return (self.path,)


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    may_lack_rows: bool = False,
    coded: Collection[str] = (),
) -> TableFile:
    """Read a table; the suffix of its name and the first bytes determine the format.

    A table without rows is refused, unless it may lack them. Columns of a CSV file in `coded` are stored as numbers of
    texts, for a `FrameSource`.
    """
    path = Path(path)
    _refuse_address(path)
    layout: Any = {"separator": separator, "encoding": encoding, "may_lack_rows": may_lack_rows, "coded": coded}
    return parse_table(_bytes_of(path), path, **layout)


def parse_table(
    data: bytes,
    path: Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    may_lack_rows: bool = False,
    coded: Collection[str] = (),
) -> TableFile:
    """Read a table from the bytes of a file, with the options of `read_table`; `path` gives its name."""
    suffix, source = path.suffix.lower(), path.name
    refuse_foreign(data, suffix, source=source)
    digest = _Digest(data)
    if is_parquet(data, path):
        frame = read_parquet(data, source=source, may_lack_rows=may_lack_rows)
        return TableFile(path, "parquet", frame, digest.value())
    if suffix == ".tsv" and separator is None:
        separator = "\t"
    table = read_csv(
        data, source=source, separator=separator, encoding=encoding, may_lack_rows=may_lack_rows, coded=coded
    )
    return TableFile(path, "csv", table.frame, digest.value(), table.separator, table.encoding, table.notes)


class _Digest:
    """The SHA-256 of the bytes of a file, computed while they are parsed; of few bytes, when it is asked for."""

    def __init__(self, data: bytes) -> None:
        self._data, self._hexadecimal = data, ""
        self._thread = threading.Thread(target=self._compute, daemon=True) if len(data) > _LARGE else None
        if self._thread is not None:
            self._thread.start()

    def value(self) -> str:
        """Wait for it."""
        if self._thread is None:
            self._compute()
        else:
            self._thread.join()
        return self._hexadecimal

    def _compute(self) -> None:
        self._hexadecimal = sha256_of(self._data)


def without_quotes(file: TableFile, formulas: Formulas) -> tuple[TableFile, FormulaCells]:
    """Return a file of a release as it was before formulas got an apostrophe, and where the apostrophes were.

    Only CSV files written with `quote` have them.
    """
    if file.format != "csv" or formulas is not Formulas.QUOTE:
        return file, FormulaCells()
    frame, cells = unquote_formulas(file.frame)
    return replace(file, frame=frame), cells


def is_parquet(data: bytes, path: Path) -> bool:
    """Whether the bytes of a file are read as Parquet."""
    return path.suffix.lower() in PARQUET or _is_parquet(data)


def write_table(
    frame: pl.DataFrame, path: str | Path, *, like: TableFile | None, force: bool, private: bool = False
) -> None:
    """Write a table completely or not at all: Parquet by suffix, otherwise CSV in UTF-8 with the layout of `like`.

    Only the owner can read a `private` one.
    """
    path = Path(path)
    refuse_format(path)
    if like is not None:
        refuse_same_file(like.path, path)
    with atomic_write(path, force=force, private=private) as temporary:
        fill_table(frame, temporary, path, separator=output_separator(path, like.separator if like else None))


def fill_table(
    frame: pl.DataFrame, target: Path, path: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS
) -> None:
    """Write the rows into `target`, in the format given by the suffix of `path`."""
    refuse_format(path)
    if path.suffix.lower() in PARQUET:
        write_parquet(frame, target)
    else:
        write_csv(frame, target, separator=separator, formulas=formulas)


def refuse_format(path: Path) -> None:
    """Refuse an output whose name promises a format that is not written."""
    suffix = path.suffix.lower()
    if suffix in _EXCEL:
        raise InputError(f"{path.name}: cannot write Excel; use .csv or .parquet", code="file-format")
    if suffix not in _TEXT | PARQUET:
        raise InputError(
            f"{path.name}: {suffix} is not a format that Kohorte writes; use .csv, .tsv, .txt or .parquet",
            code="file-format",
        )


def output_separator(path: Path, like: str | None) -> str:
    """The separator of a CSV output: a tab for .tsv, otherwise that of the input, by default a comma."""
    return "\t" if path.suffix.lower() == ".tsv" else like or ","


def _refuse_address(path: Path) -> None:
    """Refuse an address instead of a file, without repeating it: it may contain a password."""
    if _ADDRESS.match(str(path)):
        raise InputError(
            "DATA is an address, and this reads a file; anonymize, verify and lattice read tables in PostgreSQL "
            "(postgresql://USER@HOST/DATABASE/TABLE): export the table to a file for everything else",
            code="source-row-by-row",
        )


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


def _is_parquet(data: bytes) -> bool:
    """Decide by the first bytes; the first column of a CSV file may be called PAR1, too."""
    return data.startswith(MAGIC) and data[len(MAGIC) : len(MAGIC) + 1] not in (b",", b";", b"\t", b"|", b"\n", b"\r")


def refuse_foreign(data: bytes, suffix: str, *, source: str) -> None:
    """Refuse what is neither CSV nor Parquet, by the first bytes and the suffix."""
    what = next((name for start, name in _FOREIGN.items() if data.startswith(start)), None)
    if what is None and suffix in _EXCEL:
        what = "an Excel workbook by its name"
    if what is not None:
        raise InputError(f"{source} is {what}; save the table as CSV or Parquet", code="file-format")
