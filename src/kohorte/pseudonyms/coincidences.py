"""Notices if two different texts of a table got the same pseudonym; remembers 16 bytes per different text."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import polars as pl

FEW = 1_000_000


class Coincidences:
    """Hashes of texts and pseudonyms seen so far, in the memory of this process only.

    A hash has 64 bits: with ten million people the chance of a false alarm is one in 370,000, and another run, which
    hashes differently, passes.
    """

    def __init__(self) -> None:
        self._seeds = secrets.randbits(60), secrets.randbits(60)
        self._seen = pl.DataFrame(schema={"pseudonym": pl.UInt64, "text": pl.UInt64})
        self._compact = 0

    def add(self, originals: pl.Series, pseudonyms: Sequence[str]) -> None:
        """Remember the pseudonyms of different texts."""
        made = pl.Series(pseudonyms, dtype=pl.String)
        one, other = self._seeds
        self._seen = self._seen.vstack(pl.DataFrame({"pseudonym": made.hash(one), "text": originals.hash(other)}))
        if self._seen.height > max(2 * self._compact, FEW):
            self._seen = self._seen.unique()
            self._compact = self._seen.height

    def found(self) -> int:
        """How many texts share their pseudonym with another one."""
        return int(self._seen.unique()["pseudonym"].is_duplicated().sum())
