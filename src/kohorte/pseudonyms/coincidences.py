"""Notices if two different texts of a table got the same pseudonym; remembers 24 bytes per different text."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import polars as pl

FEW = 1_000_000


class Coincidences:
    """Hashes of texts and pseudonyms seen so far, in the memory of this process only."""

    def __init__(self) -> None:
        self._seeds = [secrets.randbits(60) for _ in range(3)]
        self._seen = pl.DataFrame(schema=dict.fromkeys(("one", "two", "text"), pl.UInt64))
        self._compact = 0

    def add(self, originals: pl.Series, pseudonyms: Sequence[str]) -> None:
        """Remember the pseudonyms of different texts."""
        made = pl.Series(pseudonyms, dtype=pl.String)
        one, two, text = self._seeds
        hashes = {"one": made.hash(one), "two": made.hash(two), "text": originals.hash(text)}
        self._seen = self._seen.vstack(pl.DataFrame(hashes))
        if self._seen.height > max(2 * self._compact, FEW):
            self._seen = self._seen.unique()
            self._compact = self._seen.height

    def found(self) -> int:
        """How many texts share their pseudonym with another one."""
        pairs = self._seen.unique()
        return int(pairs.select("one", "two").is_duplicated().sum())
