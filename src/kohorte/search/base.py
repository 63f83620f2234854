"""The input and the output of every search. A search sees a lattice and evaluates nodes; it never sees rows."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from kohorte.groups import Marginals
from kohorte.kernels.arrays import Floats
from kohorte.lattice import Lattice, Node
from kohorte.metrics import Costing
from kohorte.progress import Progress, ProgressCallback


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is known about a node after counting it; `cost` is infinite if the node is not a solution.

    If it is not a solution, `suppressed` may be only a lower bound and the classes may be unknown.
    """

    node: Node
    solution: bool
    cost: float
    suppressed: int
    classes: int
    smallest_class: int | None
    floor: float = -math.inf  # a lower bound for the cost of every generalization
    gone: int = 0  # a lower bound for the rows that are suppressed here and at every specialization
    small: int = 0  # how many of them are in classes smaller than the models require
    extra: int = 0  # suppressed rows of classes that satisfy the models, because too few other rows are suppressed


@dataclass(frozen=True)
class Recalled:
    """What earlier searches on the same table have found, with other parameters.

    At `nodes[i]` and at every specialization of it, at least `gone[i]` rows are suppressed; at `nodes[i]` itself, they
    add at least `added[i]` to the parts. `solved` are nodes that were the best ones then: some of them are likely to be
    good solutions now.
    """

    nodes: Sequence[Node]
    gone: Floats
    added: Floats
    solved: Sequence[Node]


class OutOfTime(Exception):
    """The time limit has passed, or the progress callback asked to stop."""


@dataclass(frozen=True)
class Options:
    """The options of single algorithms.

    `weights` (Datafly): how readily each attribute is generalized, from 0 (never) to 1. `identification` (mu-Argus):
    how identifying each attribute is. `steps` and `seed` (hill climbing, least loss): the number of steps and the
    random seed. `cells` and `strict` (least loss): what cells may be, and whether regions must not overlap. `threads`
    never change the answer.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    identification: Mapping[str, str] = field(default_factory=dict)
    steps: int | None = None
    seed: int = 0
    cells: str | None = None
    strict: bool = False
    threads: int | None = None


@dataclass
class Problem:
    """One search: evaluates nodes, keeps the best solution, checks the time limit and reports progress."""

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
    ahead: int = 1  # how many nodes may be started before the first one is finished
    recalled: Recalled | None = None  # what is known from earlier searches on the same table
    best: Evaluation | None = None
    checked: int = 0
    started: float = field(default_factory=time.monotonic)
    _reported: float = 0.0

    def evaluate(self, node: Node) -> Evaluation:
        """Count a node, and remember it if it is the best solution so far."""
        self.watch_time()
        self.checked += 1
        return self.accept(self.count(node))

    def watch_time(self) -> None:
        """Raise `OutOfTime` if the time limit has passed and at least one node has been counted."""
        if self.time_limit is not None and self.checked and time.monotonic() - self.started > self.time_limit:
            raise OutOfTime

    def count_ahead(self, nodes: Iterator[Node]) -> Iterator[Evaluation]:
        """Count nodes in the given order; up to `ahead` are counted at the same time. The best node is not updated."""
        counting: deque[Callable[[], Evaluation]] = deque()
        try:
            for node in nodes:
                self.watch_time()
                counting.append(self.start(node))
                if len(counting) >= self.ahead:
                    yield counting.popleft()()
        except OutOfTime:
            while counting:
                yield counting.popleft()()
            raise
        while counting:
            yield counting.popleft()()

    def start(self, node: Node) -> Callable[[], Evaluation]:
        """Start to count a node; call the returned function once for the result. The best node is not updated."""
        self.checked += 1
        if self.begin is None or self.ahead == 1:
            return lambda: self.count(node)
        return self.begin(node)

    def accept(self, evaluation: Evaluation) -> Evaluation:
        """Remember an evaluation if it is the best solution so far."""
        if evaluation.solution and self.better(evaluation.cost, evaluation.node):
            self.best = evaluation
        return evaluation

    def better(self, cost: float, node: Node) -> bool:
        """Whether a solution of this cost at this node is better than the best: by cost, then height, then levels."""
        if self.best is None or cost != self.best.cost:
            return self.best is None or cost < self.best.cost
        return (sum(node), node) < (sum(self.best.node), self.best.node)  # as `Lattice.order`, without an array

    def report(
        self, settled: Callable[[], int], lower_bound: Callable[[], float], *, unit: str = "combinations"
    ) -> None:
        """Call the progress callback, at most ten times a second; without a `unit` nobody knows how far it is."""
        if self.progress is None:
            return
        now = time.monotonic()
        if now - self._reported < 0.1:
            return
        self._reported = now
        best_cost = self.best.cost if self.best else None
        left = None if self.time_limit is None else max(0.0, self.time_limit - (now - self.started))
        found = Progress(self.checked, self.lattice.size, settled(), best_cost, lower_bound(), unit=unit, ends_in=left)
        if self.progress(found) is False:
            raise OutOfTime


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best node found. `optimal`: no node is better; otherwise no node costs less than `lower_bound`.

    `heuristic`: the search does not try to prove that its result is optimal.
    `checked` nodes were counted; `tagged` nodes were decided without counting them.
    """

    best: Evaluation | None
    optimal: bool
    lower_bound: float
    checked: int
    tagged: int
    heuristic: bool = False


class Search(Protocol):
    """An algorithm that searches the lattice; `name` is its published name.

    `lists_nodes`: it keeps arrays with an entry for every node, which limits the size of the lattice.
    `suppresses_k_or_none`: the suppressed rows are as many as a class needs, or none.
    """

    name: ClassVar[str]
    lists_nodes: ClassVar[bool] = True
    suppresses_k_or_none: ClassVar[bool] = False

    def refuse(self, problem: Problem) -> str | None:
        """Return why this search cannot solve the problem; None if it can, which is the default."""
        del problem
        return None

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
