"""The default search: finds the global optimum with few checks.

The constants below, and the slopes and intercepts of the guesses, are our own choice, without a recorded measurement.
They decide the order in which nodes are counted. They affect the number of checks, never the result: it is exact.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from operator import add, sub
from typing import ClassVar

import numpy as np

from kohorte.kernels import best_covers, least_likely
from kohorte.kernels.arrays import Bools, Flags, Floats
from kohorte.lattice import Lattice, Node, Parts
from kohorte.search.base import Evaluation, OutOfTime, Problem, Recalled, Search, SearchResult
from kohorte.search.flash import Flash
from kohorte.search.surrogate import additive_guess, entropies, rare_rows, value_counts
from kohorte.search.tags import Region

SUPPRESSION_SPREAD, FLOOR_SPREAD = 0.7, 0.3
"""Standard deviations of a guess: of the log odds of suppression, and of the binary logarithm of the floor."""
FIRST_CHECKS = 24
"""The first checks run one at a time, because each improves the guesses considerably."""
REACH, REACH_WITHOUT_LIMIT = 3.0, 6.0
"""Nodes whose log odds are further from the limit than this get a larger variance; the second is for a limit of 0."""
COLUMN_DOUBT = 64.0
"""A factor of the variance for single columns, which say little about where a limit above 0 is reached."""
ROUNDING = 1e-9
"""A tolerance for rounding errors in differences of costs."""


class Optimal(Search):
    """Branch and bound over the whole lattice.

    A node is open until it is counted, is finer than a node at which too many rows are gone, or has a lower bound
    above the best cost. Bounds come from the columns alone, from finer nodes (`floor`) and from coarser nodes (`gone`).
    The next node to count is a likely better solution or, if there is none, the node that is expected to exclude the
    most extreme open nodes.

    If no row may be suppressed and the models require no class size, there is no basis for guesses; then it bisects
    paths as basic Flash does, if models and metric are monotone.

    Optimal or heuristic
        Optimal for every model and metric: it ends when no node is open. Ties are broken by height, then by
        levels from left to right.
    Complexity
        At most one check per node; with 5 % suppression about a tenth of the checks of Flash on the benchmark tables.
    """

    name: ClassVar[str] = "optimal"

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        if _no_basis_for_guesses(problem):
            return Flash().run(problem)
        state = _State(problem)
        complete = True
        try:
            while state.begin_some():
                problem.watch_time()
                state.finish_one()
                problem.report(state.settled, state.lower_bound)
        except OutOfTime:
            complete = False
            while state.counting:
                state.finish_one()
        return SearchResult(
            problem.best,
            optimal=complete,
            lower_bound=state.lower_bound(),
            checked=problem.checked,
            tagged=problem.lattice.size - problem.checked if complete else state.settled() - problem.checked,
        )


class _State:
    """The bounds and tags of all nodes, as arrays of the lattice's shape, and the guesses learnt so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.costing = problem.costing
        counts = value_counts(problem.marginals)
        rare = rare_rows(counts, self.costing.smallest_class)
        excluded = problem.marginals.rows - float(counts[0][0].sum())
        self.lowest = tuple(_first_within(rows + excluded, problem.limit) for rows in rare)
        self.lattice = Lattice(
            tuple(length - low for length, low in zip(problem.lattice.shape, self.lowest, strict=True))
        )
        self.floor: Floats = self.lattice.sum(self._cut(self.costing.parts))
        self.gone: Floats = _largest(self._cut(rare)).reshape(self.lattice.shape) + excluded
        self.surplus: Floats = np.zeros(self.lattice.shape)  # a lower bound for what suppressed rows add to the floor
        self.bound: Floats = self._bound((...,))
        self.closed: Bools = np.zeros(self.lattice.shape, dtype=bool)  # counted, or known to fail
        self.holds: Bools = np.zeros(self.lattice.shape, dtype=bool)  # known to be a solution
        self.open: Bools = np.ones(self.lattice.shape, dtype=bool)
        self.planned: list[Node] = []
        self.counting: deque[tuple[Node, Callable[[], Evaluation]]] = deque()
        bits = self._cut(entropies(counts))
        self.best_position = self.lattice.size  # of the best solution, in the order that breaks ties
        self.suppression = additive_guess(bits, slope=0.8, intercept=-9.0)
        self.floors = additive_guess(bits, slope=-0.3, intercept=math.log2(float(self.floor.max()) + 1.0))
        self._learn_columns(self._cut(rare))
        if problem.recalled is not None:
            self._recall(problem.recalled)

    def _recall(self, recalled: Recalled) -> None:
        """Begin with what is known of nodes that earlier searches have counted: bounds, and likely solutions."""
        nodes = np.array(recalled.nodes, dtype=np.int64).reshape(-1, len(self.lowest)) - np.array(self.lowest)
        inside = (nodes >= 0).all(axis=1)
        where = tuple(nodes[inside].T)
        np.maximum.at(self.gone, where, recalled.gone[inside])
        spread_to_finer(self.gone)
        if self.costing.finer_suppression_costs_more and not self.costing.exact:
            np.maximum.at(self.surplus, where, recalled.added[inside] * (1.0 - ROUNDING) - ROUNDING)
            spread_to_finer(self.surplus)
        self.closed |= self.gone > self.problem.limit
        self.bound = self._bound((...,))
        self.open = ~self.closed
        for solved in recalled.solved:
            node = tuple(map(sub, solved, self.lowest))
            if min(node) >= 0 and self.open[node]:
                self._begin(node)
                self.finish_one()

    def _cut(self, parts: Parts) -> Parts:
        """Leave out the levels at which a single column has more rows with rare values than may be suppressed."""
        return [part[low:] for part, low in zip(parts, self.lowest, strict=True)]

    def _bound(self, where: Region) -> Floats:
        if self.costing.exact:
            return self.floor[where]
        return self.costing.at_least(self.floor[where], self.gone[where]) + self.surplus[where]

    # Counting nodes, and conclusions from a counted node

    def begin_some(self) -> bool:
        """Start to count as many nodes as may be counted at the same time; return whether any are being counted."""
        most = 1 if self.problem.checked < FIRST_CHECKS else self.problem.ahead
        while len(self.counting) < most:
            node = self._planned_node() or self._choose_next()
            if node is None:
                break
            self._begin(node)
        return bool(self.counting)

    def _planned_node(self) -> Node | None:
        """The next of the nodes that were chosen together, if it can still exclude an open node."""
        while self.planned:
            node = self.planned.pop()
            if not self.closed[node] and not self.holds[node] and self.open[self.lattice.below(node)].any():
                return node
        return None

    def _choose_next(self) -> Node | None:
        """Choose the next node, assuming that the nodes being counted turn out as guessed."""
        really_open = self.open
        if self.counting:
            self.open = self._open_after_guesses()
        node = self.choose()
        self.open = really_open
        return node

    def _open_after_guesses(self) -> Bools:
        """The nodes that would still be open if the nodes being counted turned out as guessed."""
        would_be_open = self.open.copy()
        limit = self._log_odds(self.problem.limit)
        for node, _ in self.counting:
            if self.holds[node] or self.suppression.at(node) <= limit:
                would_be_open &= self.bound < self.bound[node]
            else:
                would_be_open[self.lattice.below(node)] = False
        return would_be_open

    def _begin(self, node: Node) -> None:
        self.closed[node] = True
        self.open[node] = False
        self.counting.append((node, self.problem.start(tuple(map(add, node, self.lowest)))))

    def finish_one(self) -> None:
        """Wait for the node that was started first, and draw all conclusions from it."""
        node, finish = self.counting.popleft()
        self._conclude(node, self.problem.accept(finish()))
        if self.costing.exact and self.problem.monotone and not self.costing.monotone:
            self._accept_known_solutions()

    def _conclude(self, node: Node, evaluation: Evaluation) -> None:
        if self.problem.best is evaluation:
            self.best_position = int(self.lattice.order[node])
        self._learn(node, evaluation)
        if evaluation.solution and self.problem.monotone:
            self.holds[self.lattice.above(node)] = True
        self._exclude_finer(node, evaluation)
        if self.costing.raises_floor:
            above = self.lattice.above(node)
            np.maximum(self.floor[above], evaluation.floor, out=self.floor[above])
            self._raise_bound(above)
        if self.problem.best is evaluation:
            self.open = ~self.closed & self._may_win((...,))

    def _exclude_finer(self, node: Node, evaluation: Evaluation) -> None:
        """Close all finer nodes if too many rows are gone, otherwise raise their bounds."""
        below = self.lattice.below(node)
        if evaluation.gone > self.problem.limit:
            self.closed[below] = True
            self.open[below] = False
        elif not self.costing.exact:
            np.maximum(self.gone[below], self._gone_beyond_floor(evaluation), out=self.gone[below])
            if self.costing.finer_suppression_costs_more and self.problem.monotone and evaluation.solution:
                surplus = (evaluation.cost - float(self.floor[node])) * (1.0 - ROUNDING) - ROUNDING
                np.maximum(self.surplus[below], surplus, out=self.surplus[below])
            self._raise_bound(below)

    def _gone_beyond_floor(self, evaluation: Evaluation) -> int:
        """How many of the gone rows may be used in the bounds of finer nodes.

        A metric that raises its floor by suppressed rows assumes that they are in classes smaller than the smallest
        class that may be kept. If a model suppressed larger classes, this bound can exceed the cost of the node
        itself; then only the rows in small classes are used.
        """
        if not self.costing.raises_floor:
            return evaluation.gone
        if self.problem.monotone and evaluation.solution:
            own = self.costing.at_least(np.array(evaluation.floor), evaluation.gone)
            if own <= evaluation.cost:
                return evaluation.gone
        return evaluation.small

    def _raise_bound(self, where: Region) -> None:
        self.bound[where] = self._bound(where)
        self.open[where] &= self._may_win(where)

    def _may_win(self, where: Region) -> Bools:
        best = self.problem.best
        if best is None:
            return np.ones_like(self.open[where])
        bound = self.bound[where]
        verdict: Bools = bound < best.cost
        ties = bound == best.cost
        if ties.any():
            verdict |= ties & (self.lattice.order[where] < self.best_position)
        return verdict

    def _accept_known_solutions(self) -> None:
        """Count the cheapest open node that is known to be a solution, if costs are known without counting."""
        known = self.open & self.holds
        if known.any():
            index = np.flatnonzero(known.ravel())
            order = np.lexsort((self.lattice.order.ravel()[index], self.floor.ravel()[index]))
            self._begin(self.lattice.node(int(index[order[0]])))

    # The choice of the next node

    def _log_odds(self, suppressed: float) -> float:
        rows = self.problem.marginals.rows
        suppressed = min(max(suppressed, 0.0), rows)
        return math.log2((suppressed + 0.5) / (rows - suppressed + 0.5))

    def _learn_columns(self, rare: Parts) -> None:
        """Learn how many rows with rare values would be suppressed at nodes with a single generalized column.

        With a limit above 0, such nodes are far from the border between solutions and others. They help only if the
        costs have to be guessed as well.
        """
        if self.problem.limit > 0 and self.costing.exact:
            return
        top = self.lattice.top
        doubt = 1.0 if self.problem.limit == 0 else COLUMN_DOUBT
        for axis, rows in enumerate(rare):
            for level, suppressed in enumerate(rows):
                node = (*top[:axis], level, *top[axis + 1 :])
                self._learn_suppression(node, float(suppressed), doubt)

    def _learn_suppression(self, node: Node, suppressed: float, doubt: float = 1.0) -> None:
        limit = self._log_odds(self.problem.limit)
        seen = self._log_odds(suppressed)
        if suppressed <= self.problem.limit == 0:  # 0 suppressed rows do not tell how far the node is from the limit
            seen = min(self.suppression.at(node), limit - 1.0)
        reach = REACH_WITHOUT_LIMIT if self.problem.limit == 0 else REACH
        variance = SUPPRESSION_SPREAD**2 * (1.0 + ((seen - limit) / reach) ** 2)
        self.suppression.learn(node, seen, doubt * variance)

    def _learn(self, node: Node, evaluation: Evaluation) -> None:
        self._learn_suppression(node, evaluation.gone)
        if self.costing.raises_floor and evaluation.floor > 0:
            self.floors.learn(node, math.log2(evaluation.floor), FLOOR_SPREAD**2)

    def choose(self) -> Node | None:
        """Return the node to count next: a likely better solution, otherwise the one that excludes the most nodes."""
        best = self.problem.best
        limit = float(self.problem.limit)
        if best is not None:
            limit = min(limit, self.costing.most_suppressed(best.cost))
        fails = self.suppression.scores(self._log_odds(limit), SUPPRESSION_SPREAD)
        rises = self.floors.scores(self._log_best(), FLOOR_SPREAD) if self.costing.raises_floor else None
        sure = self.holds if limit >= self.problem.limit else np.zeros_like(self.holds)
        index = self._promising(sure, fails, rises)
        if index < 0:
            index = self._widest(self.closed | sure, fails, rises)
        if index < 0:
            if not self.open.any():
                return None
            index = int(np.where(self.open, self.bound, np.inf).argmin())
        return self.lattice.node(index)

    def _log_best(self) -> float:
        best = self.problem.best
        return 1e9 if best is None else math.log2(max(best.cost, 1e-9))

    def _promising(self, sure: Bools, fails: Score, rises: Score | None) -> int:
        """Return the open node that is likely a solution and has the lowest bound (or guessed floor); -1 if none.

        `sure` are the known solutions; it is empty if the best cost allows fewer suppressed rows than the limit.
        """
        values = self.bound.ravel() if rises is None else np.add.outer(*rises).ravel()
        index: int = least_likely(values, _flags(self.open), _flags(sure), *fails)
        hope = 0.0 if self.costing.monotone else 1.0  # a floor that equals the cost is guessed more precisely
        if index >= 0 and rises is not None and values[index] >= hope:
            return -1  # not even the best guess beats the best found
        return index

    def _widest(self, barred: Bools, fails: Score, rises: Score | None) -> int:
        """Return the node that is expected to exclude the most nodes, below it (it fails) or above it (its floor)."""
        shape, is_open = list(self.lattice.shape), _flags(self.open)
        ahead = self.problem.ahead > 1 and self.problem.checked >= FIRST_CHECKS
        at_once = 2 if ahead and rises is None else 1  # the second choice cannot use the first result anyway
        covers = best_covers(shape, is_open, _flags(barred), *fails, False, at_once)
        if rises is not None:
            covers += best_covers(shape, is_open, _flags(self.closed), *rises, True, 1)
            covers.sort(key=lambda cover: -cover[1])
        if not covers:
            return -1
        self.planned = [self.lattice.node(index) for index, _ in covers[1:at_once]]
        return int(covers[0][0])

    # Progress

    def settled(self) -> int:
        """The number of nodes that are decided."""
        return int(self.problem.lattice.size - np.count_nonzero(self.open)) - len(self.counting)

    def lower_bound(self) -> float:
        """A lower bound for the cost of every solution."""
        best = self.problem.best.cost if self.problem.best else math.inf
        begun = min((float(self.bound[node]) for node, _ in self.counting), default=math.inf)
        return min(best, begun, float(np.min(self.bound, where=self.open, initial=math.inf)))


def _no_basis_for_guesses(problem: Problem) -> bool:
    """Whether no row may be suppressed, no class size is required, and Flash can solve the problem."""
    return problem.limit == 0 and problem.costing.smallest_class == 1 and Flash().refuse(problem) is None


Score = tuple[Floats, Floats]
"""A guess for every node, as sums over the first and over the second half of the attributes."""


def _first_within(rows: Floats, limit: float) -> int:
    """Return the first level at which at most `limit` rows have rare values, or the top level."""
    within = rows <= limit
    return int(within.argmax()) if within.any() else len(rows) - 1


def _largest(parts: Parts) -> Floats:
    """For every node, the largest number among those of its levels."""
    largest: Floats = np.zeros(1)
    for part in parts:
        largest = np.maximum.outer(largest, part).ravel()
    return largest


def spread_to_finer(bounds: Floats) -> None:
    """Let every node have at least the bound of each coarser node."""
    for axis in range(bounds.ndim):
        coarsest_first = np.flip(bounds, axis)
        np.maximum.accumulate(coarsest_first, axis=axis, out=coarsest_first)


def _flags(nodes: Bools) -> Flags:
    return nodes.ravel().view(np.uint8)
