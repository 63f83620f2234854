"""How well dummy rows can be told from real ones by what can be counted: measured in each run, and certified.

The member that knows the rows sorts them by how rare they are, in several ways, and divides them into steps. The one
that decrypts learns how many rows and how many people are in each step, and so how often a guess would be right; the
other one learns nothing.

Source
    The area under the ROC curve: Hanley and McNeil, The Meaning and Use of the Area under a Receiver Operating
    Characteristic (ROC) Curve, Radiology 143(1), 1982.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kohorte.kernels.arrays import Codes, Counts
from kohorte.parties.dummy_rows.imitation import Rarity
from kohorte.parties.dummy_rows.whole import generator
from kohorte.parties.sealed import malformed

STEPS = 16
SOME = 4_000
"""At most so many different rows are compared, drawn at random: each costs a few additions under encryption."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Some of the different rows, and for each way to guess the step of each of them.

    Steps are numbered through all ways; `rows` is how many rows each has.
    """

    chosen: Counts = field(repr=False)
    step_of: Codes = field(repr=False)
    rows: Counts = field(repr=False)

    @property
    def count(self) -> int:
        """The number of steps of all ways."""
        return len(self.rows)


def steps_of(different: Codes, sizes: Counts) -> Steps:
    """Divide different rows, each of which occurs `sizes` times, into steps.

    The ways to guess: how often they, their values, pairs and triples of values occur, how much values go together, and
    how many rows differ in one value only.
    """
    draw = generator()
    chosen = _drawn(different, sizes, draw)
    rarity = Rarity(different, sizes, draw)
    ways = [*rarity.features(rarity.of_existing(different[chosen]), sizes[chosen]).T, sizes[chosen].astype(np.float64)]
    found = []
    for number, way in enumerate(ways):
        bounds = np.unique(np.quantile(way, np.linspace(0, 1, STEPS + 1)[1:-1]))
        found.append(number * STEPS + np.searchsorted(bounds, way, side="right"))
    step_of = np.stack(found)
    weights = np.tile(sizes[chosen], len(ways))
    rows = np.bincount(step_of.reshape(-1), weights=weights, minlength=STEPS * len(ways)).astype(np.int64)
    return Steps(chosen, step_of.astype(np.uint32), rows)


def _drawn(different: Codes, sizes: Counts, draw: np.random.Generator) -> Counts:
    """Some of the different rows, at random; those that occur as often, as do all their values, are drawn together.

    A row and its mirror image do: both are drawn or neither, so that mirrored rows are told exactly by chance.
    """
    often = [sizes, *(np.bincount(column, weights=sizes)[column] for column in different.T)]
    marks = draw.integers(2**63, size=len(often), dtype=np.uint64)
    keys = (np.stack(often, axis=1).astype(np.uint64) * marks).sum(axis=1, dtype=np.uint64)
    _, alike, members = np.unique(keys, return_inverse=True, return_counts=True)
    order = draw.permutation(len(members))
    drawn = order[np.cumsum(members[order]) <= SOME]
    if not len(drawn):  # more rows are alike than are compared
        return draw.permutation(len(different))[:SOME]
    return np.flatnonzero(np.isin(alike, drawn))


def told(rows: Counts, people: Counts) -> float:
    """How often the best way tells which of a dummy row and a real row is the dummy row: 0.5 is chance, 1 is always."""
    if len(rows) != len(people) or len(rows) % STEPS or (people > rows).any() or (people < 0).any():
        raise malformed("it does not say how many rows and people are as rare as each other")
    best = 0.5
    for real, dummy in zip(people.reshape(-1, STEPS), (rows - people).reshape(-1, STEPS), strict=True):
        if not real.sum() or not dummy.sum():
            continue
        below = np.cumsum(real) - real
        area = float((dummy * (below + real / 2)).sum()) / float(real.sum() * dummy.sum())
        best = max(best, area, 1 - area)
    return best
