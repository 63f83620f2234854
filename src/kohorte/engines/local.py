"""The engine for a table that fits into the memory of one machine."""

from __future__ import annotations

import numpy as np
import polars as pl

from kohorte.engines.encoding import EncodedTable
from kohorte.engines.history import History, Snapshot
from kohorte.groups import Groups
from kohorte.hierarchy import SUPPRESSED
from kohorte.kernels import Grouper
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node


class LocalEngine:
    """Groups the rows of an encoded table at any node, from the nearest finer node that it remembers."""

    def __init__(self, table: EncodedTable) -> None:
        self._table = table
        self._excluded = int((~table.included).sum())
        self._grouper = Grouper([list(column.maps) for column in table.columns])
        codes = np.stack([column.codes[table.included] for column in table.columns], axis=1)
        rows = self._grouper.pack(codes)
        ones = np.ones(len(rows), dtype=np.int64)
        bottom = np.zeros(len(table.columns), dtype=np.uint32)
        self._row_ids, first, sizes = self._grouper.group(rows, ones, bottom, True)
        self._base = Snapshot((0,) * len(table.columns), rows, first, sizes)
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
        levels = np.array(node, dtype=np.uint32)
        _, first, sizes = self._grouper.group(source.rows, source.sizes, levels, False)
        self._history.keep(Snapshot(node, source.rows, first, sizes), source)
        return self._groups(node, source, first, sizes)

    def classes(self, node: Node) -> tuple[Codes, Groups]:
        """Return the class of every included row at a node, and the classes."""
        levels = np.array(node, dtype=np.uint32)
        ids, first, sizes = self._grouper.group(self._base.rows, self._base.sizes, levels, True)
        return ids[self._row_ids], self._groups(node, self._base, first, sizes)

    def _groups(self, node: Node, source: Snapshot, first: Codes, sizes: Counts) -> Groups:
        def codes(which: Bools) -> Codes:
            unpacked: Codes = self._grouper.unpack(source.rows.take(first[which]))
            return unpacked

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
