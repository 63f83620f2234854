"""Dummy rows whose columns are at several parties, who choose them alike without asking who is at the others.

A dummy row is made from one person, the same at all parties. Whether and how a person is taken depends on a keyed hash
of the identifier; the parties know the key, the helper does not. A dummy row of a person whom one party does not have
finds no partner there, and is left out with this person: nobody learns who is at which party.

No party knows the joined rows. A dummy row agrees with the person that it is made from at as many parties as real rows
agree with other real rows, as far as the parties can tell: each says how likely two of its rows are alike, and the
chances are multiplied as if the parties' columns were independent. The other parties exchange values, each for one that
goes with the rest of its part and, if the hierarchy has groups, is in the same group. Columns of different parties that
determine each other (ties.py) keep the values of the person.

Leaves open
    Values of different parties that depend on each other more closely than the groups of the hierarchies show, without
    determining each other: a dummy row with an exchanged value has a combination that no real row would have. If
    everything is determined, dummy rows are copies, which are told where real rows are all different. The run measures
    how well dummy rows can be told from real ones (counting/telling.py), and the certificate says it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools, Codes, Counts, Floats
from kohorte.parties.dummy_rows.whole import Inventing, Rows, generator
from kohorte.parties.own_table import LabelledColumn, OwnTable

WORD, NAME = 8, 10
"""Bytes of a number that is drawn from a hash, and of the identifier of a dummy row."""

TRIES = 6
"""How often a value is drawn again if it is the old one."""


@dataclass(frozen=True)
class Group:
    """The parties whose rows are joined: for each how likely two of its rows are alike, and the fewest rows of one.

    Values of `tied` columns are never exchanged: columns of other parties determine them, or the other way round.
    `free` are the parties that have other columns as well; all of them, if it is empty and nothing is tied.
    """

    alike: Mapping[str, float]
    rows: int
    tied: Collection[str] = ()
    free: Sequence[str] = ()

    @property
    def changing(self) -> list[str]:
        """The parties that can exchange values, those whose rows are least alike first."""
        able = self.free if self.tied else self.alike
        return sorted(able, key=self.alike.__getitem__)


def chance_alike(own: OwnTable, columns: Sequence[str] | None = None) -> float:
    """How likely two different rows are equal in these columns, or in all."""
    names = list(own.columns) if columns is None else columns
    if not names or own.rows < 2:
        return 1.0 if own.rows > 1 else 0.0
    _, sizes = np.unique(np.stack([own.columns[name].codes for name in names], axis=1), axis=0, return_counts=True)
    return float((sizes * (sizes - 1)).sum()) / (own.rows * (own.rows - 1))


def with_joined_dummies(own: OwnTable, share: float, *, key: bytes, group: Group, name: str) -> OwnTable:
    """Add dummy rows, as a share of the rows, to one party's part of rows that are joined."""
    chosen = _chosen(own, share, key, group, name)
    codes = np.stack([column.codes for column in own.columns.values()], axis=1)
    table = Inventing(own, codes)
    return table.with_rows(table.invented(_varied(own, codes, chosen, group.tied)), chosen.identifiers)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The rows that dummy rows are made from, and what all parties draw alike for them.

    `partners` is how many real rows agree with a row where the dummy row agrees with it, as far as is known.
    """

    rows: Counts
    changed: Bools
    partners: Floats
    identifiers: Sequence[str]


def _chosen(own: OwnTable, share: float, key: bytes, group: Group, name: str) -> Chosen:
    """People in the order of their hashes, each as often as the share demands.

    Parties with the same people choose the same; otherwise they differ in few people, whose dummy rows find no partner.
    """
    assert own.identifiers is not None, "the rows have identifiers"
    words, wanted = 1 + len(group.alike), math.ceil(share * own.rows)
    rows: list[int] = []
    hashes: list[bytes] = []
    for turn in range(math.ceil(share)):
        drawn = [_hash(key, f"{turn} {person}", WORD * words + NAME) for person in own.identifiers]
        ranked = sorted(range(own.rows), key=drawn.__getitem__)[: wanted - len(rows)]
        rows += ranked
        hashes += [drawn[row] for row in ranked]
    numbers = np.array([np.frombuffer(one, dtype="<u8", count=words) for one in hashes]).reshape(len(rows), words)
    changed, partners = _changed(numbers[:, 1:], group, name)
    return Chosen(np.array(rows, dtype=np.int64), changed, partners, [f"\0{one[-NAME:].hex()}" for one in hashes])


def _hash(key: bytes, text: str, length: int) -> bytes:
    """A keyed hash of any length (SHAKE needs no HMAC)."""
    return hashlib.shake_256(key + text.encode()).digest(length)


def _changed(numbers: NDArray[np.uint64], group: Group, name: str) -> tuple[Bools, Floats]:
    """Which dummy rows this party changes, and how many partners a row has in what the others keep.

    Parties give up their part until what is left is common enough, the one whose rows are least alike first: others
    then change fewer values, on which values of other parties may depend.
    """
    order = group.changing
    gone = np.full(len(numbers), len(order))
    partners = np.full(len(numbers), float(group.rows))
    waiting = np.ones(len(numbers), dtype=bool)
    for given_up in range(len(order)):
        kept = set(group.alike) - set(order[:given_up])
        expected = group.rows * math.prod(group.alike[party] for party in sorted(kept))
        stays = waiting & (numbers[:, given_up] / 2.0**64 < expected / (1 + expected))
        gone[stays], partners[stays] = given_up, expected
        waiting &= ~stays
    changed = gone > order.index(name) if name in order else np.zeros(len(numbers), dtype=bool)
    return changed, partners


def _varied(own: OwnTable, codes: Rows, chosen: Chosen, tied: Collection[str]) -> Rows:
    """This party's part of the dummy rows: that of the chosen rows, with exchanged values where it changes one."""
    draw, columns = generator(), list(own.columns.values())
    made, which = codes[chosen.rows], np.flatnonzero(chosen.changed)
    fixed = np.array([name in tied for name in own.columns])
    turns = (draw.random((len(which), len(columns))) + fixed).argsort(axis=1)  # columns that stay come last
    changes = _number_of_changes(own, turns, chosen.partners[which], draw)
    changes = np.minimum(changes, int((~fixed).sum()))
    for step in range(int(changes.max(initial=0))):
        for place, column in enumerate(columns):
            mine = which[(changes > step) & (turns[:, step] == place)]
            if len(mine):
                made[mine, place] = _exchanged(column, codes, made[mine], place, draw)
    return made


