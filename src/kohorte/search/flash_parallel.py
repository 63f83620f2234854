"""Parallel Flash: several paths at the same time."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from typing import ClassVar

from kohorte.lattice import Node
from kohorte.search.base import Evaluation, OutOfTime, Problem, SearchResult
from kohorte.search.flash import Flash, Queue, find_path, middle
from kohorte.search.tags import Tags, flash_sequence, monotone_only


class FlashParallel:
    """Parallel Flash: each thread bisects a path of its own, of nodes that are in no other current path.

    Tags, priority queue and history are shared. The threads count; paths are built and tags are set in between by
    the thread that called the search, so that nothing needs a lock and a callback runs where the caller runs.

    Optimal or heuristic
        Optimal for monotone models with monotone metrics (case 1); everything else is refused. The answer is the
        same for any number of threads.
    Complexity
        As basic Flash, which it is with one thread; a few checks more, since a path cannot wait for what the others
        are about to find.
    Source
        Kohlmayer, dissertation, 2015, section 3.7.2, algorithms 10 to 12.
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
    """The current paths, each with its middle node that is being counted."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.tags = Tags(problem, flash_sequence(problem.lattice, problem.marginals))
        self.starts = self.tags.untagged()
        self.queue: Queue = []
        self.taken: set[Node] = set()
        self.counting: deque[tuple[list[Node], Callable[[], Evaluation]]] = deque()

    def search(self) -> None:
        """Bisect paths until every node is tagged; when the time is over, what was begun is still counted."""
        try:
            while self._start_paths():
                path, finish = self.counting.popleft()
                self._go_on(path, self._accept(finish))
        except OutOfTime:
            while self.counting:
                self._accept(self.counting.popleft()[1])
            raise

    def _start_paths(self) -> bool:
        """Give every idle thread a path, where there is one; tell whether any thread is busy."""
        while len(self.counting) < self.problem.ahead and (start := self._next_start()) is not None:
            path = find_path(self.tags, start, taken=self.taken)
            self.taken.update(path)
            self._count_middle(path)
        return bool(self.counting)

    def _next_start(self) -> Node | None:
        """A generalization of a node that failed, or else the next node, that is neither tagged nor in a path.

        All nodes of a path are tagged when it ends, so one that is passed over here need not be looked at again.
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

    def _go_on(self, path: list[Node], evaluation: Evaluation) -> None:
        """Go on with the half of a path that is still open, but for what other paths have settled of it."""
        place = middle(path)
        if not evaluation.solution:
            heapq.heappush(self.queue, (int(self.tags.order[evaluation.node]), evaluation.node))
        rest = path[:place] if evaluation.solution else path[place + 1 :]
        rest = [node for node in rest if not self.tags.tagged[node]]
        self.taken.difference_update(path)
        self.taken.update(rest)
        self.tags.report()
        if rest:
            self._count_middle(rest)
