"""The protocol of a source of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np
import polars as pl

from kohorte.data import FormulaCells, Formulas
from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools, Codes, Counts

COUNT = "\0count"
"""The column of `count_shown` that counts rows; no table has a column of this name."""


@dataclass(frozen=True, eq=False)
class Tuples:
    """The distinct tuples of some columns, and how many rows have each.

    `values[c]` are the distinct texts of column `c`, sorted. `codes[t, c]` is the index of a tuple's value among them;
    for a missing value it is their number. The codes of a column lie together in memory. The tuples are in a fixed
    order: by first row in a frame, by value in DuckDB.
    """

    columns: tuple[str, ...]
    values: tuple[pl.Series, ...] = field(repr=False)
    codes: Codes = field(repr=False)
    counts: Counts = field(repr=False)
    merged: bool = True  # no tuple occurs twice

    def absent(self, name: str) -> Bools:
        """Tell for each tuple whether its value in a column is missing."""
        column = self.columns.index(name)
        absent: Bools = self.codes[:, column] == len(self.values[column])
        return absent

    def coded(self, name: str) -> tuple[Codes, int]:
        """The code of each tuple in a column, and the number of its values, which is the code of a missing one."""
        column = self.columns.index(name)
        return np.ascontiguousarray(self.codes[:, column]), len(self.values[column])

    def text(self, name: str) -> pl.Series:
        """The value of each tuple in a column."""
        column = self.columns.index(name)
        return pl.concat([self.values[column], pl.Series([None], dtype=pl.String)]).gather(self.codes[:, column])


@dataclass(frozen=True)
class Written:
    """A table that was written and read again, the hash of its file, and the cells that have an apostrophe in it."""

    table: TableSource = field(repr=False)
    sha256: str
    quoted: FormulaCells = field(default_factory=FormulaCells)


class TableSource(Protocol):
    """A table that returns counts instead of rows, and writes its own release.

    A source is never changed. Values are identified by their text (`as_text`); missing values are null.
    """

    name: ClassVar[str]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    def without_marks(self, marks: Sequence[str]) -> TableSource:
        """Return the table in which cells with one of these texts are missing."""

    def distinct(self, columns: Sequence[str]) -> Tuples:
        """Return the distinct tuples of these columns, with their counts."""

    def count_shown(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return the distinct tuples of these columns as text, with their counts in the column `COUNT`.

        The verification uses it: it does not use the kernels of `distinct` and of the engines.
        """

    def where(self, tuples: Tuples, selected: Bools) -> str:
        """Say in words how many rows have the selected tuples and, if rows are numbered, name the first ones."""

    def in_memory(self, purpose: str) -> pl.DataFrame:
        """Return the rows for a purpose that needs single rows; a source may refuse."""

    def released(
        self, tuples: Tuples, shown: pl.DataFrame, *, without: Sequence[str] = (), shuffled: bool
    ) -> TableSource:
        """Return the table with the columns of `shown` instead of its own; row `t` of `shown` replaces tuple `t`.

        Other columns are unchanged, except those in `without`, which are removed. If `shuffled`, the rows are in a
        random order that cannot be reproduced.
        """

    def write(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> None:
        """Write the table to `target`, in the format given by the file name `output`; `formulas` is for CSV files."""

    def reread(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> Written:
        """Read the table that `write` has written, without the apostrophes that it put before formulas."""


class OutsideSource:
    """What all tables share whose rows do not come into memory."""

    place: ClassVar[str]
    """Where the rows are, in words: DuckDB, PostgreSQL, Spark."""

    columns: tuple[str, ...]

    def where(self, tuples: Tuples, selected: Bools) -> str:
        """Say how many rows have the selected tuples."""
        count = int(tuples.counts[selected].sum())
        return f"{count:,} row{'' if count == 1 else 's'}"

    def in_memory(self, purpose: str) -> pl.DataFrame:
        """Refuse, because the rows stay where they are."""
        raise InputError(
            f"{purpose} works row by row, which a table in {self.place} does not support; read the file instead",
            code="source-row-by-row",
        )


def spread(counted: pl.DataFrame, name: str) -> pl.Series:
    """The texts of one column of counted tuples, one per row."""
    return counted[name].gather(np.repeat(np.arange(counted.height), counted[COUNT].to_numpy()))
