"""New combinations of values that are as rare as existing ones, so that rarity does not tell which are which.

Many combinations are made up by exchanging values between existing ones. For each existing combination that is to be
imitated, the one is chosen that is most like it in everything that can be counted: how often its values, pairs and
triples of values occur, how much its values go together, and whether others differ from it in one value only.

Source
    Choosing what is most alike in what can be observed: Rubin, Matching to Remove Bias in Observational Studies,
    Biometrics 29(1), 1973.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations as choose

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools, Counts, Floats

Rows = NDArray[np.uint32]
Marks = NDArray[np.uint64]

EACH, AT_LEAST, AT_ONCE = 32, 500, 5_000
"""How many combinations are made up for each that is wanted, and at least; how many are imitated at once."""

MOST_PARTS = 120
"""Of so many pairs of columns at most, and of so many triples, the values are counted; of more, some are drawn."""

FAR, THIRD, NARROW = 0.3, 0.1, 3
"""How often values come from any combination instead of one that agrees in a column, and from a third one.

With so few columns they always come from any combination: one that agrees in a column has nothing new to give.
"""

INVENTED = 0.5
"""How many of the combinations that are made up have invented values instead of those that only one combination has."""

BLUR = 0.2
"""How much features are blurred, in standard deviations: exact likeness would take the same values again and again."""

TOGETHER, ENOUGH, TRIED = 24, 8, 2_000
"""Combinations that are imitated at once; how many are to choose from for each, and at most for all of them."""


@dataclass(frozen=True, eq=False)
class Imitated:
    """New combinations, how many rows each stands for, and which of its values are to be replaced by invented ones."""

    rows: Rows = field(repr=False)
    repeated: Counts = field(repr=False)
    invented: Bools = field(repr=False)


def imitated(rows: Rows, sizes: Counts, targets: Counts, draw: np.random.Generator) -> Imitated:
    """New combinations like `rows[targets]`; fewer if too few can be made up.

    `rows` are different combinations, `sizes` how many rows each has. A value that only one combination has is either
    taken as it is, which makes it as rare as a value of two, or replaced by an invented one, which nobody else has.
    """
    rarity = Rarity(rows, sizes, draw)
    parts = np.array_split(targets, max(1, math.ceil(len(targets) / AT_ONCE)))
    found = [_imitated_at_once(rarity, rows, sizes, part, draw) for part in parts]
    return Imitated(
        np.concatenate([one.rows for one in found]),
        np.concatenate([one.repeated for one in found]),
        np.concatenate([one.invented for one in found]),
    )


def _imitated_at_once(
    rarity: Rarity, rows: Rows, sizes: Counts, targets: Counts, draw: np.random.Generator
) -> Imitated:
    made = _made_up(rows, EACH * len(targets) + AT_LEAST, draw)
    invented = rarity.private(made) & (draw.random((len(made), 1)) < INVENTED)
    counts, new = rarity.of_new(made, invented)
    made, invented, counts, left = made[new], invented[new], counts[new], np.ones(len(new), dtype=bool)
    of_targets = rarity.of_existing(rows[targets])
    chosen, repeated = [np.empty(0, dtype=np.int64)], [sizes[:0]]
    for size in np.unique(sizes[targets]).tolist():
        own, free = sizes[targets] == size, np.flatnonzero(left)
        wanted, offered = rarity.features(of_targets[own], size), rarity.features(counts[free] + size, size)
        found = free[_matched(wanted, offered, draw)]
        left[found] = False
        chosen.append(found)
        repeated.append(np.full(len(found), size))
    those = np.concatenate(chosen)
    return Imitated(made[those], np.concatenate(repeated), invented[those])


def _made_up(rows: Rows, count: int, draw: np.random.Generator) -> Rows:
    """Combinations with some values of another one, mostly of one that agrees in a column."""
    number, width = rows.shape
    base, donor = draw.integers(number, size=(2, count))
    via = draw.integers(width, size=count)
    for column in range(width):
        near = np.flatnonzero((via == column) & (draw.random(count) >= (FAR if width > NARROW else 1.0)))
        order = np.argsort(rows[:, column], kind="stable")
        ordered, wanted = rows[order, column], rows[base[near], column]
        low, high = np.searchsorted(ordered, wanted), np.searchsorted(ordered, wanted, side="right")
        donor[near] = order[low + (draw.random(len(near)) * (high - low)).astype(np.int64)]
    exchanged = draw.random((count, width)).argsort(axis=1).argsort(axis=1) < draw.integers(1, width + 1, (count, 1))
    third = exchanged & (draw.random((count, width)) < THIRD)
    made = np.where(exchanged, rows[donor], rows[base])
    return np.where(third, rows[draw.integers(number, size=(count, width)), np.arange(width)], made)


class Rarity:
    """How many rows have the values, pairs and triples of a combination, or all of it but one column."""

    def __init__(self, rows: Rows, sizes: Counts, draw: np.random.Generator) -> None:
        width = rows.shape[1]
        self._draw, self._marks = draw, [_random_marks(int(rows[:, c].max()) + 1, draw) for c in range(width)]
        self._private = [np.bincount(rows[:, column]) == 1 for column in range(width)]
        self._pairs = _some(list(choose(range(width), 2)), draw)
        triples = _some(list(choose(range(width), 3)), draw) if width > 3 else []
        rests = [tuple(c for c in range(width) if c != out) for out in range(width)] if width > 3 else []
        self._parts: list[Sequence[int]] = [*((c,) for c in range(width)), *self._pairs, *triples, *rests]
        self._ends = np.cumsum([width, len(self._pairs), len(triples)])
        marked = self._marked(rows)
        self._known = [_counted(_sum(marked, part), sizes) for part in self._parts]
        self._whole = _counted(_sum(marked, range(width)), sizes)

    def _marked(self, rows: Rows) -> Marks:
        """A random number for each value; sums of them stand for combinations."""
        return np.stack([marks[rows[:, column]] for column, marks in enumerate(self._marks)], axis=1)

    def of_existing(self, rows: Rows) -> Counts:
        """The counts of existing combinations."""
        return self._counts(self._marked(rows))

    def private(self, rows: Rows) -> Bools:
        """Which values only one combination has."""
        return np.stack([private[rows[:, column]] for column, private in enumerate(self._private)], axis=1)

    def of_new(self, rows: Rows, invented: Bools) -> tuple[Counts, Counts]:
        """The counts of made-up combinations with some invented values, and which of them do not exist, each once."""
        marked = self._marked(rows)
        marked[invented] = _random_marks(int(invented.sum()), self._draw)
        keys = _sum(marked, range(rows.shape[1]))
        _, once = np.unique(keys, return_index=True)
        return self._counts(marked), once[_looked_up(self._whole, keys[once]) == 0]

    def _counts(self, marked: Marks) -> Counts:
        parts = zip(self._known, self._parts, strict=True)
        return np.stack([_looked_up(known, _sum(marked, part)) for known, part in parts], axis=1)

    def features(self, counts: Counts, size: Counts | int) -> Floats:
        """What makes combinations of `size` rows rare, in logarithms: one row more matters where there are few."""
        values, pairs, triples, rests = np.split(np.log(counts), self._ends, axis=1)
        found = [values.min(axis=1), values.sum(axis=1)]
        if self._pairs:
            one, other = np.array(self._pairs).T
            tied = pairs - values[:, one] - values[:, other]  # how much values go together
            found += [pairs.min(axis=1), pairs.sum(axis=1), tied.min(axis=1), tied.sum(axis=1)]
        if rests.shape[1]:
            others = counts[:, self._ends[-1] :].sum(axis=1) - rests.shape[1] * size  # they differ in one value only
            near = (rests > np.log(np.reshape(size, (-1, 1)))).sum(axis=1).astype(float)
            found += [triples.sum(axis=1), rests.sum(axis=1), near, np.log1p(others)]
        return np.stack(found, axis=1)


def _some(parts: list[tuple[int, ...]], draw: np.random.Generator) -> list[tuple[int, ...]]:
    """All parts, or as many of them as are counted."""
    return [parts[place] for place in np.sort(draw.permutation(len(parts))[:MOST_PARTS])]


def _random_marks(count: int, draw: np.random.Generator) -> Marks:
    return draw.integers(2**63, size=count, dtype=np.uint64)


def _sum(marked: Marks, part: Sequence[int]) -> Marks:
    total: Marks = marked[:, list(part)].sum(axis=1, dtype=np.uint64)
    return total


def _counted(keys: Marks, sizes: Counts) -> tuple[Marks, Counts]:
    found, of = np.unique(keys, return_inverse=True)
    return found, np.bincount(of, weights=sizes).astype(np.int64)


def _looked_up(known: tuple[Marks, Counts], keys: Marks) -> Counts:
    found, counts = known
    place = np.minimum(np.searchsorted(found, keys), len(found) - 1)
    return np.where(found[place] == keys, counts[place], 0)


def _matched(targets: Floats, candidates: Floats, draw: np.random.Generator) -> Counts:
    """For each target another candidate that is like it; some targets get none if there are too few.

    Both are divided again and again at the median of targets, as long as each half has enough candidates; then the
    nearest is taken.
    """
    spread = targets.std(axis=0) + 1e-3
    own_features, features = (part / spread + draw.normal(0, BLUR, part.shape) for part in (targets, candidates))
    chosen = [np.empty(0, dtype=np.int64)]
    waiting = [(np.arange(len(targets)), np.arange(len(candidates)))]
    while waiting:
        own, others = waiting.pop()
        halves = _halves(own_features[own], features[others]) if len(own) > TOGETHER else None
        if halves is None:
            chosen += _nearest(own_features[own], features, others, draw)
        else:
            low, below = halves
            waiting += [(own[low], others[below]), (own[~low], others[~below])]
    return np.concatenate(chosen)


def _halves(own: Floats, others: Floats) -> tuple[Bools, Bools] | None:
    """Divide by the feature that differs most, if each half then has enough candidates for each target."""
    for by in np.argsort(-own.std(axis=0)):
        middle = np.median(own[:, by])
        low, below = own[:, by] <= middle, others[:, by] <= middle
        halves = ((low.sum(), below.sum()), ((~low).sum(), (~below).sum()))
        if all(few and many >= ENOUGH * few for few, many in halves):
            return low, below
    return None


def _nearest(own: Floats, features: Floats, others: Counts, draw: np.random.Generator) -> list[Counts]:
    """For each target the nearest candidate that is left; of very many candidates only some are tried."""
    left, found = draw.permutation(others), []
    for part in np.array_split(own, max(1, len(own) // TOGETHER)):
        tried, left = left[:TRIED], left[TRIED:]
        distance = ((features[tried][None] - part[:, None]) ** 2).sum(axis=2)
        taken: list[int] = []
        for row in range(min(len(part), len(tried))):
            taken.append(int(distance[row].argmin()))
            distance[:, taken[-1]] = np.inf
        found.append(tried[taken])
        left = np.concatenate([np.delete(tried, taken), left])
    return found
