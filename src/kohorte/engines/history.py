"""A bounded memory of grouped nodes, from which coarser nodes are rolled up."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from kohorte.kernels import Rows
from kohorte.kernels.arrays import Codes, Counts
from kohorte.lattice import Node

ENTRIES = 128
WORTH_KEEPING = 0.7
"""A node is kept when it has at most this share of the rows of the node that it was rolled up from."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The groups of a node as rows: one (packed) row of each group, and the group's size."""

    rows: Rows
    sizes: Counts

    def __len__(self) -> int:
        return len(self.sizes)


class History:
    """Keeps the snapshots that were used last, and finds the smallest one that a node can be built from."""

    def __init__(self, base: Snapshot, attributes: int) -> None:
        self._base = base
        self._levels = np.zeros((ENTRIES, attributes), dtype=np.int16)
        self._rows = np.full(ENTRIES, np.iinfo(np.int64).max, dtype=np.int64)
        self._used = np.zeros(ENTRIES, dtype=np.int64)
        self._snapshots: list[Snapshot] = []
        self._clock = 0
        self._lock = threading.Lock()

    def source(self, node: Node) -> Snapshot:
        """Return the smallest snapshot at or below a node; where none is remembered, the base table."""
        with self._lock:
            count = len(self._snapshots)
            usable = (self._levels[:count] <= np.array(node, dtype=np.int16)).all(axis=1)
            if not usable.any():
                return self._base
            place = int(np.where(usable, self._rows[:count], np.iinfo(np.int64).max).argmin())
            self._clock += 1
            self._used[place] = self._clock
            return self._snapshots[place]

    def keep(self, node: Node, source: Snapshot, first: Codes, sizes: Counts) -> None:
        """Remember a node that is much smaller than what it was made from; forget the one used longest ago."""
        if len(sizes) > WORTH_KEEPING * len(source):
            return
        snapshot = Snapshot(source.rows.take(first), sizes)
        with self._lock:
            self._clock += 1
            if len(self._snapshots) < ENTRIES:
                place = len(self._snapshots)
                self._snapshots.append(snapshot)
            else:
                place = int(self._used.argmin())
                self._snapshots[place] = snapshot
            self._levels[place] = node
            self._rows[place] = len(sizes)
            self._used[place] = self._clock
