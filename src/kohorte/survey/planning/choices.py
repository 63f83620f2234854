"""All combinations of merges of a survey, with remaining entropy, number of changes and changed questions.

The entropy of the answers is a sum over independent questions, so the combinations are built question by question. If
there are too many, those of almost the same entropy and the same number of changes are represented by one: `complete`
is then False, and a result may lose slightly more than necessary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kohorte.survey.planning.merging import Option

MOST_COMBINATIONS = 200_000
BUCKETS = 1_000
MOST_STATES = 30_000
MOST_OPTIONS = 64
MOST_MASKED = 62
SAME = 2
"""Decimals of a bit that are considered."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Choices:
    """Combinations of options, one of each unit: entropies, changes, and which units are changed (as bits)."""

    entropies: npt.NDArray[np.float64]
    changes: Integers
    touched: Integers
    steps: tuple[tuple[Integers, Integers], ...]
    complete: bool

    def options(self, row: int) -> list[int]:
        """The option of each unit in a combination."""
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
        before, position = np.divmod(np.arange(len(entropies) * len(chosen), dtype=np.int64), len(chosen))
        option = chosen[position]
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
    """Of all combinations with the same changes and almost the same entropy, the one with the largest entropy.

    The least entropy of each number of changes is kept as well, so that everything reachable stays reachable.
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
    """A short list of combinations, the largest entropy first.

    A combination is dominated by another that keeps at least as much entropy with at most as many changes in a subset
    of the questions. Differences below a hundredth of a bit are ignored: they do not justify three more merged
    categories. If the list is too long, those that keep most for their number of changes are preferred.
    """
    best = _best_of_each(rows, choices)
    found: list[int] = []
    for row in best:
        if not any(_dominates(choices, other, row) for other in found):
            found.append(row)
    front = [
        row for position, row in enumerate(found) if choices.changes[row] < min(_changes(choices, found[:position]))
    ]
    kept = [*front[: most - 1], *front[-1:]] if len(front) > most else front
    kept += [row for row in found if row not in kept][: most - len(kept)]
    return sorted(kept, key=found.index)


def _changes(choices: Choices, rows: Sequence[int]) -> list[int]:
    return [int(choices.changes[row]) for row in rows] or [2**62]


def _best_of_each(rows: Integers, choices: Choices) -> list[int]:
    """The combination with the largest entropy for each number of changes and each set of changed questions."""
    entropies, changes = choices.entropies[rows], choices.changes[rows]
    order = np.lexsort((-np.round(entropies, 9), changes, -np.round(entropies, SAME)))
    kinds = np.stack([choices.touched[rows][order], changes[order]], axis=1)
    _, first = np.unique(kinds, axis=0, return_index=True)
    best: list[int] = rows[order][np.sort(first)].tolist()
    return best


def _dominates(choices: Choices, one: int, other: int) -> bool:
    """Whether the first, which keeps at least as much, has at most as many changes in a subset of the questions."""
    fewer = choices.changes[one] <= choices.changes[other]
    within = choices.touched[one] & ~choices.touched[other] == 0
    return bool(fewer and within)
