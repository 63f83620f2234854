"""Pairs and names that are drawn with a key, alike at all parties."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from kohorte.parties.dummy_rows.exchange import NAME

LONGEST = 24
"""Partners of values have at most so many bytes, as invented labels have: cells are at least as long."""

Item = TypeVar("Item", int, str)


def drawn(key: bytes, text: str) -> bytes:
    """Bytes that only those with the key know."""
    return hashlib.shake_256(key + text.encode()).digest(2 * NAME)


def invented(key: bytes, text: str) -> str:
    """The invented partner of a text that has no other."""
    return f"\0{drawn(key, text)[:NAME].hex()}"


def paired(items: Sequence[Item], key: bytes, about: str) -> dict[Item, Item]:
    """Pairs in both directions; of an odd number, one item stays what it is."""
    order = sorted(items, key=lambda item: drawn(key, f"{about} {item}"))
    first = len(order) % 2
    pairs = {one: one for one in order[:first]}
    for one, other in zip(order[first::2], order[first + 1 :: 2], strict=True):
        pairs |= {one: other, other: one}
    return pairs
