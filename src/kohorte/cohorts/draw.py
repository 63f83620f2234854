"""Random draws in whole numbers: the same on every machine and with every version of NumPy.

NumPy guarantees the raw 64-bit stream of PCG64, but not its distributions, and a logarithm may differ in its
last bit between machines. A choice is therefore a look-up: a distribution is divided into 65,536 slots in
proportion to whole weights, and 16 raw bits select the slot. Every purpose has its own stream, so that
more rows or columns do not change the other draws.
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
    """Divide the slots of every context among its choices; a choice of weight 0 gets no slot."""
    return np.stack([_slots(np.asarray(weights, dtype=np.int64)) for weights in contexts])


def _slots(weights: Counts) -> Table:
    total = np.cumsum(weights)
    edges = total * SLOTS // total[-1]
    return np.repeat(np.arange(len(weights), dtype=np.uint16), np.diff(edges, prepend=0))


def falling(count: int, *, start: int) -> list[int]:
    """Zipf-like weights: the first of `count` choices is the commonest; a small `start` makes it steeper."""
    return [100_000 // (rank + start) for rank in range(count)]


def doubling(digits: str) -> list[int]:
    """Weights written as one digit each: 0 means never, digits 1 to 9 mean 1, 2, 4 ... 256."""
    return [(1 << int(digit)) >> 1 for digit in digits]


def band(numbers: Counts, starts: Sequence[int]) -> Counts:
    """The band of each number, for bands that begin at `starts` (the first begins at 0)."""
    return np.searchsorted(np.asarray(starts[1:]), numbers, side="right")


def labelled(labels: Sequence[str] | pl.Series, codes: Counts) -> pl.Series:
    """The label of every code, as text."""
    known = labels if isinstance(labels, pl.Series) else pl.Series(labels, dtype=pl.String)
    return known.gather(pl.Series(codes.astype(np.uint32)))


@dataclass(frozen=True)
class Dice:
    """One random stream for every purpose, determined by `seed` and the name of the purpose."""

    seed: int
    rows: int

    def bits(self, purpose: str) -> Keys:
        """64 raw bits for every row."""
        stream = np.random.SeedSequence(self.seed, spawn_key=(zlib.crc32(purpose.encode()),))
        return np.asarray(np.random.PCG64(stream).random_raw(self.rows), dtype=np.uint64)

    def choose(self, purpose: str, choices: Table, context: Counts | None = None) -> Counts:
        """One choice for every row, from the slots of its context (without contexts there is only one)."""
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
        """A nearly normal deviation for every row: standard deviation `spread`, at most 3.5 times that."""
        bits = self.bits(purpose)
        total = sum(((bits >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.int64) for shift in (0, 16, 32, 48))
        return (total - 2 * (SLOTS - 1)) * spread // 37_837
