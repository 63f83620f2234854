"""The default search: global optimum, with few checks."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from operator import add
from typing import ClassVar

import numpy as np

from kohorte.kernels import best_covers, least_likely
from kohorte.kernels.arrays import Bools, Flags, Floats
from kohorte.lattice import Lattice, Node, Parts
from kohorte.search.base import Evaluation, OutOfTime, Problem, SearchResult
from kohorte.search.flash import Flash
from kohorte.search.surrogate import additive_guess, entropies, rare_rows, value_counts
from kohorte.search.tags import Region

SUPPRESSION_SPREAD = 0.7
FLOOR_SPREAD = 0.3
FIRST_CHECKS = 24
"""So many checks teach the guesses so much that none is begun before the last one is known."""
REACH, REACH_WITHOUT_LIMIT = 3.0, 6.0
"""What lies further from the limit than this is doubted the more: a limit of 0 is far from everything."""
COLUMN_DOUBT = 64.0
"""Single columns lie far from a limit above 0, and so tell little of where it is reached."""
ROUNDING = 1e-9
"""How far a difference of costs may be off."""


class Optimal:
    """Branch and bound over the whole lattice at once.

    A node stays open until it is counted, lies below a node where too many rows are suppressed for good, or has a
    lower bound above the best cost. Bounds come from the columns alone, from finer nodes (`floor`) and from
    coarser nodes (a row that is suppressed there is suppressed here). The next node to count is the one that
    promises most: a likely better solution, or the exclusion of as many extreme open nodes as possible.

    Without suppression, and where the models ask for no class size, guesses have nothing to begin with; then it
    bisects paths as basic Flash does.

    Optimal or heuristic
        Optimal for every model and metric: it ends when no node is open. Ties are broken by height, then by
        levels from left to right. Guesses decide the order of checks, never the answer.
    Complexity
        At most one check per node; with 5 % suppression about a tenth of the checks of Flash on the benchmark tables.
    """

    name: ClassVar[str] = "optimal"

    def refuse(self, problem: Problem) -> str | None:
        """Nothing is refused."""
        del problem
        return None

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        if _nothing_to_guess_by(problem):
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
            while state.under_way:
                state.finish_one()
        return SearchResult(
            problem.best,
            optimal=complete,
            lower_bound=state.lower_bound(),
            checked=problem.checked,
            tagged=problem.lattice.size - problem.checked if complete else state.settled() - problem.checked,
        )


class _State:
    """The tags of all nodes, as arrays of the lattice's shape, and the guesses learnt so far."""

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
        self.surplus: Floats = np.zeros(self.lattice.shape)  # what suppressed rows add to the parts, at least
        self.bound: Floats = self._bound((...,))
        self.closed: Bools = np.zeros(self.lattice.shape, dtype=bool)  # counted, or known to fail
        self.holds: Bools = np.zeros(self.lattice.shape, dtype=bool)  # known to be a solution
        self.open: Bools = np.ones(self.lattice.shape, dtype=bool)
        self.planned: list[Node] = []
        self.under_way: deque[tuple[Node, Callable[[], Evaluation]]] = deque()
        bits = self._cut(entropies(counts))
        self.best_place = self.lattice.size  # of the best solution, in the order that breaks ties
        self.suppression = additive_guess(bits, slope=0.8, intercept=-9.0)
        self.floors = additive_guess(bits, slope=-0.3, intercept=math.log2(float(self.floor.max()) + 1.0))
        self._learn_columns(self._cut(rare))

    def _cut(self, parts: Parts) -> Parts:
        """Leave the levels out at which a single column has more rare values than may be suppressed."""
        return [part[low:] for part, low in zip(parts, self.lowest, strict=True)]

    def _bound(self, where: Region) -> Floats:
        if self.costing.exact:
            return self.floor[where]
        return self.costing.at_least(self.floor[where], self.gone[where]) + self.surplus[where]

    # What a check settles

    def begin_some(self) -> bool:
        """Begin to count as many nodes as may be under way; tell whether any are."""
        most = 1 if self.problem.checked < FIRST_CHECKS else self.problem.ahead
        while len(self.under_way) < most:
            node = self._planned_node() or self._choose_beside()
            if node is None:
                break
            self._begin(node)
        return bool(self.under_way)

    def _planned_node(self) -> Node | None:
        """The next of the nodes that were chosen together, if it still settles anything."""
        while self.planned:
            node = self.planned.pop()
            if not self.closed[node] and not self.holds[node] and self.open[self.lattice.below(node)].any():
                return node
        return None

    def _choose_beside(self) -> Node | None:
        """Choose a node that is worth counting beside those under way."""
        really_open = self.open
        if self.under_way:
            self.open = self._open_after_guesses()
        node = self.choose()
        self.open = really_open
        return node

    def _open_after_guesses(self) -> Bools:
        """The nodes that would be open if the nodes under way turned out as guessed: others are worth more."""
        would_be_open = self.open.copy()
        limit = self._log_odds(self.problem.limit)
        for node, _ in self.under_way:
            if self.holds[node] or self.suppression.at(node) <= limit:
                would_be_open &= self.bound < self.bound[node]
            else:
                would_be_open[self.lattice.below(node)] = False
        return would_be_open

    def _begin(self, node: Node) -> None:
        self.closed[node] = True
        self.open[node] = False
        self.under_way.append((node, self.problem.start(tuple(map(add, node, self.lowest)))))

    def finish_one(self) -> None:
        """Wait for the node that was begun first, and draw all conclusions from it."""
        node, finish = self.under_way.popleft()
        self._conclude(node, self.problem.accept(finish()))
        if self.costing.exact and self.problem.monotone and not self.costing.monotone:
            self._accept_known_solutions()

    def _conclude(self, node: Node, evaluation: Evaluation) -> None:
        if self.problem.best is evaluation:
            self.best_place = int(self.lattice.order[node])
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
        """Rows that are suppressed at all finer nodes may be too many there, or raise the bounds."""
        below = self.lattice.below(node)
        if evaluation.gone > self.problem.limit:
            self.closed[below] = True
            self.open[below] = False
        elif not self.costing.exact:
            np.maximum(self.gone[below], self._gone_beyond_floor(evaluation), out=self.gone[below])
            if self.costing.surplus_lasts and self.problem.monotone and evaluation.solution:
                surplus = (evaluation.cost - float(self.floor[node])) * (1.0 - ROUNDING) - ROUNDING
                np.maximum(self.surplus[below], surplus, out=self.surplus[below])
            self._raise_bound(below)

    def _gone_beyond_floor(self, evaluation: Evaluation) -> int:
        """How many of the rows that are gone here may raise the floors of finer nodes.

        A metric that raises its floor by suppressed rows takes them to be of classes that are no larger than the
        smallest that may be kept. For a solution it says so itself: where a model suppressed larger classes, the
        node's own bound exceeds its cost.
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
            verdict |= ties & (self.lattice.order[where] < self.best_place)
        return verdict

    def _accept_known_solutions(self) -> None:
        """Where the cost is known without counting, a tagged solution need not be counted before it can be best."""
        known = self.open & self.holds
        if known.any():
            index = np.flatnonzero(known.ravel())
            order = np.lexsort((self.lattice.order.ravel()[index], self.floor.ravel()[index]))
            self._begin(self.lattice.node(int(index[order[0]])))

    # Which node to count next

    def _log_odds(self, suppressed: float) -> float:
        rows = self.problem.marginals.rows
        suppressed = min(max(suppressed, 0.0), rows)
        return math.log2((suppressed + 0.5) / (rows - suppressed + 0.5))

    def _learn_columns(self, rare: Parts) -> None:
        """Learn what nodes with only one column would suppress for their rare values.

        With a limit above 0 that is far from where solutions end, and only worth knowing when the costs are
        unknown, too.
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
        if suppressed <= self.problem.limit == 0:  # "none" hides by how much the limit was missed
            seen = min(self.suppression.at(node), limit - 1.0)
        reach = REACH_WITHOUT_LIMIT if self.problem.limit == 0 else REACH
        variance = SUPPRESSION_SPREAD**2 * (1.0 + ((seen - limit) / reach) ** 2)
        self.suppression.learn(node, seen, doubt * variance)

    def _learn(self, node: Node, evaluation: Evaluation) -> None:
        self._learn_suppression(node, evaluation.gone)
        if self.costing.raises_floor and evaluation.floor > 0:
            self.floors.learn(node, math.log2(evaluation.floor), FLOOR_SPREAD**2)

    def choose(self) -> Node | None:
        """Return the node to count next: a likely better solution, or else the one that excludes most."""
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
        """Return the node that is likely a solution and, by its bound or its guessed floor, the best of all.

        `sure` are known solutions, unless so many rows may be suppressed that hardly any of these can be the best.
        """
        values = self.bound.ravel() if rises is None else np.add.outer(*rises).ravel()
        index: int = least_likely(values, _flags(self.open), _flags(sure), *fails)
        hope = 0.0 if self.costing.monotone else 1.0  # a floor that is the cost itself is guessed better
        if index >= 0 and rises is not None and values[index] >= hope:
            return -1  # not even the best guess beats the best found
        return index

    def _widest(self, barred: Bools, fails: Score, rises: Score | None) -> int:
        """Return the node whose exclusion downwards (it fails) or upwards (its floor) settles most."""
        shape, is_open = list(self.lattice.shape), _flags(self.open)
        ahead = self.problem.ahead > 1 and self.problem.checked >= FIRST_CHECKS
        at_once = 2 if ahead and rises is None else 1  # what comes next is not known any sooner
        covers = best_covers(shape, is_open, _flags(barred), *fails, False, at_once)
        if rises is not None:
            covers += best_covers(shape, is_open, _flags(self.closed), *rises, True, 1)
            covers.sort(key=lambda cover: -cover[1])
        if not covers:
            return -1
        self.planned = [self.lattice.node(index) for index, _ in covers[1:at_once]]
        return int(covers[0][0])

    # How far the search is

    def settled(self) -> int:
        """How many nodes need no more attention."""
        return int(self.problem.lattice.size - np.count_nonzero(self.open)) - len(self.under_way)

    def lower_bound(self) -> float:
        """No solution costs less than this."""
        best = self.problem.best.cost if self.problem.best else math.inf
        begun = min((float(self.bound[node]) for node, _ in self.under_way), default=math.inf)
        return min(best, begun, float(np.min(self.bound, where=self.open, initial=math.inf)))


def _nothing_to_guess_by(problem: Problem) -> bool:
    """Whether nothing is suppressed and the models ask for no class size, so that guesses know neither.

    Where all is monotone, bisecting paths is as good then.
    """
    return problem.limit == 0 and problem.costing.smallest_class == 1 and Flash().refuse(problem) is None


Score = tuple[Floats, Floats]
"""A guess for every node, as the sums over the first and the second half of the attributes."""


def _first_within(rows: Floats, limit: float) -> int:
    """Return the first level at which no more rows than the limit are rare, or the top."""
    within = rows <= limit
    return int(within.argmax()) if within.any() else len(rows) - 1


def _largest(parts: Parts) -> Floats:
    """The largest of the numbers of a node's levels, for all nodes."""
    largest: Floats = np.zeros(1)
    for part in parts:
        largest = np.maximum.outer(largest, part).ravel()
    return largest


def _flags(nodes: Bools) -> Flags:
    return nodes.ravel().view(np.uint8)
