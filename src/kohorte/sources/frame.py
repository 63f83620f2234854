"""A table in the memory of one machine: a polars frame, or a file that was read into one."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from kohorte.data import Formulas, as_text, categories_as_text, fill_table, parse_table, without_marks, without_quotes
from kohorte.data.columns import is_coded
from kohorte.kernels import Grouper
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.sources.base import COUNT, Tuples, Written

SHOWN_ROWS = 10
"""The largest number of rows that an error message lists."""

SAMPLE, FEW_VALUES = 20_000, 2_000
"""A sample of so many rows most likely has all values of a column if it has only so few; if not, nothing but time is
lost. Measured once with 1,000,000 rows and nine columns: numbering all values took 177 instead of 225 ms of CPU."""


class FrameSource:
    """The rows of a frame; identical tuples are merged, unless `merged` is False.

    `counts` is given if each row of the frame stands for several rows of a table. Columns that repeat few texts may be
    coded (`is_coded`); `in_memory` returns texts.
    """

    name: ClassVar[str] = "frame"

    def __init__(self, frame: pl.DataFrame, *, merged: bool = True, counts: Counts | None = None) -> None:
        self._frame = frame
        self._merged = merged
        self._counts = counts
        self._tuple_of_row: dict[tuple[str, ...], Codes] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._frame.columns)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._frame.height if self._counts is None else int(self._counts.sum())

    @property
    def weights(self) -> Counts:
        """How many rows of the table each row of the frame stands for."""
        return np.ones(self._frame.height, dtype=np.int64) if self._counts is None else self._counts

    def without_marks(self, marks: Sequence[str]) -> FrameSource:
        """Return the table in which cells with one of these texts are missing."""
        if not marks:
            return self
        return FrameSource(without_marks(self._frame, marks), merged=self._merged, counts=self._counts)

    def distinct(self, columns: Sequence[str]) -> Tuples:
        """Return the distinct tuples of these columns, with their counts."""
        names, values = tuple(columns), []
        codes: Codes = np.empty((len(names), self._frame.height), dtype=np.uint32)
        for own, name in zip(codes, names, strict=True):
            distinct, own[:] = numbered(self._frame[name])
            values.append(distinct)
        weights = self.weights
        if not self._merged:
            return Tuples(names, tuple(values), codes.T, weights, merged=False)
        grouper = Grouper([[np.arange(len(own) + 1, dtype=np.uint32)] for own in values])
        levels = np.zeros(len(names), dtype=np.uint32)
        of_row, first, counts = grouper.group(grouper.pack(codes.T), weights, levels, True)
        self._tuple_of_row[names] = of_row
        if len(first) < len(of_row):  # otherwise no two rows are the same
            codes = codes.take(first, axis=1)
        return Tuples(names, tuple(values), codes.T, counts)

    def count_shown(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return the distinct tuples of these columns as text, with their counts."""
        shown = (self._frame[name] for name in columns)
        cells = pl.DataFrame([column if is_coded(column) else as_text(column) for column in shown])
        if self._counts is None:
            return categories_as_text(cells.group_by(pl.all(), maintain_order=True).len(name=COUNT))
        counted = cells.with_columns(pl.Series(COUNT, self._counts)).group_by(cells.columns, maintain_order=True)
        return categories_as_text(counted.agg(pl.col(COUNT).sum()))

    def where(self, tuples: Tuples, selected: Bools) -> str:
        """Say how many rows have the selected tuples, and name the first ones."""
        of_row = self._tuple_of_row.get(tuples.columns)
        return which_rows(pl.Series(selected if of_row is None else selected[of_row]))

    @property
    def cells(self) -> pl.DataFrame:
        """The frame as it is, with coded columns."""
        return self._frame

    def in_memory(self, purpose: str) -> pl.DataFrame:
        """Return the frame, with texts."""
        del purpose
        return categories_as_text(self._frame)

    def released(
        self, tuples: Tuples, shown: pl.DataFrame, *, without: Sequence[str] = (), shuffled: bool
    ) -> FrameSource:
        """Return the frame with the columns of `shown` instead of its own."""
        of_row: Codes | Counts | None = self._tuple_of_row.get(tuples.columns)
        order = None
        data = self._frame.drop(without, strict=False)
        if shuffled:
            order = np.random.Generator(np.random.PCG64(secrets.randbits(128))).permutation(data.height)
            of_row = order if of_row is None else of_row[order]
        kept = data.drop(shown.columns)
        if order is not None and kept.width:
            kept = kept[order]
        replaced = shown if of_row is None or not shown.width else shown[of_row]
        return FrameSource(kept.hstack(replaced).select(data.columns))

    def write(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> None:
        """Write the frame as CSV or Parquet."""
        fill_table(self._frame, target, output, separator=separator, formulas=formulas)

    def reread(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> Written:
        """Read the file into a new frame."""
        coded = [column.name for column in self._frame.iter_columns() if is_coded(column)]
        read = parse_table(target.read_bytes(), output, separator=separator, coded=coded)
        file, cells = without_quotes(read, formulas)
        return Written(FrameSource(file.frame), file.sha256, cells)


def numbered(column: pl.Series) -> tuple[pl.Series, Codes]:
    """Return the distinct values of a column in their order, and the number of each row's value; missing is last.

    The values of a sample are most often all there are, which saves the search for distinct values in all rows.
    """
    if is_coded(column):
        return _renumbered(column)
    text = as_text(column)
    values = text.gather_every(max(1, len(text) // SAMPLE)).drop_nulls().unique().sort()
    if len(values) > FEW_VALUES:
        values = text.drop_nulls().unique().sort()
    codes = _codes(text, values)
    others = np.flatnonzero(codes == len(values))
    rest = text.gather(others)
    if rest.null_count() < len(rest):
        known, values = values, pl.concat([values, rest.drop_nulls().unique()]).sort()
        codes = np.append(_codes(known, values), np.uint32(0))[codes]
        codes[others] = _codes(rest, values)
    return values, codes


def _renumbered(column: pl.Series) -> tuple[pl.Series, Codes]:
    """The same for a coded column, whose numbers are in the order of reading."""
    used = column.drop_nulls().unique()
    order = used.cast(pl.String).arg_sort()
    numbers = used.to_physical().cast(pl.UInt32).gather(order).to_numpy()
    beyond = int(numbers.max(initial=0)) + 1
    new = np.full(beyond + 1, len(used), dtype=np.uint32)
    new[numbers] = np.arange(len(used))
    return used.cast(pl.String).gather(order), new[column.to_physical().cast(pl.UInt32).fill_null(beyond).to_numpy()]


def _codes(text: pl.Series, values: pl.Series) -> Codes:
    """The positions of texts among values; one beyond the last where a text is missing or not among them."""
    numbers = text.cast(pl.Enum(values), strict=False).to_physical().cast(pl.UInt32)
    return numbers.fill_null(len(values)).to_numpy()


def which_rows(selected: pl.Series) -> str:
    """Say how many rows are selected and name the first ones; row 1 is the first row below the header."""
    numbers = (selected.arg_true() + 1).to_list()
    shown = ", ".join(str(number) for number in numbers[:SHOWN_ROWS])
    more = ", ..." if len(numbers) > SHOWN_ROWS else ""
    return f"{len(numbers):,} row{'' if len(numbers) == 1 else 's'} ({shown}{more})"
