"""Tables recoded by sets of splits, in NumPy: the cost of a set, and the best set.

The values of an attribute have an order; `positions[row, a]` is the position of a row's value in it. A split (a, p)
with p >= 1 separates the positions below p from the others. A set of splits cuts every attribute into intervals, and
rows in the same intervals are one class. Splits are numbered attribute by attribute. The search is that of Bayardo and
Agrawal (Data Privacy through Optimal k-Anonymization, ICDE 2005) with its published bound; the compiled search has
stronger bounds and visits fewer nodes (native/src/k_optimize.hpp).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools, Codes, Counts, Floats

MOST_PEOPLE = 2**53
MOST_PEOPLE_SQUARED = 94_906_265  # its square is below 2^53: costs are exact as doubles
LARGEST_SPACE = 2**62
SECONDS_BETWEEN_REPORTS = 0.2

Watch: TypeAlias = Callable[[int, float, float], object]  # nodes visited, best cost, lower bound; False ends the search


class SplitSets:
    """A table, k and the suppression limit; computes the cost of sets of splits.

    `labels[row, label]` are the people of a row with a label. With `by_label`, the cost is the number of people who are
    suppressed or not in the majority of their class. Otherwise it is discernibility: the square of the size of every
    kept class, plus the number of all people for every suppressed person.
    """

    def __init__(
        self, positions: Codes, weights: Counts, sizes: Codes, labels: Counts, k: int, limit: int, by_label: bool
    ) -> None:
        _check(positions, weights, sizes, labels, by_label)
        if k < 1:
            raise ValueError("k must be at least 1")
        if limit < 0:
            raise ValueError("a negative limit")
        self.positions = positions.astype(np.int64)
        self.weights = weights.copy()
        self.labels = labels.copy() if by_label else np.zeros((len(weights), 0), np.int64)
        self.sizes = [int(size) for size in sizes]
        self.k, self.limit, self.by_label = k, limit, by_label
        self.all = int(weights.sum())
        self.places = [(attribute, place) for attribute, size in enumerate(self.sizes) for place in range(1, size)]

    @property
    def splits(self) -> int:
        """The number of splits: attribute 0 has the first `sizes[0] - 1`, and so on."""
        return len(self.places)

    def cost(self, chosen: Bools) -> tuple[float, int, int]:
        """Return the cost of a set, the number of suppressed people, and the number of kept classes."""
        people, labels, _ = self.classes(chosen)
        kept = people >= self.k
        return float(self.costs(people, labels).sum()), int(people[~kept].sum()), int(kept.sum())

    def neighbours(self, chosen: Bools) -> tuple[Floats, Counts]:
        """Return for each split the cost and the suppressed people after adding it, or removing it if it is chosen."""
        self.check_chosen(chosen)
        changed = chosen.copy()
        costs, suppressed = np.zeros(self.splits), np.zeros(self.splits, np.int64)
        for split in range(self.splits):
            changed[split] = not chosen[split]
            costs[split], suppressed[split], _ = self.cost(changed)
            changed[split] = chosen[split]
        return costs, suppressed

    def optimize(self, start: Bools, seconds: float, watch: Watch | None) -> tuple[Bools, float, float, bool, int]:
        """Return the best feasible set, its cost, a lower bound, whether it is optimal, and the nodes visited.

        Among sets of equal cost, fewer splits are better, then the lexicographically first set. `start` is a feasible
        set. The search ends after `seconds`, or when `watch` returns False; it is called about 5 times a second.
        """
        if not seconds >= 0:
            raise ValueError("no such time")
        cost, suppressed, _ = self.cost(start)
        if suppressed > self.limit:
            raise ValueError("the start suppresses too many people")
        search = _Search(self, start.copy(), cost, seconds, watch)
        complete = search.run()
        return search.best, search.cost, search.cost if complete else search.proven, complete, search.visited

    def check_chosen(self, chosen: Bools) -> None:
        """Raise an error unless there is one flag per split."""
        if len(chosen) != self.splits:
            raise ValueError("not one flag per split")

    def classes(self, chosen: Bools) -> tuple[Counts, Counts, NDArray[np.intp]]:
        """Return the people and the labels of every class, and the class of every row."""
        self.check_chosen(chosen)
        keys, space, first = np.zeros(len(self.weights), np.int64), 1, 0
        for attribute, size in enumerate(self.sizes):
            slots = np.concatenate([[0], np.cumsum(chosen[first : first + size - 1])]).astype(np.int64)
            first += size - 1
            count = int(slots[-1]) + 1
            if space > LARGEST_SPACE // count:
                keys = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
                space = int(keys.max()) + 1
            keys = keys * count + slots[self.positions[:, attribute]]
            space *= count
        ids = np.unique(keys, return_inverse=True)[1].reshape(-1)
        people = _sums(ids, self.weights)
        labels = [_sums(ids, self.labels[:, label]) for label in range(self.labels.shape[1])]
        return people, np.array(labels, np.int64).reshape(len(labels), len(people)), ids

    def costs(self, people: Counts, labels: Counts) -> Counts:
        """Return the cost of each class; `labels` has a row per label."""
        if self.by_label:
            return np.where(people < self.k, people, people - labels.max(axis=0))
        return people * np.where(people < self.k, self.all, people)


class _Search:
    """Depth-first search: a node chooses a split, explores all sets with it, then all sets without it."""

    def __init__(self, sets: SplitSets, best: Bools, cost: float, seconds: float, watch: Watch | None) -> None:
        self.sets, self.best, self.cost = sets, best, cost
        self.visited, self.proven = 0, 0.0
        self._begun, self._seconds, self._watch = time.monotonic(), seconds, watch
        self._next_report = 0.0
        self._pending: list[float] = []  # per level: a bound for the unexplored sets

    def run(self) -> bool:
        """Explore everything; return False if the search was stopped early."""
        head = np.zeros(self.sets.splits, np.bool_)
        # of several splits with no row between them, only the first is needed
        present = [set(self.sets.positions[:, attribute].tolist()) for attribute in range(len(self.sets.sizes))]
        tail = [split for split, (attribute, place) in enumerate(self.sets.places) if place - 1 in present[attribute]]
        self._pending.append(self._bound(head, tail))
        return self._explore(head, tail)

    def _explore(self, head: Bools, tail: list[int]) -> bool:
        """Explore all sets of the head and some of the tail."""
        self.visited += 1
        cost, suppressed, _ = self.sets.cost(head)
        if suppressed > self.sets.limit:
            return True
        self._consider(head, cost)
        tail = self._useful(head, tail)
        while tail:
            bound = self._bound(head, tail)
            self._pending[-1] = max(self._pending[-1], bound)
            if bound > self.cost or (bound == self.cost and head.sum() >= self.best.sum()):
                return True
            if not self._may_continue():
                return False
            split, *tail = tail
            head[split] = True
            self._pending.append(bound)
            finished = self._explore(head, tail)
            head[split] = False
            if not finished:
                return False
            self._pending.pop()
        return True

    def _consider(self, chosen: Bools, cost: float) -> None:
        """Remember a feasible set if it is better; among sets of equal size, the first split that differs decides."""

        def rank(cost: float, flags: Bools) -> tuple[float, int, list[bool]]:
            return cost, int(flags.sum()), (~flags).tolist()

        if rank(cost, chosen) < rank(self.cost, self.best):
            self.best, self.cost = chosen.copy(), cost

    def _useful(self, head: Bools, tail: list[int]) -> list[int]:
        """Remove splits that suppress too many or leave no class; splits that cut the most classes come first.

        If a split cuts no kept class, or leaves only parts below k, the same is true in the whole subtree: no set is
        cheaper with it.
        """
        k = self.sets.k
        people, _, ids = self.sets.classes(head)
        useful = []
        for split in tail:
            attribute, place = self.sets.places[split]
            above = _sums(ids, np.where(self.sets.positions[:, attribute] >= place, self.sets.weights, 0))
            below = people - above
            cut = (people >= k) & (above > 0) & (below > 0)
            suppressed = int(above[above < k].sum() + below[below < k].sum())
            if suppressed <= self.sets.limit and bool((cut & (np.maximum(above, below) >= k)).any()):
                useful.append((-int(cut.sum()), split))
        return [split for _, split in sorted(useful)]

    def _bound(self, head: Bools, tail: list[int]) -> float:
        """Return the published lower bound for all sets that consist of the head and some of the tail.

        Rows that no such set separates (a box) are in one class, which has at least k people unless it is suppressed.
        A class that is below k under the head stays below k.
        """
        finest = head.copy()
        finest[tail] = True
        people, labels, ids = self.sets.classes(head)
        boxes, box_labels, box_of = self.sets.classes(finest)
        kept = np.zeros(len(boxes), np.bool_)
        kept[box_of] = people[ids] >= self.sets.k
        least = np.maximum(boxes, self.sets.k)
        shares = boxes - box_labels.max(axis=0) if self.sets.by_label else boxes * least
        small = people < self.sets.k
        return float(shares[kept].sum() + self.sets.costs(people[small], labels[:, small]).sum())

    def _may_continue(self) -> bool:
        """Report progress; return False if the time is over or the callback asks to stop."""
        elapsed = time.monotonic() - self._begun
        self.proven = max(self.proven, min(self.cost, *self._pending))
        if elapsed >= self._seconds:
            return False
        if self._watch is not None and elapsed >= self._next_report:
            if self._watch(self.visited, self.cost, self.proven) is False:
                return False
            self._next_report = time.monotonic() - self._begun + SECONDS_BETWEEN_REPORTS
        return True


def _sums(ids: NDArray[np.intp], counts: Counts) -> Counts:
    return np.bincount(ids, weights=counts).astype(np.int64)  # sums below 2^53 are exact


def _check(positions: Codes, weights: Counts, sizes: Codes, labels: Counts, by_label: bool) -> None:
    label_sums = [sum(row) for row in labels.tolist()] if by_label else []
    for wrong, why in (
        (positions.shape[0] != len(weights), "positions and weights differ"),
        (positions.shape[1] != len(sizes), "positions and sizes differ"),
        (labels.shape[0] != len(weights), "labels and weights differ"),
        (not len(weights), "no rows"),
        (by_label and labels.shape[1] == 0, "no labels"),
        ((sizes == 0).any(), "an attribute without values"),
        (positions.shape[1] == len(sizes) and (positions >= sizes).any(), "a position that its attribute has not"),
        ((weights < 1).any(), "a row of nobody"),
        (sum(weights.tolist()) > (MOST_PEOPLE if by_label else MOST_PEOPLE_SQUARED), "too many people"),
        (
            by_label and ((labels < 0).any() or label_sums != weights.tolist()),
            "labels that do not add up to the weight",
        ),
    ):
        if wrong:
            raise ValueError(why)
