"""The distinct texts of columns, counted for many columns at a time: a table can have thousands of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.data.text import as_text
from kohorte.kernels.arrays import Counts

STAR = "*"
COLUMN, VALUE, COUNT = "column", "value", "count"
MOST_CELLS = 2_000_000
"""So many cells are counted at a time, which limits the memory; our own choice."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct texts of a column, without missing and suppressed cells, and how many rows have each."""

    values: pl.Series = field(repr=False)
    counts: pl.Series = field(repr=False)

    @classmethod
    def of(cls, text: pl.Series) -> Cells:
        """Count the texts of a column."""
        return CellTable.of([text])[0]

    @property
    def rows(self) -> int:
        """The number of rows that are neither missing nor suppressed."""
        return int(self.counts.sum())

    def with_hit(self, hits: pl.Series) -> int:
        """The number of rows that have one of the matching values."""
        return int(self.counts.filter(hits).sum())


@dataclass(frozen=True, eq=False)
class CellTable:
    """The distinct texts of several columns, without missing and suppressed cells.

    `table` has the number of the column, the text, and how many rows have it, in the order of the columns and of the
    first rows that have a text. `stars` is the number of suppressed cells of each column.
    """

    names: tuple[str, ...]
    table: pl.DataFrame = field(repr=False)
    stars: Counts = field(repr=False)

    @classmethod
    def of(cls, texts: Sequence[pl.Series]) -> CellTable:
        """Count the texts of columns; an empty text is missing."""
        numbers = np.repeat(np.arange(len(texts), dtype=np.uint32), [len(text) for text in texts])
        values = pl.concat([text.alias(VALUE) for text in texts])
        cells = pl.DataFrame([pl.Series(COLUMN, numbers), values]).filter(pl.col(VALUE) != "")
        groups = cells.group_by(COLUMN, VALUE, maintain_order=True)  # far faster than sorting the texts afterwards
        counted = groups.len(name=COUNT).with_columns(pl.col(COUNT).cast(pl.Int64))
        return cls._of_counts(tuple(text.name for text in texts), counted)

    @classmethod
    def counted(cls, columns: Mapping[str, tuple[pl.Series, pl.Series]]) -> CellTable:
        """Columns of which the different texts are counted already: the texts and the counts of each."""
        parts = [
            pl.DataFrame([values.alias(VALUE), counts.alias(COUNT).cast(pl.Int64)]).select(
                pl.lit(number, pl.UInt32).alias(COLUMN), VALUE, COUNT
            )
            for number, (values, counts) in enumerate(columns.values())
        ]
        return cls._of_counts(tuple(columns), pl.concat(parts).filter(pl.col(VALUE) != ""))

    @classmethod
    def _of_counts(cls, names: tuple[str, ...], counted: pl.DataFrame) -> CellTable:
        starred = counted.filter(pl.col(VALUE) == STAR)
        stars = np.zeros(len(names), dtype=np.int64)
        stars[starred[COLUMN].to_numpy()] = starred[COUNT].to_numpy()
        return cls(names, counted.filter(pl.col(VALUE) != STAR), stars)

    @classmethod
    def of_distinct(cls, text: pl.Series) -> CellTable:
        """The texts of one column, each of which is there once."""
        table = pl.DataFrame([text.alias(VALUE)]).filter(~pl.col(VALUE).is_in(["", STAR]))
        counted = table.select(pl.lit(0, pl.UInt32).alias(COLUMN), VALUE, pl.lit(1, pl.Int64).alias(COUNT))
        return cls((text.name,), counted, np.array([int((text == STAR).sum())], dtype=np.int64))

    def __getitem__(self, column: int) -> Cells:
        """The cells of one column."""
        start, end = self._starts[column], self._starts[column + 1]
        part = self.table.slice(start, end - start)
        return Cells(part[VALUE].alias("values"), part[COUNT].alias("counts"))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _starts(self) -> list[int]:
        starts: list[int] = np.searchsorted(self.table[COLUMN].to_numpy(), np.arange(len(self.names) + 1)).tolist()
        return starts

    @cached_property
    def distinct(self) -> Counts:
        """The number of distinct texts of each column."""
        return np.diff(self._starts).astype(np.int64)

    @cached_property
    def rows(self) -> Counts:
        """The number of rows of each column that are neither missing nor suppressed."""
        counts = np.append(0, np.cumsum(self.table[COUNT].to_numpy()))
        rows: Counts = counts[self._starts[1:]] - counts[self._starts[:-1]]
        return rows


def cell_tables(frame: pl.DataFrame) -> Iterator[CellTable]:
    """Count the texts of all columns of a frame, some columns at a time."""
    columns = frame.get_columns()
    together = max(1, MOST_CELLS // max(1, frame.height))
    for start in range(0, len(columns), together):
        part = columns[start : start + together]
        yield CellTable.of([text if text.dtype == pl.String else as_text(text) for text in part])
