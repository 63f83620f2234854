"""A table as its reader sees it: each cell covers positions of a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.kernels.arrays import Counts, Floats
from kohorte.recoding import Cells, Line, Recoding

COUNT = "rows"


@dataclass(frozen=True, eq=False)
class Shown:
    """Row `r` shows in attribute `a` the cell `kinds[a][r]`, positions `lows[a]` to `highs[a]` of its line."""

    kinds: tuple[Counts, ...] = field(repr=False)
    lows: tuple[Counts, ...] = field(repr=False)
    highs: tuple[Counts, ...] = field(repr=False)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.kinds[0])

    @cached_property
    def _classes(self) -> pl.DataFrame:
        """The rows that show the same in all attributes, counted."""
        frame = pl.DataFrame({str(axis): kinds for axis, kinds in enumerate(self.kinds)})
        return frame.group_by(pl.all(), maintain_order=True).len(COUNT)

    def counted(self, attributes: Sequence[int]) -> tuple[list[Counts], Floats]:
        """The distinct combinations of cells in these attributes, and the number of rows of each."""
        names = [str(axis) for axis in attributes]
        counted = self._classes.group_by(names, maintain_order=True).agg(pl.col(COUNT).sum())
        return [counted[name].to_numpy() for name in names], counted[COUNT].to_numpy().astype(np.float64)


def original(lines: Sequence[Line]) -> Shown:
    """The original rows: every cell is one position."""
    positions = tuple(np.arange(line.length, dtype=np.int64) for line in lines)
    return Shown(tuple(line.positions[line.column.codes].astype(np.int64) for line in lines), positions, positions)


def shown(recoding: Recoding) -> Shown:
    """A recoded table: the cells of a suppressed row cover the whole line."""
    return Shown(
        tuple(_kinds(cells, recoding) for cells in recoding.columns),
        tuple(np.append(cells.lows, 0).astype(np.int64) for cells in recoding.columns),
        tuple(np.append(cells.highs, cells.line.length - 1).astype(np.int64) for cells in recoding.columns),
    )


def _kinds(cells: Cells, recoding: Recoding) -> Counts:
    kinds: Counts = np.where(recoding.kept, cells.kinds, len(cells.labels)).astype(np.int64)
    return kinds
