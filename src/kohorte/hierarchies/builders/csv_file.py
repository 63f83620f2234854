"""Hierarchies from files in the format of ARX: `value;level 1;...;*`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchies.builder import Builder, Labels, Options
from kohorte.hierarchies.files import file_name, read_text
from kohorte.hierarchies.hierarchy import Hierarchy
from kohorte.hierarchies.options import character, refuse_unknown

SEPARATORS = (";", ",", "\t", "|")


@dataclass(frozen=True)
class CsvFile(Builder):
    """All rows of the file, also for values that the data lack; an empty first field is for missing values.

    `path` stays as written; a relative path refers to `folder`, which is ignored when builders are compared.
    """

    name: ClassVar[str] = "csv"

    path: str
    separator: str = ";"
    folder: Path = field(default=Path(), compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", file_name(self.path, option="csv: path"))
        if self.separator != "\t":
            character(self.separator, option="csv: separator")
        if self.separator == '"':
            raise InputError("csv: separator must not be the quotation mark", code="hierarchy-option-invalid")

    @property
    def independent(self) -> bool:
        """True: the values come from the plan, not from the data."""
        return True

    def files(self) -> tuple[Path, ...]:
        """The file of the hierarchy, if it has one."""
        return (self.folder / self.path,)

    def fixed(self, hierarchy: Hierarchy) -> Hierarchy:
        """The hierarchy itself, in case the file changes; it contains all known values."""
        return hierarchy

    def label(self, values: Sequence[str], *, attribute: str) -> Labels:
        """The labels of the file, which decides; the values only tell whether its separator is another one."""
        text = read_text(self.path, folder=self.folder)
        table = _simple_table(text, self.separator)
        if table is None:
            table = self._table(text, attribute=attribute)
        if table.width == 1:
            self._refuse_other_separator(table.to_series(), values, attribute=attribute)
        return Labels(table)

    def _refuse_other_separator(self, lines: pl.Series, values: Sequence[str], *, attribute: str) -> None:
        """Refuse a file whose lines are no values, while their first parts are, if another separator divides them."""
        known = pl.Series(values, dtype=pl.String)
        if known.is_in(lines.implode()).any():
            return
        for separator in SEPARATORS:
            firsts = lines.str.splitn(separator, 2).struct.field("field_0")
            if separator != self.separator and known.is_in(firsts.implode()).any():
                raise InputError(
                    f"{attribute}: the fields of the hierarchy file {self.path} seem to be separated by "
                    f"{separator!r}; name this separator in the plan",
                    code="hierarchy-file-separator",
                )

    def _table(self, text: str, *, attribute: str) -> pl.DataFrame:
        rows = list(self._rows(text, attribute=attribute))
        if not rows:
            raise InputError(f"{attribute}: the hierarchy file {self.path} is empty", code="hierarchy-file-empty")
        columns = {str(level): column for level, column in enumerate(zip(*rows, strict=True))}
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

    def _rows(self, text: str, *, attribute: str) -> Iterator[list[str]]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.separator, strict=True)
        width = 0
        try:
            for row in filter(None, reader):
                width = width or len(row)
                if len(row) != width:
                    self._refuse_ragged(reader.line_num, len(row), width, attribute=attribute)
                yield row
        except csv.Error:
            raise InputError(
                f"{attribute}: the hierarchy file {self.path} is not valid CSV at line {reader.line_num}",
                code="hierarchy-file-malformed",
            ) from None

    def _refuse_ragged(self, line: int, fields: int, width: int, *, attribute: str) -> None:
        raise InputError(
            f"{attribute}: line {line} of the hierarchy file {self.path} has {fields} fields, "
            f"the first line has {width}",
            code="hierarchy-file-ragged",
        )

    def to_dict(self) -> Options:
        """The path alone, or all options that differ from their defaults."""
        options = super().to_dict()
        return self.path if options == {"path": self.path} else options

    @classmethod
    def from_dict(cls, options: Options, *, folder: Path) -> Self:
        """From `country.csv` or `{path: country.csv, separator: ","}`."""
        if isinstance(options, str):
            return cls(options, folder=folder)
        if not isinstance(options, Mapping) or "path" not in options:
            raise InputError(
                "csv: write the name of a file, or {path: ..., separator: ...}",
                code="hierarchy-option-missing",
            )
        refuse_unknown(options, tuple(cls._options()), where=cls.name)
        settings: dict[str, Any] = dict(options)
        return cls(**settings, folder=folder)


def _simple_table(text: str, separator: str) -> pl.DataFrame | None:
    """The table of a file without quotes, read fast; None if the file has quotes or is malformed."""
    lines = pl.Series(text.replace("\r\n", "\n").split("\n"), dtype=pl.String)
    lines = lines.filter(lines != "")
    separators = lines.str.count_matches(separator, literal=True)
    if '"' in text or lines.str.contains("\r", literal=True).any() or separators.n_unique() != 1:
        return None
    return lines.str.split_exact(separator, int(separators[0])).struct.unnest()
