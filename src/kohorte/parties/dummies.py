"""Dummy rows, which hide how often values and combinations occur from a member that sees only ciphertexts.

A dummy row must not be told from a real one by how rare it is. A copy of a real row is never alone, and a row of
random values nearly always is; so some dummy rows are copies, and some are copies in which something was exchanged with
another row, in the proportion in which real rows are alone.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets as random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kohorte.kernels.arrays import Counts
from kohorte.parties.integration import random_order
from kohorte.parties.own_table import LabelledColumn, OwnTable

LONGEST_IDENTIFIER = 24
"""An identifier of a dummy row is no longer than this."""

HALF = 0.5


def number_of(share: float, rows: int) -> int:
    """How many dummy rows a share is."""
    return math.ceil(share * rows)


def with_local_dummies(own: OwnTable, share: float) -> OwnTable:
    """Add dummy rows to a table of whole rows."""
    count, rows = number_of(share, own.rows), own.rows
    draw = np.random.Generator(np.random.PCG64(random.randbits(128)))
    first = draw.integers(rows, size=count)
    codes = np.stack([column.codes for column in own.columns.values()], axis=1)
    changed = _one_exchanged(codes, first, draw)
    alone, new = _alone(codes), _new_and_alone(codes, changed)
    exchanged = draw.random(count) < _share_to_exchange(alone, new, share)
    chosen = np.where(exchanged[:, None], changed, codes[first])
    columns = {
        name: replace(column, codes=np.concatenate([column.codes, chosen[:, number]]).astype(np.uint32))
        for number, (name, column) in enumerate(own.columns.items())
    }
    return OwnTable(columns, own.identifiers)


def _one_exchanged(
    codes: np.ndarray[tuple[int, int], np.dtype[np.uint32]], rows: Counts, draw: np.random.Generator
) -> np.ndarray[tuple[int, int], np.dtype[np.uint32]]:
    """These rows, with one value of a similar row in each: a neighbour in a sorted order that differs."""
    order = np.lexsort(codes[:, draw.permutation(codes.shape[1])].T)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    step = draw.integers(1, 4, size=len(rows)) * draw.choice([-1, 1], size=len(rows))
    other = codes[order[(place[rows] + step) % len(order)]]
    changed = codes[rows].copy()
    differs = other != changed
    score = np.where(differs, draw.random(differs.shape), -1.0)
    column = score.argmax(axis=1)
    at = np.arange(len(rows))
    changed[at, column] = other[at, column]
    return changed


def _alone(codes: np.ndarray[tuple[int, int], np.dtype[np.uint32]]) -> float:
    """The share of rows that no other row equals."""
    _, counts = np.unique(codes, axis=0, return_counts=True)
    return float((counts == 1).sum() / max(1, len(codes)))


def _new_and_alone(
    codes: np.ndarray[tuple[int, int], np.dtype[np.uint32]], others: np.ndarray[tuple[int, int], np.dtype[np.uint32]]
) -> float:
    """The share of other rows that would be alone among all."""
    _, of, counts = np.unique(np.concatenate([codes, others]), axis=0, return_inverse=True, return_counts=True)
    return float((counts[of.reshape(-1)[len(codes) :]] == 1).mean()) if len(others) else 0.0


def _share_to_exchange(alone: float, new: float, share: float) -> float:
    """The share of dummy rows that are not plain copies, so that as many of them are alone as of the real rows.

    A real row stays alone if it is not copied; it is copied (1 - x) * share times on average.
    """
    if not new:
        return HALF
    found = min(1.0, alone / new)
    for _ in range(20):
        found = min(1.0, alone * math.exp(-(1.0 - found) * share) / new)
    return found


# Dummy rows whose columns are at several parties: all parties take them from the same people


def with_joined_dummies(own: OwnTable, count: int, *, key: bytes, parties: Sequence[str], name: str) -> OwnTable:
    """Add dummy rows whose parts the parties of a group choose alike, by the identifiers of people.

    Half of them are copies of one person; in the others, one party takes the values of another person.
    """
    assert own.identifiers is not None, "the rows have identifiers"
    order = np.array([_number(key, f"person {identifier}") for identifier in own.identifiers], dtype=np.uint64)
    place = np.argsort(order)
    chosen = np.empty(count, dtype=np.int64)
    for number in range(count):
        other = _number(key, f"other {number}")
        exchanged = other % 2 and parties[other // 2 % len(parties)] == name
        at = np.searchsorted(order[place], np.uint64(_number(key, f"{'second' if exchanged else 'first'} {number}")))
        chosen[number] = place[at % len(place)]
    columns = {
        column: replace(labelled, codes=np.concatenate([labelled.codes, labelled.codes[chosen]]))
        for column, labelled in own.columns.items()
    }
    return OwnTable(columns, (*own.identifiers, *(f"\0dummy {number}" for number in range(count))))


def _number(key: bytes, text: str) -> int:
    return int.from_bytes(hmac.digest(key, text.encode(), hashlib.sha256)[:8], "little")


def shuffled(own: OwnTable, counts: Counts) -> tuple[OwnTable, Counts]:
    """The rows and their counters in one random order."""
    rows = random_order(own.rows)
    columns: Mapping[str, LabelledColumn] = {
        name: replace(column, codes=column.codes[rows]) for name, column in own.columns.items()
    }
    identifiers = None if own.identifiers is None else tuple(own.identifiers[row] for row in rows.tolist())
    return OwnTable(columns, identifiers), counts[rows]
