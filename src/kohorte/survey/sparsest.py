"""The sparsest table: an integer z >= -1 with given sums and as few cells other than 0 as possible (see tables.py).

Optimal, by search: cell after cell is decided to be single (z = 0) or not. Values are not guessed. A category all of
whose cells are decided, and of which one has no value yet, gives it that value. Branches end where a category cannot
get its sum any more, or where the cells that are not single already, and those that will have to be, are too many: in
each question a category with a lack needs as many more as it lacks, and one with a surplus needs one. Complexity:
exponential in the number of cells; ended after `MOST_STEPS`, with what is proven until then.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

MOST_SEARCHED_CELLS = 64
MOST_STEPS = 20_000


def fewest_not_single(
    margins: Sequence[Sequence[int]], *, at_least: int, below: int, most_steps: int = MOST_STEPS
) -> tuple[int, int]:
    """How many cells at least do not hold exactly one person: proven bound, and the fewest of any table that is known.

    `at_least` so many are needed, and a table with `below` is known. A table with the least number is looked for, then
    one with a cell more, and so on; each time that there is none the bound rises.
    """
    search = _Search(sorted(margins, key=len, reverse=True), most_steps)
    for count in range(at_least, below):
        try:
            search.run(count)
        except _Found:
            return count, count
        except _Ended:
            return count, below
    return below, below


class _Found(Exception):
    """There is a table with so few cells that are not single."""


class _Ended(Exception):
    """The search takes too long."""


@dataclass
class _State:
    """What is decided: per category the sum that is missing, cells undecided, and the cells without a value."""

    missing: list[int]
    undecided: list[int]
    valueless: list[tuple[int, ...]]
    used: int = 0

    def copy(self) -> _State:
        return _State(self.missing.copy(), self.undecided.copy(), self.valueless.copy(), self.used)


@dataclass
class _Search:
    margins: Sequence[Sequence[int]]
    most_steps: int
    steps: int = 0
    most: int = 0

    def __post_init__(self) -> None:
        count = math.prod(len(block) for block in self.margins)
        starts = list(itertools.accumulate((len(block) for block in self.margins), initial=0))
        self.blocks = [range(start, end) for start, end in itertools.pairwise(starts)]
        self.cells = list(itertools.product(*self.blocks))
        undecided = [count // len(block) for block in self.margins for _ in block]
        people = [number for block in self.margins for number in block]
        missing = [number - cells for number, cells in zip(people, undecided, strict=True)]
        self.start = _State(missing, undecided, [() for _ in missing])

    def run(self, most: int) -> None:
        """Raise _Found if there is a table with at most so many cells that are not single."""
        self.most = most
        self._decide(0, self.start)

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.most_steps:
            raise _Ended

    def _decide(self, number: int, state: _State) -> None:
        self._step()
        if state.used + self._needed(state) > self.most:
            return
        if number == len(self.cells):
            self._give_values(state)
            return
        for single in (True, False):
            later = state.copy()
            for category in self.cells[number]:
                later.undecided[category] -= 1
                if not single:
                    later.valueless[category] += (number,)
            later.used += not single
            if self._settle(later, self.cells[number]):
                self._decide(number + 1, later)

    def _settle(self, state: _State, categories: Sequence[int]) -> bool:
        """Give the values that follow; False where there is a contradiction."""
        waiting = list(categories)
        while waiting:
            category = waiting.pop()
            missing, open_cells = state.missing[category], state.valueless[category]
            if missing < -state.undecided[category] - len(open_cells):
                return False
            if state.undecided[category] == 0:
                if not open_cells and missing:
                    return False
                if len(open_cells) == 1:
                    if missing == 0:
                        return False
                    waiting += self._give(state, open_cells[0], missing)
        return True

    def _give(self, state: _State, cell: int, value: int) -> tuple[int, ...]:
        for category in self.cells[cell]:
            state.missing[category] -= value
            state.valueless[category] = tuple(other for other in state.valueless[category] if other != cell)
        return self.cells[cell]

    def _needed(self, state: _State) -> int:
        """How many more cells cannot be single: the largest number over the questions."""
        return max(sum(self._needed_in(state, category) for category in block) for block in self.blocks)

    def _needed_in(self, state: _State, category: int) -> int:
        missing, valueless = state.missing[category], len(state.valueless[category])
        if missing < 0:
            return max(0, -missing - valueless)
        return int(valueless == (0 if missing else 1))

    def _give_values(self, state: _State) -> None:
        """All cells are decided; try values for those that nothing gives one."""
        self._step()
        open_cells = {cell for cells in state.valueless for cell in cells}
        if not open_cells:
            raise _Found
        cell = min(open_cells)
        most = min(state.missing[place] + len(state.valueless[place]) - 1 for place in self.cells[cell])
        for value in (*range(most, 0, -1), -1):
            later = state.copy()
            if self._settle(later, self._give(later, cell, value)):
                self._give_values(later)
