"""Hierarchies written out in the plan itself: `[value, level 1, ...]` for every value."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchies.builder import Builder, Labels, Options
from kohorte.hierarchies.hierarchy import Hierarchy
from kohorte.hierarchies.options import listed

MOST_FIELDS = 1_000


@dataclass(frozen=True)
class Rows(Builder):
    """All rows of the plan, also for values that the data lack; an empty first field is for missing values."""

    name: ClassVar[str] = "rows"

    rows: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        rows = tuple(_fields(row, number) for number, row in enumerate(listed(self.rows, option="rows"), start=1))
        object.__setattr__(self, "rows", rows)
        if rows and len(rows[0]) > MOST_FIELDS:
            raise InputError(f"rows: at most {MOST_FIELDS} fields, one for each level", code="hierarchy-ragged-levels")
        for number, row in enumerate(rows, start=1):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"rows: row {number} has {len(row)} fields, the first row has {len(rows[0])}",
                    code="hierarchy-ragged-levels",
                )

    @property
    def independent(self) -> bool:
        """True: the values come from the plan, not from the data."""
        return True

    def fixed(self, hierarchy: Hierarchy) -> Hierarchy:
        """The hierarchy itself; it contains all known values."""
        return hierarchy

    def label(self, values: Sequence[str], *, attribute: str) -> Labels:  # noqa: ARG002 - the plan decides
        """The labels of the plan."""
        columns = {str(level): column for level, column in enumerate(zip(*self.rows, strict=True))}
        try:
            return Labels(pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)))
        except UnicodeError:
            raise InputError(f"{attribute}: rows: some text is not valid Unicode", code="hierarchy-not-text") from None

    def to_dict(self) -> Options:
        """The rows themselves."""
        return [list(row) for row in self.rows]

    @classmethod
    def from_dict(cls, options: Options, *, folder: Path) -> Self:  # noqa: ARG003 - there is no file
        """From `[[value, level 1, ...], ...]`."""
        if not isinstance(options, Sequence) or isinstance(options, str):
            raise InputError("rows: write a list of rows, each [value, level 1, ...]", code="hierarchy-option-invalid")
        rows: Any = options
        return cls(rows)

    @classmethod
    def from_csv(cls, text: str, *, separator: str = ";") -> Self:
        """From text in the format of ARX: `value;level 1;...;*`, one line per value, no header."""
        return cls(csv_rows(text, separator=separator))


def csv_rows(text: str, *, separator: str = ";") -> list[list[str]]:
    """The rows of a text in the format of ARX, also if their lengths differ."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return list(filter(None, reader))
    except csv.Error:
        raise InputError(
            f"the hierarchy is not valid CSV at line {reader.line_num}", code="hierarchy-file-malformed"
        ) from None


def _fields(row: object, number: int) -> tuple[str, ...]:
    fields = listed(row, option=f"rows: row {number}")
    if any(isinstance(field, bool) or not isinstance(field, str | int) for field in fields):
        raise InputError(
            f"rows: row {number}: values and labels must be text; write words such as no, dates and decimals in quotes",
            code="hierarchy-option-invalid",
        )
    return tuple(str(field) for field in fields)
