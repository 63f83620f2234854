"""Read and write large tables in batches of rows, so that memory does not grow with the file.

A CSV file is cut into blocks of whole records, and each block is read exactly as a file is (`read_csv`), under the same
header. Whatever is wrong is reported as if the file had been read at once.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal

import polars as pl

from kohorte.data import csv_layout as layout
from kohorte.data.columns import categories_as_text, check_names, check_types, missing_as_null
from kohorte.data.csv import read_csv, write_csv
from kohorte.data.csv_encoding import WESTERN, encoding_of, lines_beyond_ascii
from kohorte.data.files import unreadable
from kohorte.data.formulas import Formulas
from kohorte.data.parquet import damaged_parquet, duplicate_columns
from kohorte.data.table import PARQUET, is_parquet, parse_table, refuse_foreign, refuse_format
from kohorte.errors import InputError

BLOCK = 8 << 20
ROWS = 100_000
HEAD = 64


@dataclass(frozen=True, eq=False)
class TableBatches:
    """A table that is read in batches; `path` gives its name, and `content` its bytes if it is no file."""

    path: Path
    separator: str | None = None
    encoding: str | None = None
    content: bytes | None = field(default=None, repr=False)
    block: int = BLOCK
    rows: int = ROWS

    @property
    def format(self) -> Literal["csv", "parquet"]:
        """The format, by suffix and first bytes."""
        with self._opened() as file:
            head = file.read(HEAD)
        refuse_foreign(head, self.path.suffix.lower(), source=self.path.name)
        return "parquet" if is_parquet(head, self.path) else "csv"

    @property
    def total(self) -> int:
        """What `done` is after the last batch."""
        if self.format == "csv":
            return len(self.content) if self.content is not None else self.path.stat().st_size
        try:
            return int(pl.scan_parquet(self._source).select(pl.len()).collect().item())
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            return 0  # reading the file reports what is wrong with it

    def __iter__(self) -> Iterator[Batch]:
        """Read the batches, in order; a table without rows is one batch without rows."""
        return self._parquet() if self.format == "parquet" else self._csv()

    # CSV

    def _csv(self) -> Iterator[Batch]:
        separator = self.separator
        if separator is None and self.path.suffix.lower() == ".tsv":
            separator = "\t"
        with self._opened() as file:
            encoding = encoding_of(file.read(HEAD), source=self.path.name, encoding=self.encoding)
            file.seek(0)
            blocks = _record_blocks(_chunks(file, encoding, self.block))
            if encoding not in (*WESTERN, "utf-8", "utf-8-sig"):
                encoding = "utf-8"  # the chunks were converted
            yield from self._csv_batches(blocks, separator, encoding)

    def _csv_batches(self, blocks: Iterator[bytes], separator: str | None, encoding: str) -> Iterator[Batch]:
        first, done, header = True, 0, b""
        kinds = (False, False)
        for block in blocks:
            text = block if first else header + block
            try:
                table = read_csv(
                    text, source=self.path.name, separator=separator, encoding=encoding, may_lack_rows=first
                )
                if encoding in WESTERN:
                    kinds = self._refuse_mixed(block, kinds)
            except InputError as error:
                raise self._exact(error) from None
            if first:
                header, separator = _header_of(block), separator or _used(table.separator, table.frame)
            done += len(block)
            for frame in table.frame.iter_slices(self.rows) if table.frame.height else (table.frame,):
                yield Batch(frame, done, table.separator, table.notes if first else ())
                first = False
        if first:
            raise InputError(f"{self.path.name} is empty", code="csv-empty")

    def _refuse_mixed(self, block: bytes, kinds: tuple[bool, bool]) -> tuple[bool, bool]:
        """Refuse a file whose blocks are in different encodings, as one block with both is refused."""
        if not block.isascii():
            bad, good = lines_beyond_ascii(block)
            kinds = (kinds[0] or bool(bad), kinds[1] or bool(good))
        if all(kinds):
            raise InputError(f"{self.path.name} mixes encodings", code="csv-encoding-mixed")
        return kinds

    def _exact(self, error: InputError) -> InputError:
        """The error of the whole file, which counts lines from its beginning."""
        with self._opened() as file:
            data = file.read()
        try:
            parse_table(data, self.path, separator=self.separator, encoding=self.encoding, may_lack_rows=True)
        except InputError as exact:
            return exact
        return error

    # Parquet

    def _parquet(self) -> Iterator[Batch]:
        name, done = self.path.name, 0
        frame: pl.DataFrame | None = None
        try:
            for frame in pl.scan_parquet(self._source).collect_batches(chunk_size=self.rows, maintain_order=True):
                if not done:
                    check_names(frame.columns, source=name)
                    check_types(frame, source=name)
                done += frame.height
                if frame.height:
                    yield Batch(missing_as_null(categories_as_text(frame)), done, None)
            if not done:
                frame = pl.read_parquet(self._source, n_rows=0) if frame is None else frame
                check_names(frame.columns, source=name)
                check_types(frame, source=name)
                yield Batch(missing_as_null(categories_as_text(frame)), 0, None)
        except pl.exceptions.DuplicateError:
            raise duplicate_columns(name) from None
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            raise damaged_parquet(name) from None

    @property
    def _source(self) -> Path | io.BytesIO:
        return self.path if self.content is None else io.BytesIO(self.content)

    def _opened(self) -> BinaryIO:
        if self.content is not None:
            return io.BytesIO(self.content)
        try:
            return self.path.open("rb")
        except OSError as error:
            raise unreadable(self.path, error) from None


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows; `done` counts the bytes of a CSV file or the rows of a Parquet file up to here."""

    frame: pl.DataFrame = field(repr=False)
    done: int
    separator: str | None
    notes: tuple[str, ...] = ()


