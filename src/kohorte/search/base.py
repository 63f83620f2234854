"""What every search gets and gives: a lattice and a way to evaluate a node. No search sees rows."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from kohorte.groups import Marginals
from kohorte.lattice import Lattice, Node
from kohorte.quality import Costing


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is known of a node after counting it; `cost` is infinite where the node is no solution.

    Of a node that is none, a search may know only some of the suppressed rows, and nothing of its classes.
    """

    node: Node
    solution: bool
    cost: float
    suppressed: int
    classes: int
    smallest_class: int | None
    floor: float = -math.inf  # no generalization costs less
    gone: int = 0  # so many rows are suppressed here and at every specialization, at least
    small: int = 0  # so many of them are in classes below the size that the models ask for


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search has come: the optimum costs at least `lower_bound` and at most `best_cost`."""

    checked: int
    nodes: int
    settled: int
    best_cost: float | None
    lower_bound: float


ProgressCallback = Callable[[Progress], object]
"""Called now and then; returning False stops the search, which then returns the best found."""


class OutOfTime(Exception):
    """The time limit has passed, or the progress callback asked to stop."""


@dataclass(frozen=True)
class Options:
    """What single algorithms let a user choose.

    `weights` (Datafly): how readily each attribute is generalized, from 0 (never) to 1. `identification` (mu-Argus):
    how identifying each attribute is. `steps` and `seed` (hill climbing): when it stops, and where it starts.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    identification: Mapping[str, str] = field(default_factory=dict)
    steps: int | None = None
    seed: int = 0


@dataclass
class Problem:
    """One search: evaluates nodes, keeps the best solution, counts, watches the clock, reports progress."""

    lattice: Lattice
    count: Callable[[Node], Evaluation]
    costing: Costing
    marginals: Marginals
    limit: int
    monotone: bool
    options: Options = field(default_factory=Options)
    time_limit: float | None = None
    progress: ProgressCallback | None = None
    begin: Callable[[Node], Callable[[], Evaluation]] | None = None
    ahead: int = 1  # so many nodes may be begun before the first of them is finished
    best: Evaluation | None = None
    checked: int = 0
    started: float = field(default_factory=time.monotonic)
    _reported: float = 0.0

    def evaluate(self, node: Node) -> Evaluation:
        """Count a node, and remember it when it is the best solution so far."""
        self.watch_time()
        self.checked += 1
        return self.accept(self.count(node))

    def watch_time(self) -> None:
        """End the search when its time is over; one node is always counted."""
        if self.time_limit is not None and self.checked and time.monotonic() - self.started > self.time_limit:
            raise OutOfTime

    def count_ahead(self, nodes: Iterator[Node]) -> Iterator[Evaluation]:
        """Count nodes in their order; the next ones are begun while one is looked at. Nothing is remembered yet."""
        under_way: deque[Callable[[], Evaluation]] = deque()
        try:
            for node in nodes:
                self.watch_time()
                under_way.append(self.start(node))
                if len(under_way) >= self.ahead:
                    yield under_way.popleft()()
        except OutOfTime:
            while under_way:
                yield under_way.popleft()()
            raise
        while under_way:
            yield under_way.popleft()()

    def start(self, node: Node) -> Callable[[], Evaluation]:
        """Begin to count a node; it is finished by calling what is returned, once. Nothing is remembered yet."""
        self.checked += 1
        if self.begin is None or self.ahead == 1:
            return lambda: self.count(node)
        return self.begin(node)

    def accept(self, evaluation: Evaluation) -> Evaluation:
        """Remember an evaluation when it is the best solution so far."""
        if evaluation.solution and self.better(evaluation.cost, evaluation.node):
            self.best = evaluation
        return evaluation

    def better(self, cost: float, node: Node) -> bool:
        """Tell whether a solution of this cost at this node beats the best: by cost, then height, then levels."""
        if self.best is None or cost != self.best.cost:
            return self.best is None or cost < self.best.cost
        return bool(self.lattice.order[node] < self.lattice.order[self.best.node])

    def report(self, settled: Callable[[], int], lower_bound: Callable[[], float]) -> None:
        """Tell the progress callback where the search is, a few times a second."""
        if self.progress is None:
            return
        now = time.monotonic()
        if now - self._reported < 0.1:
            return
        self._reported = now
        best_cost = self.best.cost if self.best else None
        if self.progress(Progress(self.checked, self.lattice.size, settled(), best_cost, lower_bound())) is False:
            raise OutOfTime


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best node found. `optimal`: no node of the lattice is better; otherwise none costs less than `lower_bound`.

    `heuristic`: the search never asked whether there is a better one.
    `checked` nodes were counted, `tagged` nodes were settled without counting them.
    """

    best: Evaluation | None
    optimal: bool
    lower_bound: float
    checked: int
    tagged: int
    heuristic: bool = False


class Search(Protocol):
    """A way through the lattice, by its published name."""

    name: ClassVar[str]

    def refuse(self, problem: Problem) -> str | None:
        """Say why this search cannot solve the problem, or None when it can."""

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
