"""Keyed fingerprints, by which rows are recognised in later tables although none of their values is stored.

Without the key, fingerprints only tell which rows are equal: values cannot even be guessed and tried. The key stays in
the folder of the series.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.data import as_text
from kohorte.errors import InputError
from kohorte.kernels.arrays import Integers
from kohorte.sources import which_rows

KEY_BYTES = 32
DIGEST_BYTES = 16

Fingerprints = NDArray[np.uint64]
"""One row of two numbers for each row of a table."""


def new_key() -> bytes:
    """A secret key."""
    return secrets.token_bytes(KEY_BYTES)


def key_check(key: bytes) -> str:
    """A value that identifies the right key, and from which the key cannot be computed."""
    return _digest(b"", key=key, purpose=b"check").hex()


def shuffled(contents: Fingerprints, number: int, *, key: bytes) -> Integers:
    """The order of the rows in a release: random without the key, and the same whenever the release is written again.

    Equal rows do not stand together, because each is mixed with the number of equal rows before it.
    """
    seed = _digest(str(number).encode(), key=key, purpose=b"order")
    nth = nth_of_its_kind(contents).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = contents[:, 0] ^ nth ^ np.uint64(int.from_bytes(seed[:8], "little"))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # the finalizer of splitmix64
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.lexsort((contents[:, 1], contents[:, 0], mixed ^ (mixed >> np.uint64(31))))


def nth_of_its_kind(prints: Fingerprints) -> Integers:
    """For each fingerprint, how many equal ones come before it."""
    high, low = prints[:, 0], prints[:, 1]
    order = np.lexsort((low, high))
    first = np.ones(len(order), dtype=bool)
    first[1:] = (high[order][1:] != high[order][:-1]) | (low[order][1:] != low[order][:-1])
    starts = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    nth = np.empty(len(order), dtype=np.int64)
    nth[order] = np.arange(len(order)) - starts
    return nth


def fingerprints(frame: pl.DataFrame, columns: Sequence[str], *, key: bytes, purpose: bytes) -> Fingerprints:
    """The fingerprint of every row, from the texts of these columns; a missing value differs from an empty text."""
    texts = row_texts(frame, columns).cast(pl.Binary).to_list()
    digests = [blake2b(text, digest_size=DIGEST_BYTES, key=key, person=purpose).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2)


def row_texts(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """One text for each row, different for different rows: every value preceded by its length."""
    parts = []
    for name in columns:
        text = as_text(frame[name]).alias("text").to_frame()
        length = pl.col("text").str.len_bytes().cast(pl.String)
        parts.append(text.select(pl.concat_str(length, pl.lit(":"), "text").fill_null("-")).to_series())
    joined = pl.DataFrame({str(number): part for number, part in enumerate(parts)})
    return joined.select(pl.concat_str(pl.all())).to_series()


def content_sha256(data: pl.DataFrame) -> str:
    """The hash of the content of a table, independent of the order of its rows and of the file format."""
    digest = hashlib.sha256(row_texts(pl.DataFrame({"names": data.columns}), ["names"]).str.join("").item().encode())
    digest.update("\n".join(row_texts(data, data.columns).sort().to_list()).encode())
    return digest.hexdigest()


def _digest(data: bytes, *, key: bytes, purpose: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST_BYTES, key=key, person=purpose).digest()


@dataclass(frozen=True, eq=False)
class Recognised:
    """The fingerprints of a table: of all columns, and of the identifying column if the settings name one."""

    contents: Fingerprints
    identities: Fingerprints | None

    @classmethod
    def of(cls, frame: pl.DataFrame, columns: Sequence[str], *, identified_by: str | None, key: bytes) -> Recognised:
        """Fingerprint all rows; refuse an identifier that is missing or occurs twice."""
        contents = fingerprints(frame, columns, key=key, purpose=b"content")
        if identified_by is None:
            return cls(contents, None)
        _refuse_ambiguous(frame, identified_by)
        return cls(contents, fingerprints(frame, [identified_by], key=key, purpose=b"identity"))


def _refuse_ambiguous(frame: pl.DataFrame, column: str) -> None:
    text = as_text(frame[column])
    if text.null_count():
        raise InputError(
            f"column {column!r} identifies the rows of the series, but {which_rows(text.is_null())} have no value",
            code="series-identity",
        )
    twice = text.is_duplicated()
    if twice.any():
        raise InputError(
            f"column {column!r} identifies the rows of the series, but {which_rows(twice)} share a value with another",
            code="series-identity",
        )