def fill_table_in_batches(
    frames: Iterable[pl.DataFrame], target: Path, path: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS
) -> None:
    """Write frames of the same columns into `target` one after another, in the format given by the suffix of `path`."""
    refuse_format(path)
    if path.suffix.lower() in PARQUET:
        _fill_parquet(iter(frames), target)
        return
    with target.open("wb") as file:
        for number, frame in enumerate(frames):
            write_csv(frame, file, separator=separator, header=number == 0, formulas=formulas)


def _fill_parquet(frames: Iterator[pl.DataFrame], target: Path) -> None:
    from polars.io.plugins import register_io_source

    first = next(frames)

    def rest(*_: object) -> Iterator[pl.DataFrame]:
        for frame in chain([first], frames):
            check_types(frame, source="the table")
            yield categories_as_text(missing_as_null(frame))

    register_io_source(rest, schema=categories_as_text(first.clear()).schema).sink_parquet(target)


def _chunks(file: BinaryIO, encoding: str, size: int) -> Iterator[bytes]:
    """The bytes of the file; those of an encoding in which line ends are more than one byte, as UTF-8."""
    if encoding in (*WESTERN, "utf-8", "utf-8-sig"):
        while chunk := file.read(size):
            yield chunk
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    begun = False
    while True:
        raw = file.read(size)
        try:
            text = decoder.decode(raw, final=not raw)
        except UnicodeError:
            yield b"\xff"  # is not UTF-8: the whole file is read again, and the line named
            return
        yield (text if begun else text.removeprefix("\ufeff")).encode()
        begun = begun or bool(text)
        if not raw:
            return


def _record_blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Put chunks together so that each block ends with a record; the first has a row below the header."""
    rest, first = b"", True
    for chunk in chunks:
        rest += chunk
        end = _end_of_records(rest)
        if end and not (first and len(layout.first_records(rest[:end], 2)) == end):
            yield rest[:end]
            rest, first = rest[end:], False
    if rest.strip(b"\r\n") or (first and rest):
        yield rest


def _end_of_records(data: bytes) -> int:
    """Where the last record ends that is followed by another and is not an empty line; 0 if there is none.

    An empty line can be a missing value of a table with one column, but not at the end of a file.
    """
    end = data.rfind(b"\n") + 1
    odd = data.count(b'"', 0, end) % 2
    while end:
        before = data.rfind(b"\n", 0, end - 1) + 1
        if not odd and data[before:end].strip(b"\r\n"):
            return end
        odd ^= data.count(b'"', before, end) % 2
        end = before
    return 0


def _header_of(block: bytes) -> bytes:
    text, _, _ = layout.without_separator_line(block.removeprefix(codecs.BOM_UTF8), given=None, source="")
    header = layout.first_records(text, 1).lstrip(b"\r\n")
    return header if header.endswith(b"\n") else header + b"\n"


def _used(separator: str, frame: pl.DataFrame) -> str:
    return layout.ONE_COLUMN if frame.width == 1 else separator
