"""A table as its reader sees it: each cell covers positions of a line, all between its ends or those that it lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.kernels.arrays import Bools, Counts, Floats
from kohorte.recoding import Cells, Line, Recoding
from kohorte.recoding.least_loss import SetCells

COUNT = "rows"


@dataclass(frozen=True, eq=False)
class Listed:
    """Cells that are sets: cell `kinds[i]` lists position `positions[i]`, and `sizes[kind]` positions in all."""

    kinds: Counts = field(repr=False)
    positions: Counts = field(repr=False)
    sizes: Counts = field(repr=False)

    @classmethod
    def of(cls, cells: SetCells, lows: Counts, highs: Counts) -> Listed:
        """The positions of each cell; one that lists nothing, such as `*`, stands for all from its low to its high."""
        kinds, positions = cells.covered // cells.line.length, cells.covered % cells.line.length
        others = np.setdiff1d(np.arange(len(lows)), kinds)
        spans = [np.arange(lows[kind], highs[kind] + 1) for kind in others.tolist()]
        kinds = np.concatenate([kinds, np.repeat(others, [len(span) for span in spans])])
        return cls(kinds, np.concatenate([positions, *spans]), np.bincount(kinds, minlength=len(lows)))

    def inside(self, mask: Bools) -> Floats:
        """The share of each cell's positions that a mask covers."""
        shares: Floats = np.bincount(self.kinds, weights=mask[self.positions], minlength=len(self.sizes)) / self.sizes
        return shares

    def by_group(self, group_of: Counts, groups: int) -> Floats:
        """The share of each cell's positions in each group of positions; one row for each cell."""
        found = np.bincount(self.kinds * groups + group_of[self.positions], minlength=len(self.sizes) * groups)
        shares: Floats = found.reshape(len(self.sizes), groups) / self.sizes[:, None]
        return shares


@dataclass(frozen=True, eq=False)
class Shown:
    """Row `r` shows in attribute `a` the cell `kinds[a][r]`, positions `lows[a]` to `highs[a]` of its line.

    If the cells of the attribute are sets, `listed[a]` says which of these positions each of them lists.
    """

    kinds: tuple[Counts, ...] = field(repr=False)
    lows: tuple[Counts, ...] = field(repr=False)
    highs: tuple[Counts, ...] = field(repr=False)
    listed: tuple[Listed | None, ...] = field(repr=False)

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
    kinds = tuple(line.positions[line.column.codes].astype(np.int64) for line in lines)
    return Shown(kinds, positions, positions, (None,) * len(lines))


def shown(recoding: Recoding) -> Shown:
    """A recoded table: the cells of a suppressed row cover the whole line."""
    lows = tuple(np.append(cells.lows, 0).astype(np.int64) for cells in recoding.columns)
    highs = tuple(np.append(cells.highs, cells.line.length - 1).astype(np.int64) for cells in recoding.columns)
    listed = tuple(
        Listed.of(cells, low, high) if isinstance(cells, SetCells) else None
        for cells, low, high in zip(recoding.columns, lows, highs, strict=True)
    )
    return Shown(tuple(_kinds(cells, recoding) for cells in recoding.columns), lows, highs, listed)


def _kinds(cells: Cells, recoding: Recoding) -> Counts:
    kinds: Counts = np.where(recoding.kept, cells.kinds, len(cells.labels)).astype(np.int64)
    return kinds
