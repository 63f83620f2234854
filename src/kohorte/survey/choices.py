"""All combinations of merges of a survey, by what they leave: entropy, number of changes, questions touched.

The entropy of the answers is a sum over independent questions, so that the combinations are built question by
question. Where there are too many, those of almost the same entropy and the same number of changes are one: `complete`
is then False, and what is found may lose a little more than necessary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kohorte.survey.merging import Option

MOST_COMBINATIONS = 200_000
BUCKETS = 1_000
MOST_STATES = 30_000
MOST_OPTIONS = 64
MOST_MASKED = 62
SAME = 2
"""Decimals of a bit that count."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Choices:
    """Combinations of options, one of each unit: entropies, changes, and which units are touched (as bits)."""

    entropies: npt.NDArray[np.float64]
    changes: Integers
    touched: Integers
    steps: tuple[tuple[Integers, Integers], ...]
    complete: bool

    def options(self, row: int) -> list[int]:
        """Which option of each unit a combination has."""
        found = []
        for before, option in reversed(self.steps):
            found.append(int(option[row]))
            row = int(before[row])
        return found[::-1]


def all_choices(units: Sequence[Sequence[Option]], *, most: int = MOST_COMBINATIONS) -> Choices:
    """The combinations of one option of each unit."""
    complete = math.prod(len(options) for options in units) <= most
    width = 1e-12 if complete else sum(options[0].entropy for options in units) / BUCKETS
    entropies, changes, touched = np.zeros(1), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    steps = []
    for number, options in enumerate(units):
        entropy, own = _figures(options)
        chosen = np.arange(len(options)) if complete else _representatives(entropy, own, width, MOST_OPTIONS)
        before, place = np.divmod(np.arange(len(entropies) * len(chosen), dtype=np.int64), len(chosen))
        option = chosen[place]
        entropies, changes = entropies[before] + entropy[option], changes[before] + own[option]
        touched = touched[before] | ((own[option] > 0).astype(np.int64) << min(number, MOST_MASKED))
        if not complete:
            kept = _representatives(entropies, changes, width, MOST_STATES)
            before, option = before[kept], option[kept]
            entropies, changes, touched = entropies[kept], changes[kept], touched[kept]
        steps.append((before, option))
    return Choices(entropies, changes, touched, tuple(steps), complete)


def _figures(options: Sequence[Option]) -> tuple[npt.NDArray[np.float64], Integers]:
    entropies = np.array([option.entropy for option in options])
    return entropies, np.array([option.changes for option in options], dtype=np.int64)


def _representatives(entropies: npt.NDArray[np.float64], changes: Integers, width: float, most: int) -> Integers:
    """One of all combinations with the same changes and almost the same entropy: that with the largest.

    Beside them stays the least entropy of each number of changes, so that what can be reached at all is reached.
    """
    order = np.argsort(-entropies, kind="stable")
    _, least = np.unique(changes[order[::-1]], return_index=True)
    while True:
        buckets = np.floor(entropies[order] / max(width, 1e-12)).astype(np.int64)
        _, first = np.unique(changes[order] * (int(buckets.max()) + 1) + buckets, return_index=True)
        if len(first) <= most:
            return np.union1d(order[first], order[::-1][least])
        width *= 2


def non_dominated(rows: Integers, choices: Choices, most: int) -> list[int]:
    """A short list of combinations, that with the largest entropy first.

    A combination is dominated by one that keeps as much with as few changes in the same questions or fewer of them.
    Less than a hundredth of a bit does not count: nobody merges three categories more for it. Those that keep most for
    their number of changes come before others, should the list be too long.
    """
    best = _best_of_each(rows, choices)
    found: list[int] = []
    for row in best:
        if not any(_dominates(choices, other, row) for other in found):
            found.append(row)
    front = [row for place, row in enumerate(found) if choices.changes[row] < min(_changes(choices, found[:place]))]
    kept = [*front[: most - 1], *front[-1:]] if len(front) > most else front
    kept += [row for row in found if row not in kept][: most - len(kept)]
    return sorted(kept, key=found.index)


def _changes(choices: Choices, rows: Sequence[int]) -> list[int]:
    return [int(choices.changes[row]) for row in rows] or [2**62]


def _best_of_each(rows: Integers, choices: Choices) -> list[int]:
    """The combination with the largest entropy for each number of changes and each set of questions touched."""
    entropies, changes = choices.entropies[rows], choices.changes[rows]
    order = np.lexsort((-np.round(entropies, 9), changes, -np.round(entropies, SAME)))
    kinds = np.stack([choices.touched[rows][order], changes[order]], axis=1)
    _, first = np.unique(kinds, axis=0, return_index=True)
    best: list[int] = rows[order][np.sort(first)].tolist()
    return best


def _dominates(choices: Choices, one: int, other: int) -> bool:
    """Whether the first, which keeps as much, has as few changes in the same questions or fewer."""
    fewer = choices.changes[one] <= choices.changes[other]
    within = choices.touched[one] & ~choices.touched[other] == 0
    return bool(fewer and within)
