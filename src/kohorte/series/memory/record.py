"""What a series remembers of the rows of its last table: fingerprints, and which release first showed each."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools
from kohorte.series.memory.fingerprints import Fingerprints, Recognised

MAGIC = b"KOHROWS1"
HELD = 0
"""The arrival of a row that no release has shown yet."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Record:
    """The rows of a table: `first_seen` is the first release whose table had a row, `arrivals` the first to show it."""

    recognised: Recognised = field(repr=False)
    first_seen: Numbers = field(repr=False)
    arrivals: Numbers = field(repr=False)

    @classmethod
    def empty(cls, *, identified: bool) -> Record:
        """The record of a series without releases."""
        none, no_rows = np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.uint64)
        return cls(Recognised(no_rows, no_rows if identified else None), none, none)

    def __len__(self) -> int:
        return len(self.arrivals)

    def to_bytes(self) -> bytes:
        """The record as a file has it, in an order that tells nothing about the table's."""
        contents, identities = self.recognised.contents, self.recognised.identities
        order = np.lexsort((self.arrivals, self.arrivals == HELD, contents[:, 1], contents[:, 0]))
        parts = [contents, *(() if identities is None else (identities,))]
        numbers = [column[order].astype("<u4").tobytes() for column in (self.first_seen, self.arrivals)]
        header = MAGIC + struct.pack("<QB", len(order), identities is not None)
        return header + b"".join([part[order].astype("<u8").tobytes() for part in parts] + numbers)

    @classmethod
    def from_bytes(cls, data: bytes) -> Record:
        """Read what `to_bytes` wrote."""
        start = len(MAGIC) + struct.calcsize("<QB")
        rows, identified = struct.unpack("<QB", data[len(MAGIC) : start])
        ends = np.cumsum([start, *[16 * rows] * (1 + identified), 4 * rows, 4 * rows]).tolist()
        parts = [data[begin:end] for begin, end in pairwise(ends)]
        prints = [np.frombuffer(part, dtype="<u8").reshape(-1, 2) for part in parts[:-2]]
        seen, arrivals = (np.frombuffer(part, dtype="<u4").astype(np.int64) for part in parts[-2:])
        return cls(Recognised(prints[0], prints[1] if identified else None), seen, arrivals)

    def compare(self, table: Recognised) -> Comparison:
        """Find the rows of a later table in the record."""
        if table.identities is None or self.recognised.identities is None:
            known = _find(table.contents, self.recognised.contents)
            same: Bools = known >= 0
        else:
            known = _find(table.identities, self.recognised.identities)
            same = known >= 0
            same[same] = (table.contents[same] == self.recognised.contents[known[same]]).all(axis=1)
        return Comparison(self, known, same)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A later table and the record: which entry each of its rows belongs to (-1: new), and whether it is the same."""

    record: Record = field(repr=False)
    known: Numbers = field(repr=False)
    same: Bools = field(repr=False)

    @property
    def corrected(self) -> Bools:
        """The rows of people who were there before, with other values."""
        changed: Bools = (self.known >= 0) & ~self.same
        return changed

    @property
    def withdrawn(self) -> int:
        """How many entries of the record have no row any more."""
        return len(self.record) - int((self.known >= 0).sum())

    @property
    def departed(self) -> int:
        """How many rows that were shown are corrected or withdrawn."""
        stays = np.zeros(len(self.record), dtype=bool)
        stays[self.known[self.same]] = True
        return int((~stays & (self.record.arrivals > HELD)).sum())

    @property
    def arrivals(self) -> Numbers:
        """The release that first showed each row; HELD for new and corrected ones, too."""
        return self._kept(self.record.arrivals, HELD)

    def first_seen(self, number: int) -> Numbers:
        """The release whose table first had each row; `number` for new and corrected ones."""
        return self._kept(self.record.first_seen, number)

    def _kept(self, column: Numbers, otherwise: int) -> Numbers:
        kept = np.full(len(self.known), otherwise, dtype=np.int64)
        kept[self.same] = column[self.known[self.same]]
        return kept


def refuse_changes(comparison: Comparison, *, corrected: str, withdrawn: str) -> None:
    """Refuse a table that is no superset of the last one, unless the settings accept it."""
    changed = comparison.corrected
    if corrected == "refuse" and changed.any():
        rows = np.flatnonzero(changed) + 1
        raise InputError(
            f"{len(rows):,} rows of the last release have other values now, the first is row {rows[0]:,}; what was "
            "released about them cannot be taken back (corrected: accept in the settings of a new series allows it)",
            code="series-corrected",
        )
    lost = comparison.withdrawn
    if withdrawn == "refuse" and lost:
        identified = comparison.record.recognised.identities is not None
        why = "withdrawn" if identified else "changed or withdrawn"
        raise InputError(
            f"{lost:,} rows of the last release are not in the table any more ({why}); what was released about them "
            "cannot be taken back (withdrawn: accept in the settings of a new series allows it)",
            code="series-withdrawn",
        )


def _find(wanted: Fingerprints, known: Fingerprints) -> Numbers:
    """For each fingerprint its place among the known ones, -1 where it has none; equal ones are paired one by one."""
    left, right = _numbered(wanted), _numbered(known).with_row_index("place")
    joined = left.join(right, on=["high", "low", "nth"], how="left", maintain_order="left")
    return joined["place"].cast(pl.Int64).fill_null(-1).to_numpy()


def _numbered(prints: Fingerprints) -> pl.DataFrame:
    """The fingerprints, and for each the how many-th of its kind it is."""
    high, low = prints[:, 0].copy(), prints[:, 1].copy()
    order = np.lexsort((low, high))
    first = np.ones(len(order), dtype=bool)
    first[1:] = (high[order][1:] != high[order][:-1]) | (low[order][1:] != low[order][:-1])
    starts = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    nth = np.empty(len(order), dtype=np.int64)
    nth[order] = np.arange(len(order)) - starts
    return pl.DataFrame({"high": high, "low": low, "nth": nth})
