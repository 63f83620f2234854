"""Parallel Flash: several paths at the same time."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from typing import ClassVar

from kohorte.lattice import Node
from kohorte.search.base import Evaluation, OutOfTime, Problem, Search, SearchResult
from kohorte.search.flash import Flash, Queue, find_path, middle
from kohorte.search.tags import Tags, flash_sequence, monotone_only


class FlashParallel(Search):
    """Parallel Flash: each thread counts nodes of its own path; current paths have no node in common.

    Tags, priority queue and history are shared. The worker threads only count; the calling thread builds the paths,
    sets the tags and calls the progress callback, so no locks are needed.

    Optimal or heuristic
        Optimal for monotone models with monotone metrics (case 1); everything else is refused. The answer is the
        same for any number of threads.
    Complexity
        With one thread it is basic Flash; with more it checks a few nodes more, because a path does not wait for the
        results of the others.
    Source
        Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, TU München, 2015,
        section 3.7.2, algorithms 10 to 12.
    """

    name: ClassVar[str] = "flash_parallel"

    def refuse(self, problem: Problem) -> str | None:
        """Only monotone models and metrics can be searched by bisection."""
        return monotone_only(problem)

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        if problem.ahead == 1:
            return Flash().run(problem)
        paths = _Paths(problem)
        return paths.tags.result_of(paths.search)


class _Paths:
    """The current paths; the middle node of each is being counted."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.tags = Tags(problem, flash_sequence(problem.lattice, problem.marginals))
        self.starts = self.tags.untagged()
        self.queue: Queue = []
        self.taken: set[Node] = set()
        self.counting: deque[tuple[list[Node], Callable[[], Evaluation]]] = deque()

    def search(self) -> None:
        """Bisect paths until every node is tagged; if time runs out, finish the nodes that were started."""
        try:
            while self._start_paths():
                path, finish = self.counting.popleft()
                self._continue(path, self._accept(finish))
        except OutOfTime:
            while self.counting:
                self._accept(self.counting.popleft()[1])
            raise

    def _start_paths(self) -> bool:
        """Give every idle thread a path, if there is one; return whether any thread is busy."""
        while len(self.counting) < self.problem.ahead and (start := self._next_start()) is not None:
            path = find_path(self.tags, start, taken=self.taken)
            self.taken.update(path)
            self._count_middle(path)
        return bool(self.counting)

    def _next_start(self) -> Node | None:
        """The next node that is neither tagged nor in a path; generalizations of nodes that failed come first.

        All nodes of a path are tagged when it ends, so a node that is skipped here need not be considered again.
        """
        while self.queue:
            for successor in self.tags.untagged_successors(self.queue[0][1]):
                if successor not in self.taken:
                    return successor
            heapq.heappop(self.queue)
        return next((node for node in self.starts if node not in self.taken), None)

    def _count_middle(self, path: list[Node]) -> None:
        self.problem.watch_time()
        self.counting.append((path, self.problem.start(path[middle(path)])))

    def _accept(self, finish: Callable[[], Evaluation]) -> Evaluation:
        evaluation = self.problem.accept(finish())
        self.tags.conclude(evaluation)
        return evaluation

    def _continue(self, path: list[Node], evaluation: Evaluation) -> None:
        """Continue with the undecided half of a path, without nodes that other paths have tagged."""
        position = middle(path)
        if not evaluation.solution:
            heapq.heappush(self.queue, (int(self.tags.order[evaluation.node]), evaluation.node))
        rest = path[:position] if evaluation.solution else path[position + 1 :]
        rest = [node for node in rest if not self.tags.tagged[node]]
        self.taken.difference_update(path)
        self.taken.update(rest)
        self.tags.report()
        if rest:
            self._count_middle(rest)
