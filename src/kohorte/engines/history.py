"""A bounded memory of counted nodes, from which coarser nodes are counted.

The idea is that of Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität,
2015, section 3.6 (snapshots and their history). The two numbers below are our own choice, without a
recorded measurement; they change the time and memory that a search takes, never its answer.
"""

from __future__ import annotations

import threading

from kohorte.kernels import Rows, Shelf
from kohorte.kernels.arrays import Codes, Counts
from kohorte.lattice import Node

ENTRIES = 128
"""The number of nodes that are remembered."""

WORTH_KEEPING = 0.7
"""A node is remembered if it has at most this share of the rows of the node that it was counted from."""


BYTES_OF_A_ROW = 24
"""About how much memory a row of a snapshot takes: its packed codes, and its size."""


class Snapshot:
    """The groups of a node: one (packed) row of each group, and the group's size.

    `first` selects these rows from the given ones. They are copied at the first use; most snapshots are never used.
    """

    def __init__(self, node: Node, rows: Rows, first: Codes, sizes: Counts) -> None:
        self.node = node
        self.sizes = sizes
        self._rows: tuple[Rows, Codes | None] = rows, first  # one tuple, so that threads see both or neither

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
    """Keeps the most recently used snapshots and finds the smallest one from which a node can be counted."""

    def __init__(self, base: Snapshot) -> None:
        self._base = base
        self._shelf = Shelf(len(base.node), ENTRIES)
        self._snapshots: list[Snapshot] = []
        self.hits = 0
        self._lock = threading.Lock()

    @property
    def held_bytes(self) -> int:
        """About how much memory the snapshots take."""
        with self._lock:
            return BYTES_OF_A_ROW * sum(map(len, self._snapshots))

    def forget(self) -> None:
        """Forget all snapshots but the base."""
        with self._lock:
            self._shelf, self._snapshots = Shelf(len(self._base.node), ENTRIES), []

    def source(self, node: Node) -> Snapshot:
        """Return the smallest snapshot at or below a node, or the base table if there is none."""
        with self._lock:
            position = self._shelf.find(node)
            if position < 0:
                return self._base
            self.hits += 1
            return self._snapshots[position]

    def rows_at_hand(self, node: Node) -> int:
        """The number of rows from which a node would be counted."""
        with self._lock:
            position = self._shelf.find(node)
            return len(self._base if position < 0 else self._snapshots[position])

    def keep(self, snapshot: Snapshot, source: Snapshot) -> None:
        """Remember a node that is much smaller than its source; forget the least recently used one if needed."""
        if len(snapshot) > WORTH_KEEPING * len(source):
            return
        with self._lock:
            position = self._shelf.put(snapshot.node, len(snapshot))
            if position < len(self._snapshots):
                self._snapshots[position] = snapshot
            else:
                self._snapshots.append(snapshot)
