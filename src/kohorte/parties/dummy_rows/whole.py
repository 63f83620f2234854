"""Dummy rows, which hide how often values and combinations occur from a member that sees only ciphertexts.

A dummy row must not be told from a real one by how rare it is, or by how unlike all others. Therefore a combination of
many rows gets copies, in the same proportion as all others; combinations of few rows are joined by new combinations of
as many rows, which are as rare as they are (imitation.py), or get copies if there are no others. A value that only one
combination has is kept, or replaced by an invented one, as often as values of two rows and of one row occur. An
invented value belongs to the same groups of the hierarchy; nobody ever sees it.

Source
    Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation, Technische
    Universität München, 2015, section 4.4.5, asks for dummy rows that mask how often real rows occur, and leaves open
    how to make them.
"""

from __future__ import annotations

import math
import secrets as random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.parties.dummy_rows.imitation import imitated
from kohorte.parties.integration import random_order
from kohorte.parties.own_table import LabelledColumn, OwnTable
from kohorte.parties.sealed import MISSING, STAR

LONGEST_TEXT = 24
"""Identifiers of dummy rows and invented values are no longer than this, in bytes."""

MANY = 2.0
"""A combination is copied if so many copies of it are expected, and otherwise joined by new ones."""

Rows = NDArray[np.uint32]


def with_local_dummies(own: OwnTable, share: float) -> OwnTable:
    """Add dummy rows to a table of whole rows; their number differs a little from the share."""
    if not own.rows:
        return own
    draw = generator()
    codes = np.stack([column.codes for column in own.columns.values()], axis=1)
    combinations, sizes = np.unique(codes, axis=0, return_counts=True)
    few = np.flatnonzero(sizes * share < MANY)
    wanted = math.floor(share * float(sizes[few].sum()) + draw.random())
    sources = _of_as_many_rows(few, sizes, wanted, draw)
    made = imitated(combinations, sizes, sources, draw)
    each = np.full(len(sizes), share)
    each[few] = max(0, wanted - made.repeated.sum()) / max(1, sizes[few].sum())
    copies = np.floor(sizes * each + draw.random(len(sizes))).astype(np.int64)
    table = Inventing(own, combinations)
    fresh = table.invented(made.rows, made.invented)
    dummies = np.concatenate([np.repeat(combinations, copies, axis=0), np.repeat(fresh, made.repeated, axis=0)])
    return table.with_rows(dummies)


def _of_as_many_rows(few: Counts, sizes: Counts, wanted: int, draw: np.random.Generator) -> Counts:
    """Combinations of few rows, drawn at random until they have as many rows as are wanted."""
    if not len(few) or not wanted:
        return few[:0]
    drawn = few[draw.integers(len(few), size=wanted)]
    return drawn[: int(np.searchsorted(np.cumsum(sizes[drawn]), wanted)) + 1]


class Inventing:
    """A table that gets dummy rows, and values that were invented for them."""

    def __init__(self, own: OwnTable, rows: Rows) -> None:
        self._own = own
        self._columns = list(own.columns.values())
        self._sources: list[list[int]] = [[] for _ in self._columns]
        self._private = [
            np.bincount(rows[:, place], minlength=len(column.levels)) == 1 for place, column in enumerate(self._columns)
        ]

    def invented(self, made: Rows, which: Bools | None = None) -> Rows:
        """These rows with invented values: in `which` cells, or wherever only one of the given rows has the value."""
        found = made.copy()
        for place, column in enumerate(self._columns):
            values = made[:, place]
            chosen = self._private[place][values] if which is None else which[:, place]
            mine = np.flatnonzero(chosen & (column.levels[values, 0] != MISSING))
            start = len(column.levels) + len(self._sources[place])
            found[mine, place] = np.arange(start, start + len(mine))
            self._sources[place] += values[mine].tolist()
        return found

    def with_rows(self, dummies: Rows, identifiers: Sequence[str] = ()) -> OwnTable:
        """The table with these rows behind its own."""
        columns = {
            name: _with_values(column, self._sources[place], dummies[:, place])
            for place, (name, column) in enumerate(self._own.columns.items())
        }
        known = self._own.identifiers
        return OwnTable(columns, None if known is None else (*known, *identifiers))


def _with_values(column: LabelledColumn, sources: Sequence[int], codes: Codes) -> LabelledColumn:
    """The column with more rows, and with values that were invented like others: same groups, another text."""
    every = np.concatenate([column.codes, codes]).astype(np.uint32)
    if not sources:
        return replace(column, codes=every)
    levels = column.levels[list(sources)].copy()
    texts = tuple(f"\0{random.token_hex(10)}" for _ in sources)
    fresh = np.arange(len(column.texts), len(column.texts) + len(texts), dtype=np.uint32)
    as_value = levels == levels[:, :1]  # levels that show the value itself
    as_value |= (levels.shape[1] == 2) & (levels < STAR)  # a value, and how it is counted
    levels = np.where(as_value, fresh[:, None], levels)
    shares = None if column.shares is None else np.concatenate([column.shares, column.shares[list(sources)]])
    return LabelledColumn(every, np.concatenate([column.levels, levels]), (*column.texts, *texts), shares)


def generator() -> np.random.Generator:
    """Random numbers that cannot be reproduced."""
    return np.random.Generator(np.random.PCG64(random.randbits(128)))


def shuffled(own: OwnTable, counts: Counts) -> tuple[OwnTable, Counts]:
    """The rows and their counters in one random order."""
    rows = random_order(own.rows)
    columns = {name: replace(column, codes=column.codes[rows]) for name, column in own.columns.items()}
    identifiers = None if own.identifiers is None else tuple(own.identifiers[row] for row in rows.tolist())
    return OwnTable(columns, identifiers), counts[rows]