def _number_of_changes(own: OwnTable, turns: Counts, partners: Floats, draw: np.random.Generator) -> Counts:
    """How many values of each part are exchanged.

    One, if a value can be exchanged for one of its group. Otherwise so many that what is left is common enough.
    """
    changes, names = np.ones(len(turns), dtype=np.int64), list(own.columns)
    if any(_has_groups(column) for column in own.columns.values()):
        return changes
    waiting = np.arange(len(turns))
    for step in range(1, len(names)):
        kept = np.sort(turns[waiting, step:], axis=1)
        different, of = np.unique(kept, axis=0, return_inverse=True)
        chances = np.array([chance_alike(own, [names[place] for place in left]) for left in different.tolist()])
        expected = partners[waiting] * chances[of.reshape(-1)]
        waiting = waiting[draw.random(len(waiting)) >= expected / (1 + expected)]
        if not len(waiting):
            break
        changes[waiting] += 1
    return changes


def _has_groups(column: LabelledColumn) -> bool:
    """Whether the labels one level up divide the values into groups: neither single values nor all of them."""
    if column.levels.shape[1] < 3:
        return False
    return 1 < len(np.unique(column.levels[:, 1])) < len(column.levels)


def _exchanged(column: LabelledColumn, codes: Rows, rows: Rows, place: int, draw: np.random.Generator) -> Codes:
    """Another value for each row, of a row that has the same label one level up and agrees in other columns.

    Rows are sorted by these, so that those that agree are next to each other.
    """
    whole = np.concatenate([codes, rows])
    keys = [whole[:, other] for other in draw.permutation(codes.shape[1]).tolist() if other != place]
    if _has_groups(column):
        keys.append(column.levels[:, 1][whole[:, place]])
    order = np.lexsort([draw.random(len(whole)), *keys])
    existing = order < len(codes)
    known, position = order[existing], np.cumsum(existing)[np.argsort(order)[len(codes) :]]
    found: Codes = rows[:, place].copy()
    same = np.arange(len(rows))
    for reach in range(2, 2 + 2 * TRIES, 2):
        near = position[same] + draw.integers(-reach, reach, size=len(same))
        found[same] = codes[known[np.clip(near, 0, len(known) - 1)], place]
        same = same[found[same] == rows[same, place]]
    return found
