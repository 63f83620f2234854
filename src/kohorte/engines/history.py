"""A bounded memory of grouped nodes, from which coarser nodes are rolled up."""

from __future__ import annotations

import threading

from kohorte.kernels import Rows, Shelf
from kohorte.kernels.arrays import Codes, Counts
from kohorte.lattice import Node

ENTRIES = 128
WORTH_KEEPING = 0.7
"""A node is kept when it has at most this share of the rows of the node that it was rolled up from."""


class Snapshot:
    """The groups of a node as rows: one (packed) row of each group, and the group's size.

    `first` says which of the given rows these are. They are taken out when they are first used; most never are.
    """

    def __init__(self, node: Node, rows: Rows, first: Codes, sizes: Counts) -> None:
        self.node = node
        self.sizes = sizes
        self._rows: tuple[Rows, Codes | None] = rows, first  # one tuple, for threads that use it at the same time

    @property
    def rows(self) -> Rows:
        """One row of each group."""
        rows, first = self._rows
        if first is not None:
            rows = rows.take(first)
            self._rows = rows, None
        return rows

    def __len__(self) -> int:
        return len(self.sizes)


class History:
    """Keeps the snapshots that were used last, and finds the smallest one that a node can be built from."""

    def __init__(self, base: Snapshot) -> None:
        self._base = base
        self._shelf = Shelf(len(base.node), ENTRIES)
        self._snapshots: list[Snapshot] = []
        self.hits = 0
        self._lock = threading.Lock()

    def source(self, node: Node) -> Snapshot:
        """Return the smallest snapshot at or below a node; where none is remembered, the base table."""
        with self._lock:
            place = self._shelf.find(node)
            if place < 0:
                return self._base
            self.hits += 1
            return self._snapshots[place]

    def rows_at_hand(self, node: Node) -> int:
        """How many rows there are to build a node from."""
        with self._lock:
            place = self._shelf.find(node)
            return len(self._base if place < 0 else self._snapshots[place])

    def keep(self, snapshot: Snapshot, source: Snapshot) -> None:
        """Remember a node that is much smaller than what it was made from; forget the one used longest ago."""
        if len(snapshot) > WORTH_KEEPING * len(source):
            return
        with self._lock:
            place = self._shelf.put(snapshot.node, len(snapshot))
            if place < len(self._snapshots):
                self._snapshots[place] = snapshot
            else:
                self._snapshots.append(snapshot)
