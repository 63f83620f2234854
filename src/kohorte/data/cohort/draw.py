"""Whole-number chance: the same draws on every machine and with every NumPy.

The raw 64-bit stream of PCG64 is guaranteed to stay the same, NumPy's distributions are not; and a logarithm
may differ in its last bit between machines. So a choice is a look-up: a distribution is cut into 65,536
slots in proportion to whole weights, and 16 raw bits pick the slot. Every purpose has a stream of its own,
so that neither more rows nor more columns change what is drawn for the others.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools, Counts, Keys

SLOTS = 1 << 16

Weights: TypeAlias = Sequence[int]
Table: TypeAlias = NDArray[np.uint16]
"""The choice in each slot, one row for each context."""


def table(contexts: Iterable[Weights]) -> Table:
    """Cut the slots of every context among its choices; a choice of weight 0 gets no slot."""
    return np.stack([_slots(np.asarray(weights, dtype=np.int64)) for weights in contexts])


def _slots(weights: Counts) -> Table:
    total = np.cumsum(weights)
    edges = total * SLOTS // total[-1]
    return np.repeat(np.arange(len(weights), dtype=np.uint16), np.diff(edges, prepend=0))


def falling(count: int, *, start: int) -> list[int]:
    """Zipf-like weights: the first of `count` choices is the commonest; a small `start` makes it steeper."""
    return [100_000 // (rank + start) for rank in range(count)]


def doubling(digits: str) -> list[int]:
    """Weights written as one digit each: 0 is never, and every further step doubles: 1, 2, 4 ... 256."""
    return [(1 << int(digit)) >> 1 for digit in digits]


def band(numbers: Counts, starts: Sequence[int]) -> Counts:
    """Which band a number falls into, for bands that begin at `starts` (the first begins at 0)."""
    return np.searchsorted(np.asarray(starts[1:]), numbers, side="right")


def labelled(labels: Sequence[str] | pl.Series, codes: Counts) -> pl.Series:
    """The label of every code, as text."""
    known = labels if isinstance(labels, pl.Series) else pl.Series(labels, dtype=pl.String)
    return known.gather(pl.Series(codes.astype(np.uint32)))


@dataclass(frozen=True)
class Dice:
    """One stream of chance for every purpose; `seed` and the purpose's name decide all of it."""

    seed: int
    rows: int

    def bits(self, purpose: str) -> Keys:
        """64 raw bits for every row."""
        stream = np.random.SeedSequence(self.seed, spawn_key=(zlib.crc32(purpose.encode()),))
        return np.asarray(np.random.PCG64(stream).random_raw(self.rows), dtype=np.uint64)

    def choose(self, purpose: str, choices: Table, context: Counts | None = None) -> Counts:
        """One choice for every row, from the slots of its context (of the only one if none is given)."""
        slot = (self.bits(purpose) >> np.uint64(48)).astype(np.int64)
        if context is not None:
            slot += context * SLOTS
        return choices.reshape(-1)[slot].astype(np.int64)

    def below(self, purpose: str, limit: int) -> Counts:
        """A whole number from 0 to `limit` - 1 for every row, all equally likely."""
        return ((self.bits(purpose) >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32)).astype(np.int64)

    def happens(self, purpose: str, probability: float) -> Bools:
        """True in about this fraction of the rows."""
        return (self.bits(purpose) >> np.uint64(32)) < np.uint64(round(probability * 2**32))

    def bell(self, purpose: str, spread: Counts) -> Counts:
        """A nearly normal deviation for every row, with standard deviation `spread` and at most 3.5 of it."""
        bits = self.bits(purpose)
        total = sum(((bits >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.int64) for shift in (0, 16, 32, 48))
        return (total - 2 * (SLOTS - 1)) * spread // 37_837
