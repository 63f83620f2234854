"""A solution space that is counted bit by bit: the optimum first, then its neighbours, then the others, near to far.

A page can show the optimum and its neighbours at once, while a large space takes several seconds. Each call of `count`
works for a limited time; when every node has been counted, the table is no longer kept.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kohorte.data import to_polars
from kohorte.errors import InputError
from kohorte.in_words import Unit
from kohorte.kernels.arrays import Bools, Floats, Integers
from kohorte.lattice import Lattice, Node
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.plan import Plan
from kohorte.plans.search_options import SearchOptions
from kohorte.progress import Progress
from kohorte.release.anonymization import SearchSetup, run_to_the_end, set_up_search
from kohorte.release.preparation import encode_problem
from kohorte.release.words import unit_of
from kohorte.search import Evaluation, Optimal
from kohorte.sources import FrameSource
from kohorte.space.level_names import Examples, examples_of, meanings

MOST_NODES = 60_000
"""A picture with more combinations could not be read, and counting them would take minutes."""
MOST_ROWS = 250_000
"""The most different rows of a table, which stay in memory until every combination has been counted."""


@dataclass(frozen=True)
class Counted:
    """What is known about a node; `cost` is infinite if it is not a solution."""

    node: Node
    cost: float
    suppressed: int
    classes: int
    smallest_class: int | None

    @property
    def solution(self) -> bool:
        """Whether the node satisfies the plan."""
        return math.isfinite(self.cost)


class Exploration:
    """All nodes of a plan's lattice, as far as they have been counted; several threads may use it.

    Whatever search, time limit or levels the plan names, all of its combinations of levels are counted.
    """

    def __init__(self, frame: object, plan: Plan) -> None:
        self.plan = replace(plan, search=SearchOptions(threads=1))
        encoded = encode_problem(FrameSource(to_polars(frame)[0]), self.plan, by_row=False)
        self._setup: SearchSetup | None = set_up_search(encoded)
        self.lattice: Lattice = self._setup.problem.lattice
        _refuse_large(self.lattice, self._setup)
        self.rows = encoded.table.rows
        self.people = None if encoded.table.persons is None else encoded.table.persons.count
        self.notes = person_notes(encoded.source, self.plan)
        self._examples = examples_of(encoded.table, self.plan)
        self._lock = threading.Lock()
        size = self.lattice.size
        self.costs: Floats = np.full(size, np.nan)
        self.suppressed: Integers = np.zeros(size, dtype=np.int64)
        self._classes: Integers = np.zeros(size, dtype=np.int64)
        self._smallest: Integers = np.zeros(size, dtype=np.int64)
        self._order: list[int] = []
        self._next = 0
        self.proven = False
        """Whether the search has proven that the best node is the optimum."""
        self._middle: Node = self.lattice.top

    # What the space is about

    @property
    def attributes(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the order of the levels of a node."""
        return self.plan.quasi_identifiers

    @property
    def limit(self) -> int:
        """The number of rows that may be suppressed."""
        return self.plan.most_suppressed(self.rows)

    @property
    def unit(self) -> Unit:
        """What the models and the smallest class count."""
        return unit_of(self.plan)

    def levels(self, node: Node) -> dict[str, int]:
        """The levels of a node in the hierarchies; node levels count from minimum_level."""
        return {
            name: least + level for (name, least), level in zip(self.plan.minimum_levels.items(), node, strict=True)
        }

    def node_of(self, levels: dict[str, int]) -> Node | None:
        """The node with these levels; None if the space has no such node."""
        if set(levels) != set(self.attributes):
            return None
        node = tuple(levels[name] - least for name, least in self.plan.minimum_levels.items())
        return node if all(0 <= level <= top for level, top in zip(node, self.lattice.top, strict=True)) else None

    def meanings(self, *, examples: bool) -> tuple[tuple[str, ...], ...]:
        """The levels of each attribute in words, the finest first; with labels that many share as `examples`."""
        ranges = {
            name: range(least, least + length)
            for (name, least), length in zip(self.plan.minimum_levels.items(), self.lattice.shape, strict=True)
        }
        builders = {name: self.plan.attributes[name].hierarchy for name in self.attributes}
        given: Examples = self._examples if examples else ()
        return meanings(builders, ranges, given)

    # Counting

    @property
    def counted(self) -> Bools:
        """Tell for each node whether it has been counted."""
        return np.asarray(~np.isnan(self.costs))

    @property
    def complete(self) -> bool:
        """Whether every node has been counted."""
        return self._setup is None

    @property
    def best(self) -> Counted | None:
        """The best solution known: by cost, then height, then levels; the optimum once `proven` or `complete`."""
        least = float(np.fmin.reduce(self.costs, initial=math.inf))
        if not math.isfinite(least):
            return None
        equal = (self.lattice.node(int(index)) for index in np.flatnonzero(self.costs == least))
        return self.at(min(equal, key=lambda node: (sum(node), node)))

    @property
    def middle(self) -> Counted:
        """The best solution or, without one, the counted node with the fewest suppressed rows."""
        best = self.best
        if best is not None:
            return best
        known = np.where(self.counted, self.suppressed, np.iinfo(np.int64).max)
        return self.at(self.lattice.node(int(np.argmin(known))) if self.counted.any() else self._middle)

    def at(self, node: Node) -> Counted:
        """What is known about a node, which is counted now if it was not before."""
        index = self.index(node)
        if np.isnan(self.costs[index]):
            with self._lock:
                self._count_one(node)
        smallest = int(self._smallest[index]) or None
        cost, suppressed = float(self.costs[index]), int(self.suppressed[index])
        return Counted(node, cost, suppressed, int(self._classes[index]), smallest)

    def beside(self, node: Node, axis: int, step: int) -> Counted | None:
        """The node one step away along an attribute; None if there is no further level."""
        level = node[axis] + step
        return self.at((*node[:axis], level, *node[axis + 1 :])) if 0 <= level < self.lattice.shape[axis] else None

    def index(self, node: Node) -> int:
        """The position of a node in the order of the lattice."""
        return int(np.ravel_multi_index(node, self.lattice.shape))

    def count(self, seconds: float) -> None:
        """Search the optimum, and count further nodes, for about so many seconds; then return, done or not."""
        until = time.monotonic() + seconds
        with self._lock:
            if not self._order and self._setup is not None:
                self._search(lambda: time.monotonic() < until)
            while self._next < len(self._order) and time.monotonic() < until:
                self._count_one(self.lattice.node(self._order[self._next]))
                self._next += 1
            if self._next == len(self._order):
                self._setup = None

    def _search(self, patient: Callable[[], bool]) -> None:
        """Find the optimum; if there is not enough time, the best node so far, and counting goes on from there."""
        assert self._setup is not None

        def go_on(progress: Progress) -> bool:
            del progress
            return patient()

        result = run_to_the_end(Optimal(), replace(self._setup.problem, progress=go_on))
        self._middle = self._middle if result.best is None else result.best.node
        self.proven = result.optimal
        self._count_one(self._middle)
        levels = np.indices(self.lattice.shape).reshape(len(self.lattice.shape), -1).T
        far = np.abs(levels - np.array(self._middle)).sum(axis=1)
        self._order = np.argsort(far, kind="stable").tolist()

    def _count_one(self, node: Node) -> None:
        index = self.index(node)
        if self._setup is None or not np.isnan(self.costs[index]):
            return
        judge = replace(self._setup.evaluator, bounds=False, least_suppressed=0)
        found: Evaluation = judge(node)
        self.suppressed[index], self._classes[index] = found.suppressed, found.classes
        self._smallest[index] = found.smallest_class or 0
        self.costs[index] = found.cost  # last: it says that the node has been counted


def _refuse_large(lattice: Lattice, setup: SearchSetup) -> None:
    if lattice.size > MOST_NODES:
        raise InputError(
            f"the plan has more than {MOST_NODES:,} combinations of levels, too many for a picture: use fewer "
            "quasi-identifiers, hierarchies with fewer levels, or a minimum_level",
            code="lattice-too-large",
        )
    if setup.engine.distinct_rows > MOST_ROWS:
        raise InputError(
            f"the table has more than {MOST_ROWS:,} different rows, too many to explore all combinations here; "
            "kohorte lattice does it on the command line",
            code="explore-too-large",
        )
