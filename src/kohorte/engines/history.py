"""A bounded memory of grouped nodes, from which coarser nodes are rolled up."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from kohorte.kernels.arrays import Codes, Counts
from kohorte.lattice import Node

ENTRIES = 128
WORTH_KEEPING = 0.7
"""A node is kept when it has at most this share of the rows of the node that it was rolled up from."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The groups of a node as rows: level-0 codes of one row of each group, and the group's size."""

    codes: Codes
    sizes: Counts


class History:
    """Keeps the snapshots that were used last, and finds the smallest one that a node can be built from."""

    def __init__(self, bottom: Node, base: Snapshot) -> None:
        self._base = base
        self._levels = np.zeros((ENTRIES, len(bottom)), dtype=np.int16)
        self._rows = np.full(ENTRIES, np.iinfo(np.int64).max, dtype=np.int64)
        self._used = np.zeros(ENTRIES, dtype=np.int64)
        self._snapshots: list[Snapshot] = []
        self._clock = 0
        self._lock = threading.Lock()

    def source(self, node: Node) -> tuple[Snapshot, bool]:
        """Return the smallest snapshot at or below a node, and whether it is a roll-up (not the base table)."""
        with self._lock:
            count = len(self._snapshots)
            usable = (self._levels[:count] <= np.array(node, dtype=np.int16)).all(axis=1)
            if not usable.any():
                return self._base, False
            place = int(np.where(usable, self._rows[:count], np.iinfo(np.int64).max).argmin())
            self._clock += 1
            self._used[place] = self._clock
            return self._snapshots[place], True

    def keep(self, node: Node, snapshot: Snapshot, source: Snapshot) -> None:
        """Remember a snapshot if it is much smaller than what it was made from; forget the one used longest ago."""
        if len(snapshot.sizes) > WORTH_KEEPING * len(source.sizes):
            return
        with self._lock:
            self._clock += 1
            if len(self._snapshots) < ENTRIES:
                place = len(self._snapshots)
                self._snapshots.append(snapshot)
            else:
                place = int(self._used.argmin())
                self._snapshots[place] = snapshot
            self._levels[place] = node
            self._rows[place] = len(snapshot.sizes)
            self._used[place] = self._clock
