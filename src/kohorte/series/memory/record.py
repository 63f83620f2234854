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
from kohorte.series.memory.fingerprints import Fingerprints, Recognised, nth_of_its_kind

MAGIC = b"KOHROWS1"
HELD = 0
"""The arrival of a row that no release has shown yet."""
NEVER = 2**32 - 1
"""The arrival of a row that was shown, had to be held back since, and must not come back as if it were new."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Record:
    """The rows of a table, and the first release that showed each of them."""

    recognised: Recognised = field(repr=False)
    arrivals: Numbers = field(repr=False)

    @classmethod
    def empty(cls, *, identified: bool) -> Record:
        """The record of a series without releases."""
        no_rows = np.empty((0, 2), dtype=np.uint64)
        return cls(Recognised(no_rows, no_rows if identified else None), np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.arrivals)

    def to_bytes(self) -> bytes:
        """The record as a file has it, in an order that tells nothing about the table's."""
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
        return int((~stays & shown_before(self.record.arrivals)).sum())

    @property
    def arrivals(self) -> Numbers:
        """The release that first showed each row; HELD for new and corrected ones, too."""
        kept = np.full(len(self.known), HELD, dtype=np.int64)
        kept[self.same] = self.record.arrivals[self.known[self.same]]
        return kept

    @property
    def before(self) -> Bools:
        """The rows that the last release showed."""
        return shown_before(self.arrivals)


def shown_before(arrivals: Numbers) -> Bools:
    """Tell from their arrivals which rows the last release showed."""
    shown: Bools = (arrivals != HELD) & (arrivals != NEVER)
    return shown


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
    high, low = (np.ascontiguousarray(part) for part in prints.T)
    return pl.DataFrame({"high": high, "low": low, "nth": nth_of_its_kind(prints)})
