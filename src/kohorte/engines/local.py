"""The engine for a table that fits into the memory of one machine."""

from __future__ import annotations

import numpy as np
import polars as pl

from kohorte.engines.encoding import EncodedTable
from kohorte.engines.history import History, Snapshot
from kohorte.errors import InternalError
from kohorte.groups import Groups
from kohorte.hierarchy import SUPPRESSED
from kohorte.kernels import Grouper
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node


class LocalEngine:
    """Groups the rows of an encoded table at any node, from the nearest finer node that it remembers."""

    def __init__(self, table: EncodedTable) -> None:
        codes = np.ascontiguousarray(np.stack([column.codes for column in table.columns], axis=1))
        for column in table.columns:
            if len(column.codes) and int(column.codes.max()) >= len(column.maps[0]):
                raise InternalError(f"column {column.name!r} has codes without a map", code="encoding-broken")
        self._table = table
        self._grouper = Grouper([list(column.maps) for column in table.columns])
        rows = codes[table.included] if not table.included.all() else codes
        bottom = (0,) * len(table.columns)
        ones = np.ones(len(rows), dtype=np.int64)
        self._row_ids, first, sizes = self._grouper.group(rows, ones, _levels(bottom))
        self._base = Snapshot(rows[first], sizes)
        self._history = History(bottom, self._base)
        self.rolled_up = 0

    @property
    def distinct_rows(self) -> int:
        """How many rows are left when identical ones are merged."""
        return len(self._base.sizes)

    def groups(self, node: Node) -> Groups:
        """Return the classes of the table at a node."""
        source, rolled_up = self._history.source(node)
        self.rolled_up += rolled_up
        _, first, sizes = self._grouper.group(source.codes, source.sizes, _levels(node))
        snapshot = Snapshot(source.codes[first], sizes)
        self._history.keep(node, snapshot, source)
        return self._groups(node, snapshot.codes, sizes)

    def classes(self, node: Node) -> tuple[Codes, Groups]:
        """Return the class of every included row at a node, and the classes."""
        ids, first, sizes = self._grouper.group(self._base.codes, self._base.sizes, _levels(node))
        return ids[self._row_ids], self._groups(node, self._base.codes[first], sizes)

    def _groups(self, node: Node, codes: Codes, sizes: Counts) -> Groups:
        return Groups(node, sizes, codes, excluded=int((~self._table.included).sum()))

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


def _levels(node: Node) -> Codes:
    return np.array(node, dtype=np.uint32)
