"""The record of the rows of the last table: their fingerprints, and the release that first showed each."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import polars as pl

from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools, Integers
from kohorte.series.memory.fingerprints import Fingerprints, Recognised, nth_of_its_kind

MAGIC = b"KOHROWS1"
HELD = 0
"""The arrival of a row that no release has shown yet."""
NEVER = 2**32 - 1
"""The arrival of a row that was shown and later held back, and that must not come back as if it were new."""


@dataclass(frozen=True, eq=False)
class Record:
    """The rows of a table, and the first release that showed each of them."""

    recognised: Recognised = field(repr=False)
    arrivals: Integers = field(repr=False)

    @classmethod
    def empty(cls, *, identified: bool) -> Record:
        """The record of a series without releases."""
        no_rows = np.empty((0, 2), dtype=np.uint64)
        return cls(Recognised(no_rows, no_rows if identified else None), np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.arrivals)

    def to_bytes(self) -> bytes:
        """The record as the bytes of a file, in an order that does not reveal that of the table."""
        contents, identities = self.recognised.contents, self.recognised.identities
        order = np.lexsort((self.arrivals, self.arrivals == HELD, contents[:, 1], contents[:, 0]))
        parts = [contents, *(() if identities is None else (identities,))]
        header = MAGIC + struct.pack("<QB", len(order), identities is not None)
        numbers = self.arrivals[order].astype("<u4").tobytes()
        return header + b"".join(part[order].astype("<u8").tobytes() for part in parts) + numbers

    @classmethod
    def from_bytes(cls, data: bytes) -> Record:
        """Read what `to_bytes` wrote."""
        start = len(MAGIC) + struct.calcsize("<QB")
        rows, identified = struct.unpack("<QB", data[len(MAGIC) : start])
        ends = np.cumsum([start, *[16 * rows] * (1 + identified), 4 * rows]).tolist()
        parts = [data[begin:end] for begin, end in pairwise(ends)]
        prints = [np.frombuffer(part, dtype="<u8").reshape(-1, 2) for part in parts[:-1]]
        arrivals = np.frombuffer(parts[-1], dtype="<u4").astype(np.int64)
        return cls(Recognised(prints[0], prints[1] if identified else None), arrivals)

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
    """A later table compared with the record: the entry of each row (-1: new), and whether the row is unchanged."""

    record: Record = field(repr=False)
    known: Integers = field(repr=False)
    same: Bools = field(repr=False)

    @property
    def corrected(self) -> Bools:
        """The rows of people who were in the last table, with other values."""
        changed: Bools = (self.known >= 0) & ~self.same
        return changed

    @property
    def withdrawn(self) -> int:
        """How many entries of the record no longer have a row."""
        return len(self.record) - int((self.known >= 0).sum())

    @property
    def departed(self) -> int:
        """How many rows that were shown have been corrected or withdrawn."""
        stays = np.zeros(len(self.record), dtype=bool)
        stays[self.known[self.same]] = True
        return int((~stays & shown_before(self.record.arrivals)).sum())

    @property
    def arrivals(self) -> Integers:
        """The release that first showed each row; HELD also for new and corrected rows."""
        kept = np.full(len(self.known), HELD, dtype=np.int64)
        kept[self.same] = self.record.arrivals[self.known[self.same]]
        return kept

    @property
    def before(self) -> Bools:
        """The rows that the last release showed."""
        return shown_before(self.arrivals)


def shown_before(arrivals: Integers) -> Bools:
    """Tell from their arrivals which rows the last release showed."""
    shown: Bools = (arrivals != HELD) & (arrivals != NEVER)
    return shown


def refuse_changes(comparison: Comparison, *, corrected: str, withdrawn: str) -> None:
    """Refuse a table that is not a superset of the last one, unless the settings accept that."""
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
            f"{lost:,} rows of the last release are no longer in the table ({why}); what was released about them "
            "cannot be taken back (withdrawn: accept in the settings of a new series allows it)",
            code="series-withdrawn",
        )


def _find(wanted: Fingerprints, known: Fingerprints) -> Integers:
    """The position of each fingerprint among the known ones, or -1; equal ones are paired one by one."""
    left, right = _numbered(wanted), _numbered(known).with_row_index("position")
    joined = left.join(right, on=["high", "low", "nth"], how="left", maintain_order="left")
    return joined["position"].cast(pl.Int64).fill_null(-1).to_numpy()


def _numbered(prints: Fingerprints) -> pl.DataFrame:
    """The fingerprints, and for each how many equal ones come before it."""
    high, low = (np.ascontiguousarray(part) for part in prints.T)
    return pl.DataFrame({"high": high, "low": low, "nth": nth_of_its_kind(prints)})
