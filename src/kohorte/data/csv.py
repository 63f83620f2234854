"""Read and write CSV files.

Everything is read as text, and an empty field, quoted or not, is missing. A file is read completely and
exactly, or refused with the number of the line; nothing is truncated, padded or guessed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import polars as pl

from kohorte.data import csv_layout as layout
from kohorte.data.columns import categories_as_text, check_rows, check_types, is_coded, missing_as_null
from kohorte.data.csv_encoding import as_utf8
from kohorte.data.formulas import Formulas, quote_formulas
from kohorte.data.text import as_text
from kohorte.errors import InputError
from kohorte.in_words import count
from kohorte.kernels import CsvScan


@dataclass(frozen=True, eq=False)
class CsvTable:
    """A table read from a CSV file; all columns are text. `notes` say in words what was understood about its layout."""

    frame: pl.DataFrame = field(repr=False)
    separator: str
    encoding: str
    newline: str
    notes: tuple[str, ...] = ()


def read_csv(
    data: bytes,
    *,
    source: str,
    separator: str | None = None,
    encoding: str | None = None,
    may_lack_rows: bool = False,
    coded: Collection[str] = (),
) -> CsvTable:
    """Read the bytes of a CSV file whose first line names the columns; `source` is its name in messages.

    Columns in `coded` become numbers of texts while they are read, which needs less memory if values repeat.
    """
    if separator is not None:
        separator = layout.checked_separator(separator)
    text, encoding = as_utf8(data, source=source, encoding=encoding)
    if not text or text.isspace():
        raise InputError(f"{source} is empty", code="csv-empty")
    layout.refuse_lone_returns(text, source=source)
    text, stated, notes = layout.without_separator_line(text, given=separator, source=source)
    separator = separator or stated
    used = separator or layout.detect_separator(text, source=source)
    scan = layout.scan(text, used)
    _refuse_broken(scan, used, source=source)
    if scan.skipped_lines:
        text = layout.without_empty_lines(text, one_column=scan.fields == 1)
    names = layout.checked_header(text, used, source=source)
    frame = _parsed(text, {name: _text_type(name, coded) for name in names}, used, scan, source=source)
    if not may_lack_rows:
        check_rows(frame, source=source)
    newline = "\r\n" if layout.first_records(text, 1).endswith(b"\r\n") else "\n"
    return CsvTable(frame, "," if used == layout.ONE_COLUMN else used, encoding, newline, notes)


def _refuse_broken(scan: CsvScan, separator: str, *, source: str) -> None:
    used = f"separator: {layout.name_of(separator)}"
    if scan.quote_error_line:
        raise InputError(
            f"{source}: the quotes of a field in line {scan.quote_error_line} do not match ({used}); a field "
            "that contains quotes must be in quotes itself, with the inner quotes doubled",
            code="csv-quotes",
        )
    if scan.bad_records:
        raise InputError(
            f"{source}: line {scan.first_bad_line} has {count(scan.first_bad_fields, 'field')}, "
            f"the first line has {scan.fields} ({used}); {scan.bad_records} of "
            f"{count(scan.records - 1, 'row')} differ from the first line; "
            "correct them, or give another separator (--separator)",
            code="csv-ragged",
        )


def _text_type(name: str, coded: Collection[str]) -> pl.DataType:
    return pl.Categorical(pl.Categories.random()) if name in coded else pl.String()


def _parsed(text: bytes, schema: dict[str, pl.DataType], separator: str, scan: CsvScan, *, source: str) -> pl.DataFrame:
    if scan.records == 1:
        return pl.DataFrame(schema=schema)
    header_lines = layout.first_records(text, 1).count(b"\n")
    try:
        frame = pl.read_csv(
            text,
            has_header=False,
            skip_lines=header_lines,
            schema=schema,
            separator=separator,
            null_values="",
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        frame = None
    if frame is None or frame.height != scan.records - 1:
        raise InputError(
            f"{source}: the {count(scan.records - 1, 'row')} could not be read; "
            "please report this, with the layout of the file but without its data",
            code="csv-not-readable",
        )
    return frame


def write_csv(
    frame: pl.DataFrame,
    target: Path | BinaryIO,
    *,
    separator: str = ",",
    encoding: str = "utf-8",
    newline: str = "\n",
    formulas: Formulas = Formulas.AS_IS,
    header: bool = True,
) -> None:
    """Write a table, with quotes only if necessary and an empty field for a missing value.

    In a table of one column a missing value is written as two quotes, because readers skip empty lines.
    Without `header` the rows continue a file. `formulas` says whether cells that a spreadsheet program could run as
    formulas get an apostrophe.
    """
    check_types(frame, source="the table")
    text = missing_as_null(frame.select(_texts(frame)))
    if formulas is Formulas.QUOTE:
        text = quote_formulas(text)
    if text.width == 1:
        text = categories_as_text(text).fill_null("")
    if encoding == "utf-8":
        text.write_csv(target, separator=separator, line_terminator=newline, include_header=header)
        return
    written = _encoded(text.write_csv(separator=separator, line_terminator=newline, include_header=header), encoding)
    if isinstance(target, Path):
        target.write_bytes(written)
    else:
        target.write(written)


def _texts(frame: pl.DataFrame) -> list[pl.Series]:
    columns = frame.iter_columns()
    return [column if column.dtype == pl.String or is_coded(column) else as_text(column) for column in columns]


def _encoded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except LookupError:
        raise InputError(f"the encoding {encoding!r} is not known", code="csv-encoding-unknown") from None
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InputError(
            f"line {line} of the output has characters that {encoding} cannot express; write UTF-8",
            code="csv-not-encodable",
        ) from None
