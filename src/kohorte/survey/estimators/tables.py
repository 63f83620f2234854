"""Build tables with given margins in which many cells hold exactly one person.

Let x be the number of people in a cell and z = x - 1. A cell has one person if z = 0. If a category has c people and
K cells, its z sum to c - K, its *surplus*. A table with many single cells therefore consists of integers z >= -1 with
the right sums, few of which are not 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

MOST_CELLS = 100_000
MOST_EMPTIED = 500
FEW_CELLS = 100
MOST_ANSWERS = 2_000_000
TRIALS = 30
ROUNDS = 400


def singles_of_a_table(margins: Sequence[Sequence[int]], *, enough: int) -> int:
    """Return how many single cells the best table found has; 0 if the survey is too large to build one."""
    generator = np.random.default_rng(0)
    cells, people = math.prod(len(counts) for counts in margins), sum(margins[0])
    emptied = max(sum(max(0, cells // len(counts) - count) for count in counts) for counts in margins)
    crowded = cells <= MOST_CELLS and emptied <= MOST_EMPTIED and emptied * cells <= 10 * MOST_CELLS
    found = 0 if crowded and people > cells else _shuffled(margins, generator, enough=enough)
    for trial in range(TRIALS if cells <= FEW_CELLS else 2) if crowded else ():
        if found >= enough:
            break
        found = max(found, cells - len(sparse_table(margins, generator if trial else None)))
    return found


def sparse_table(
    margins: Sequence[Sequence[int]], generator: np.random.Generator | None = None
) -> dict[tuple[int, ...], int]:
    """A table with these margins, as people minus one for each cell that does not have exactly one person.

    First, cells are emptied if a category has fewer people than cells, starting with the largest lack. Then the surplus
    goes into as few cells as possible: each takes all that one of its categories has left (north-west corner rule), so
    that there are at most as many as categories. Both steps always succeed: a lack never grows, a category has at least
    as many cells as it lacks people, and without a lack all surpluses have the same sum.
    """
    cells = math.prod(len(counts) for counts in margins)
    surplus = [np.array(counts) - cells // len(counts) for counts in margins]
    table: dict[tuple[int, ...], int] = {}
    while lacking := [number for number, block in enumerate(surplus) if (block < 0).any()]:
        cell = _cell_to_empty(surplus, table, lacking[0], generator)
        _add(surplus, table, cell, -1)
    while surplus[0].any():
        cell = tuple(_largest(block, generator) for block in surplus)
        _add(surplus, table, cell, min(int(block[position]) for block, position in zip(surplus, cell, strict=True)))
    return {cell: value for cell, value in table.items() if value}


def _cell_to_empty(
    surplus: Sequence[npt.NDArray[np.int64]],
    table: dict[tuple[int, ...], int],
    lacking: int,
    generator: np.random.Generator | None,
) -> tuple[int, ...]:
    """A cell that is not yet empty, in the category with the largest lack, and in others with a large lack."""
    orders = [np.argsort(block + _noise(block, generator)) for block in surplus]
    orders[lacking] = np.array([int(np.argmin(surplus[lacking]))])
    shape = [len(order) for order in orders]
    for number in range(math.prod(shape)):
        positions = _digits(number, shape)
        cell = tuple(int(order[position]) for order, position in zip(orders, positions, strict=True))
        if cell not in table:
            return cell
    raise AssertionError("a category has at least as many cells as it lacks people")


def _digits(number: int, shape: Sequence[int]) -> list[int]:
    """The digits of a number; small numbers give cells that come early in every order."""
    digits = []
    for length in reversed(shape):
        number, digit = divmod(number, length)
        digits.append(digit)
    return digits[::-1]


def _largest(block: npt.NDArray[np.int64], generator: np.random.Generator | None) -> int:
    if generator is None:
        return int(np.argmax(block))
    return int(generator.choice(np.flatnonzero(block > 0)))


def _noise(block: npt.NDArray[np.int64], generator: np.random.Generator | None) -> npt.NDArray[np.float64]:
    return np.zeros(len(block)) if generator is None else generator.random(len(block)) * 2


def _add(
    surplus: Sequence[npt.NDArray[np.int64]], table: dict[tuple[int, ...], int], cell: tuple[int, ...], people: int
) -> None:
    table[cell] = table.get(cell, 0) + people
    for block, position in zip(surplus, cell, strict=True):
        block[position] -= people


def _shuffled(margins: Sequence[Sequence[int]], generator: np.random.Generator, *, enough: int) -> int:
    """Shuffle the answers independently, then let people who are not alone exchange answers while that helps."""
    people = sum(margins[0])
    rounds = min(ROUNDS, MOST_ANSWERS // (people * len(margins)))
    if not rounds:
        return 0
    answers = [generator.permutation(np.repeat(np.arange(len(counts)), counts)) for counts in margins]
    alone = _alone(answers)
    for turn in range(rounds):
        if alone.sum() >= enough or alone.all():
            break
        block = turn % len(answers)
        mixed = _some_of_both(alone, generator, all_of_them=turn < len(answers))
        tried = list(answers)
        tried[block] = answers[block].copy()
        tried[block][mixed] = generator.permutation(answers[block][mixed])
        now = _alone(tried)
        if now.sum() >= alone.sum():
            answers, alone = tried, now
    return int(alone.sum())


def _some_of_both(
    alone: npt.NDArray[np.bool_], generator: np.random.Generator, *, all_of_them: bool
) -> npt.NDArray[np.int64]:
    """Some people who are not alone, and equally many others."""
    together = np.flatnonzero(~alone)
    size = len(together) if all_of_them else int(generator.integers(1, min(len(together), 8) + 1))
    chosen = generator.choice(together, size=size, replace=False)
    return np.unique(np.concatenate([chosen, generator.choice(len(alone), size=size, replace=False)]))


def _alone(answers: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.bool_]:
    """Whether each person is alone in their cell."""
    cells = np.zeros(len(answers[0]), dtype=np.int64)
    for block in answers:
        _, cells = np.unique(cells * (int(block.max()) + 1) + block, return_inverse=True)
    return np.asarray(np.bincount(cells)[cells] == 1)
