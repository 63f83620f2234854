"""The engine for a table that fits into the memory of one machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from kohorte.engines.encoding import EncodedTable
from kohorte.engines.history import History, Snapshot
from kohorte.groups import Groups, Histogram
from kohorte.hierarchy import SUPPRESSED
from kohorte.kernels import Grouper, Rows
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node


class LocalEngine:
    """Groups the rows of an encoded table at any node, from the nearest finer node that it remembers.

    A sensitive attribute is one more column of two levels, its value and `*`. Rows are merged with their sensitive
    values; at a node, first into cells (class and sensitive values), from which coarser nodes are rolled up, then
    into classes.
    """

    def __init__(self, table: EncodedTable) -> None:
        self._table = table
        self._excluded = int((~table.included).sum())
        maps = [list(column.maps) for column in table.columns]
        for column in table.sensitive:
            values = np.arange(len(column.overall), dtype=np.uint32)
            maps.append([values, np.zeros_like(values)])
        self._grouper = Grouper(maps)
        all_codes = [column.codes for column in table.columns] + [column.codes for column in table.sensitive]
        codes = np.stack([codes[table.included] for codes in all_codes], axis=1)
        rows = self._grouper.pack(codes)
        ones = np.ones(len(rows), dtype=np.int64)
        bottom = (0,) * len(table.columns)
        self._row_ids, first, sizes = self._grouper.group(rows, ones, self._levels(bottom, starred=False), True)
        self._base = Snapshot(bottom, rows, first, sizes)
        self._history = History(self._base)

    @property
    def distinct_rows(self) -> int:
        """How many rows are left when identical ones are merged."""
        return len(self._base)

    @property
    def rolled_up(self) -> int:
        """How many nodes were built from a finer node instead of the table itself."""
        return self._history.hits

    def groups(self, node: Node) -> Groups:
        """Return the classes of the table at a node."""
        source = self._history.source(node)
        levels = self._levels(node, starred=False)
        _, first, sizes = self._grouper.group(source.rows, source.sizes, levels, False)
        cells = Snapshot(node, source.rows, first, sizes)
        self._history.keep(cells, source)
        return self._merge(cells)[1] if self._table.sensitive else self._groups(node, source.rows, first, sizes)

    def classes(self, node: Node) -> tuple[Codes, Groups]:
        """Return the class of every included row at a node, and the classes."""
        levels = self._levels(node, starred=False)
        cell_of, first, sizes = self._grouper.group(self._base.rows, self._base.sizes, levels, True)
        class_of, groups = self._merge(Snapshot(node, self._base.rows, first, sizes))
        return class_of[cell_of][self._row_ids], groups

    def _merge(self, cells: Snapshot) -> tuple[Codes, Groups]:
        """Merge the cells of a node into classes: the class of each cell, and the classes with their histograms."""
        levels = self._levels(cells.node, starred=True)
        class_of, first, sizes = self._grouper.group(cells.rows, cells.sizes, levels, True)
        histograms = {
            column.name: self._histogram(cells, class_of, index) for index, column in enumerate(self._table.sensitive)
        }
        groups = self._groups(cells.node, cells.rows, first, sizes)
        return class_of, replace(groups, histograms=histograms)

    def _histogram(self, cells: Snapshot, class_of: Codes, index: int) -> Histogram:
        """Count the values of one sensitive attribute in each class."""
        place = len(self._table.columns) + index
        levels = self._levels(cells.node, starred=True)
        levels[place] = 0
        _, first, counts = self._grouper.group(cells.rows, cells.sizes, levels, False)
        values = self._grouper.unpack(cells.rows.take(first))[:, place]
        return Histogram(class_of[first], values, counts, self._table.sensitive[index].overall)

    def _levels(self, node: Node, *, starred: bool) -> Codes:
        """The levels of all columns: those of the node, and every sensitive value as it is or starred."""
        return np.array((*node, *(int(starred) for _ in self._table.sensitive)), dtype=np.uint32)

    def _groups(self, node: Node, rows: Rows, first: Codes, sizes: Counts) -> Groups:
        def codes(which: Bools) -> Codes:
            unpacked: Codes = self._grouper.unpack(rows.take(first[which]))
            return unpacked[:, : len(node)]

        return Groups(node, sizes, codes, excluded=self._excluded)

    def apply(self, frame: pl.DataFrame, node: Node, kept: Bools) -> pl.DataFrame:
        """Return the quasi-identifiers generalized to a node, with all rows that are not kept suppressed.

        A column at level 0 of which nothing is suppressed stays as it came, type included.
        """
        nothing_suppressed = bool(kept.all())
        columns = []
        for column, level in zip(self._table.columns, node, strict=True):
            if level == 0 and nothing_suppressed:
                columns.append(frame[column.name])
                continue
            shown = column.generalized(level)
            if not nothing_suppressed:
                shown = shown.zip_with(pl.Series(kept), pl.Series([SUPPRESSED]).new_from_index(0, len(shown)))
            columns.append(shown.alias(column.name))
        return pl.DataFrame(columns)
