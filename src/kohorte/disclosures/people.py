"""Keyed fingerprints of people: the ledger recognises a person and stores no identifier."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.data import as_text
from kohorte.data.person_keys import spelling_keys
from kohorte.errors import InputError
from kohorte.kernels.arrays import Integers

PRINT_BYTES = 8
"""Two of a million people share a fingerprint with a probability of 1 in 37 million; they would count as one person, so
that k is rather reached too late than too early."""


def distinct_prints(people: pl.Series | Sequence[str], key: bytes) -> tuple[NDArray[np.uint64], Integers]:
    """The fingerprints of different people, and for each row which of them it is."""
    text = as_text(people) if isinstance(people, pl.Series) else pl.Series(list(people), dtype=pl.String)
    keys = spelling_keys(text).alias("person")
    if keys.null_count():
        raise InputError(
            f"{keys.null_count():,} rows say nothing of whom they are about; the ledger counts people",
            code="disclosure-person-missing",
        )
    distinct = keys.unique(maintain_order=True)
    numbers = pl.DataFrame([distinct, pl.Series("number", np.arange(len(distinct)))])
    row_of = keys.to_frame().join(numbers, on="person", how="left", maintain_order="left")["number"].to_numpy()
    digests = (blake2b(one.encode(), digest_size=PRINT_BYTES, key=key).digest() for one in distinct)
    return np.frombuffer(b"".join(digests), dtype="<u8"), row_of.astype(np.int64)


def found_in(known: NDArray[np.uint64], prints: NDArray[np.uint64]) -> Integers:
    """The index of each fingerprint among the known ones, or -1."""
    if not len(known):
        return np.full(len(prints), -1, dtype=np.int64)
    order = np.argsort(known, kind="stable")
    ordered = known[order]
    place = np.minimum(np.searchsorted(ordered, prints), len(known) - 1)
    return np.where(ordered[place] == prints, order[place], -1).astype(np.int64)
