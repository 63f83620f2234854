"""Comparing two patient lists without names: files that houses send, and the pairs that a third party finds.

A file has one row per record: an identifier made for this exchange, a few keyed hashes that say which rows are
compared, and the filter. It has no name, no PID and no key.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.patients.encodings.bloom import BYTES, Encoder, similarity
from kohorte.patients.linkage.blocking import keys_of
from kohorte.patients.linkage.record import Record
from kohorte.trust.keys import Key, KeyFile, versions_in
from kohorte.trust.sealing import BlindIndex

COLUMNS = ("id", "keys", "filter")
KEY_BYTES = 8
MATCH_KEYS, MATCH_SIMILARITY = 4, 0.88
"""A pair that shares so many keys and is so similar is a match."""
GREY_SIMILARITY = {1: 0.93, 2: 0.80}
"""With so few shared keys a pair must be so similar to be looked at by a person; with more it always is."""
MOST_ROWS_PER_KEY = 200


@dataclass(frozen=True)
class Pair:
    """Two rows, by their identifiers, how many keys they share, and how similar their filters are."""

    id: str
    other_id: str
    keys: int
    similarity: float

    @property
    def verdict(self) -> str:
        """Match, grey or different."""
        if self.keys >= MATCH_KEYS and self.similarity >= MATCH_SIMILARITY:
            return "match"
        return "grey" if self.similarity >= GREY_SIMILARITY.get(self.keys, 0.0) else "different"


def refuse_own_key(secret: Path, folder: Path) -> None:
    """Refuse a secret in the folder of keys: it is given to another house, and a key of the list must never be."""
    if secret.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            "--secret: is a file in the folder of keys and lists, and the secret is given to another house; give a "
            "file elsewhere",
            code="patients-secret",
        )


def shared_secret(path: Path) -> tuple[Key, bool]:
    """The secret that two houses share, from its file, and whether it was made now because there was none."""
    file = KeyFile(path, "the shared secret", "lists encoded with it cannot be compared with new ones")
    made = not file.exists
    return (file.create() if made else file.read()).current, made


def secret_in(text: str) -> Key:
    """The secret in the content of its file."""
    try:
        return versions_in(text, "secret")[-1]
    except InputError as error:
        raise InputError(error.message, code="patients-secret") from None


def encoded(records: Iterable[tuple[str, Record]], secret: Key) -> pl.DataFrame:
    """The file of a house: the records by identifier, in the order of the identifiers, which says nothing."""
    encoder, index = Encoder(secret), BlindIndex(secret, "exchange keys")
    rows = sorted(
        (
            name,
            " ".join(sorted(index.of(key)[:KEY_BYTES].hex() for key in keys_of(record))),
            base64.b64encode(encoder.filter(record)).decode(),
        )
        for name, record in records
    )
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


def compared(one: pl.DataFrame, other: pl.DataFrame, *, most: int | None = None) -> list[Pair]:
    """The pairs that are a match or grey, matches first, at most one for each two identifiers.

    `most` limits how many keys of two rows are compared, where the lists come from somebody else.
    """
    mine, theirs = _filters(one), _filters(other)
    shared = _shared_keys(one["keys"].to_list(), other["keys"].to_list(), most)
    if not shared:
        return []
    places = np.array(list(shared), dtype=np.int64)
    alike = similarity(mine[places[:, 0]], theirs[places[:, 1]]).tolist()
    names, others = one["id"].to_list(), other["id"].to_list()
    best: dict[tuple[str, str], Pair] = {}
    for ((a, b), keys), value in zip(shared.items(), alike, strict=True):
        pair = Pair(names[a], others[b], keys, value)
        if pair.verdict != "different":
            known = best.get((pair.id, pair.other_id), pair)
            best[pair.id, pair.other_id] = max(pair, known, key=_rank)
    return sorted(best.values(), key=_rank, reverse=True)


def _rank(pair: Pair) -> tuple[bool, float, int]:
    return pair.verdict == "match", pair.similarity, pair.keys


def _shared_keys(keys: Sequence[str], other_keys: Sequence[str], most: int | None) -> Counter[tuple[int, int]]:
    """How many keys rows share, by their places; a key that too many rows have says too little."""
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(other_keys):
        for key in dict.fromkeys(text.split()):
            rows[key].append(place)
    met = {key: places for key, places in rows.items() if len(places) <= MOST_ROWS_PER_KEY}
    wanted = [[key for key in dict.fromkeys(text.split()) if key in met] for text in keys]
    if most is not None and sum(len(met[key]) for own in wanted for key in own) > most:
        raise InputError(
            f"the lists have more than {most:,} pairs of rows with a key in common; compare parts of them, or use "
            "'kohorte patients compare'",
            code="patients-encoding",
        )
    return Counter((place, other) for place, own in enumerate(wanted) for key in own for other in met[key])


def _filters(frame: pl.DataFrame) -> NDArray[np.uint8]:
    if tuple(frame.columns) != COLUMNS or any(frame[name].null_count() for name in COLUMNS):
        raise InputError(
            f"an encoded list has the columns {', '.join(COLUMNS)} and no empty cell", code="patients-encoding"
        )
    try:
        filters = [base64.b64decode(text, validate=True) for text in frame["filter"].to_list()]
    except (binascii.Error, ValueError):
        filters = [b""]
    if any(len(one) != BYTES for one in filters):
        raise InputError(f"a filter of an encoded list is not {BYTES} bytes in Base64", code="patients-encoding")
    return np.frombuffer(b"".join(filters), dtype=np.uint8).reshape(-1, BYTES)
