"""The evaluation of a node: its verdict and its cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kohorte.engines import Engine
from kohorte.groups import Groups
from kohorte.kernels import summarize
from kohorte.kernels.arrays import Bools
from kohorte.lattice import Node
from kohorte.metrics import Costing
from kohorte.models import PrivacyModel
from kohorte.search.base import Evaluation


@dataclass
class Screens:
    """How often class sizes alone were tried for a verdict, and how often they were sufficient."""

    tried: int = 0
    found: int = 0


@dataclass(frozen=True)
class Evaluator:
    """Counts a node with an engine and asks the models and the metric about its groups."""

    engine: Engine
    models: Sequence[PrivacyModel]
    costing: Costing
    limit: int
    starred: Groups | None = None  # the class of all rows at the node that shows only `*`, if some rows are excluded
    starred_node: Node | None = None  # the node that shows only `*`, if there is one
    by_people: bool = False  # the engine counts people, and the models judge them
    bounds: bool = True  # compute `floor` and `gone`, which are not needed if all nodes are counted
    least_suppressed: int = 0  # suppress no row, or at least so many: if fewer fail, the smallest classes as well
    _screens: Screens = field(default_factory=Screens, init=False, repr=False, compare=False)

    def __call__(self, node: Node) -> Evaluation:
        """Return the verdict and the cost of a node."""
        return self._screened(node) or self.judge(self.engine.groups(node))

    def _screened(self, node: Node) -> Evaluation | None:
        """The verdict on a node where too many rows are in classes that are too small, from class sizes alone.

        None if the sizes do not decide, or if they are not tried: when counting them saves little, or when fewer than
        a quarter of the attempts succeeded. The quarter is our own choice; it affects the time, not the verdict.
        """
        least = self.costing.smallest_class
        worth_it = self.bounds and least > 1 and self._screens.found >= self._screens.tried // 4 - 2
        groups = self.engine.sizes(node) if worth_it else None
        if groups is None:
            return None
        self._screens.tried += 1
        small = groups.excluded + summarize(groups.sizes, np.zeros(len(groups), dtype=bool), least)[3]
        if small <= self.limit:
            return None
        self._screens.found += 1
        return self._too_small(groups, small)

    def _too_small(self, groups: Groups, small: int) -> Evaluation:
        """The evaluation of a node where too many rows are in classes that are too small."""
        return Evaluation(
            node=groups.node,
            solution=False,
            cost=math.inf,
            suppressed=small,
            classes=0,
            smallest_class=None,
            floor=self.costing.floor(groups) if self.costing.raises_floor else -math.inf,
            gone=small,
            small=small,
        )

    def begin(self, node: Node) -> Callable[[], Evaluation]:
        """Start to count a node; call the returned function once for its verdict and cost."""
        groups = self.engine.begin(node)
        return lambda: self.judge(groups())

    @cached_property
    def monotone(self) -> bool:
        """Whether every generalization of a solution is a solution under this suppression limit."""
        if self.by_people:
            return all(model.monotone_for_people for model in self.models)
        return all(model.monotone_under(self.limit) for model in self.models)

    def judge(self, groups: Groups) -> Evaluation:
        """Return the verdict and the cost of the classes of a node."""
        kept = self.kept(groups)
        kept_rows, classes, smallest, small = self._summarized(groups, kept)
        suppressed = self.costing.rows - kept_rows
        extra = int(groups.sizes[self._kept_by_models(groups) & ~kept].sum()) if self.least_suppressed else 0
        solution = suppressed <= self.limit and not self._excluded_rows_reveal(groups)
        solution = solution and not self._partly_starred(groups, kept) and (classes > 0 or self._nobody_holds)
        return Evaluation(
            node=groups.node,
            solution=solution,
            cost=self._cost(groups, kept, suppressed) if solution else math.inf,
            suppressed=suppressed,
            classes=classes,
            smallest_class=smallest or None,
            floor=self.costing.floor(groups) if self.bounds and self.costing.raises_floor else -math.inf,
            gone=self._gone(groups, suppressed - extra) if self.bounds else 0,
            small=groups.excluded + small,
            extra=extra,
        )

    def _cost(self, groups: Groups, kept: Bools, suppressed: int) -> float:
        shown, kept = (groups, kept) if groups.as_shown is None else groups.as_shown(kept)
        return self.costing.cost(shown, kept, suppressed)

    def _summarized(self, groups: Groups, kept: Bools) -> tuple[int, int, int, int]:
        """The kept rows and classes, the smallest kept class as the models count it, and the rows of small classes.

        If people are judged by all their rows, the smallest class is the smallest group of people with the same set.
        """
        kept_rows, classes, smallest, small = summarize(groups.sizes, kept, self.costing.smallest_class)
        if not groups.counts_people:
            return kept_rows, classes, smallest, small
        if groups.sets is not None:
            sets, of_classes = (part.groups for part in groups.sets(kept))
            return kept_rows, len(of_classes), int(sets.sizes.min()) if len(sets) else 0, small
        people = groups.judged.sizes
        small = int(groups.sizes[people < self.costing.smallest_class].sum())
        return kept_rows, classes, int(people[kept].min()) if kept.any() else 0, small

    def _excluded_rows_reveal(self, groups: Groups) -> bool:
        """Whether the node that shows only `*` fails: there, excluded rows look the same as all others."""
        if self.starred is None or groups.node != self.starred.node:
            return False
        return not ((self.limit >= self.costing.rows and self._nobody_holds) or self._all_starred_hold)

    def _partly_starred(self, groups: Groups, kept: Bools) -> bool:
        """Whether rows are to be suppressed at the node that shows only `*`, where they cannot be told from the others.

        This can happen only where people are judged by all their rows: otherwise there is one class.
        """
        if groups.sets is None or groups.node != self.starred_node or self.limit >= self.costing.rows:
            return False
        return bool(kept.any() and not kept.all())

    @cached_property
    def _all_starred_hold(self) -> bool:
        assert self.starred is not None
        everybody = self.starred.judged
        return bool(self._satisfying(everybody).all()) and self._hold(everybody)

    @cached_property
    def _nobody_holds(self) -> bool:
        """Whether the models accept a release in which every row is suppressed."""
        return self._hold(Groups.none())

    def _gone(self, groups: Groups, suppressed: int) -> int:
        """A lower bound for the rows suppressed at every specialization: per class, the largest bound of the models."""
        if self.monotone:
            return suppressed
        if groups.counts_people:  # the parts of a class have no more people than the class
            return groups.excluded + self._summarized(groups, np.zeros(len(groups), dtype=bool))[3]
        total = float(np.maximum.reduce([model.gone(groups) for model in self.models]).sum())
        return groups.excluded + math.ceil(total - ROUNDING * (1.0 + total))

    def kept(self, groups: Groups) -> Bools:
        """Tell for each class whether it is released: it satisfies all models, and enough other rows are suppressed."""
        kept = self._kept_by_models(groups)
        return self._with_enough_suppressed(groups, kept) if self.least_suppressed else kept

    def _with_enough_suppressed(self, groups: Groups, kept: Bools) -> Bools:
        """Suppress the smallest classes, too, until no row is suppressed or the suppressed rows are enough for a class.

        At the node that shows only `*`, suppressed rows look like all others. If people are judged by all their rows,
        everything or nothing is suppressed.
        """
        if groups.node == self.starred_node or groups.rows == int(groups.sizes[kept].sum()):
            return kept
        if groups.sets is not None:
            return np.zeros(len(groups), dtype=bool)
        while kept.any() and self._suppressed(groups, kept) < self.least_suppressed:
            kept = self._kept_by_models(groups, kept & ~self._smallest(groups, kept))
        return kept

    @staticmethod
    def _smallest(groups: Groups, kept: Bools) -> Bools:
        """The smallest class that is kept; among equals the one whose labels are rarest, column by column.

        Classes whose labels are equally rare, too, are taken together: only their values tell them apart, and these
        are not looked at, so that parties that see ciphertexts choose the same classes.
        """
        smallest: Bools = kept & (groups.sizes == groups.sizes[kept].min())
        for column in groups.codes(np.ones(len(groups), dtype=bool)).T:
            rarity = np.bincount(column, weights=groups.sizes)[column]
            smallest &= rarity == rarity[smallest].min()
        return smallest

    @staticmethod
    def _suppressed(groups: Groups, kept: Bools) -> int:
        """How many rows are suppressed, or at least how many people: those of the largest class, if they are counted.

        A person can have rows in several suppressed classes, so the people of these are not added up.
        """
        if groups.people is None:
            return groups.rows - int(groups.sizes[kept].sum())
        return int(groups.people.sizes[~kept].max(initial=0))

    def _kept_by_models(self, groups: Groups, among: Bools | None = None) -> Bools:
        """Tell for each class (of some of them) whether it satisfies all models.

        If people are judged by all their rows, what is suppressed changes what is left of others, so the models are
        asked again until nothing changes.
        """
        if groups.sets is None:
            return self._kept(groups.judged, groups, among)
        kept = np.ones(len(groups), dtype=bool)
        while True:
            fewer = kept
            for part in groups.sets(kept) if kept.any() else ():
                fewer = fewer & self._satisfying(part.groups)[part.of]
            if np.array_equal(fewer, kept):
                return kept
            kept = fewer

    def _kept(self, judged: Groups, groups: Groups, among: Bools | None) -> Bools:
        """Tell which classes (of some of them) are kept, from the classes as models count them and as rows.

        For models about all classes together, the smallest classes are removed, one size at a time, until the models
        hold for the rest.
        """
        kept = self._satisfying(judged, among)
        if not any(model.about_all for model in self.models):
            return kept
        for size in np.unique(judged.sizes[kept]):
            if self._hold(replace(judged, kept=kept)) or groups.rows - int(groups.sizes[kept].sum()) > self.limit:
                break
            kept = self._satisfying(judged, kept & (judged.sizes > size))
        return kept

    def _hold(self, groups: Groups) -> bool:
        return all(model.holds(groups) for model in self.models if model.about_all)

    def _satisfying(self, groups: Groups, among: Bools | None = None) -> Bools:
        """Tell which classes satisfy all models.

        Models about single classes come first. For models that compare a class with the other kept classes, classes
        that fail are removed until the result no longer changes.
        """
        verdicts = [model.satisfied(groups) for model in self.models if not model.about_others]
        kept = np.logical_and.reduce(verdicts) if verdicts else np.ones(len(groups), dtype=bool)
        if among is not None:
            kept = kept & among
        comparing = [model for model in self.models if model.about_others]
        while comparing:
            left = replace(groups, kept=kept)
            fewer = np.logical_and.reduce([kept, *(model.satisfied(left) for model in comparing)])
            if np.array_equal(fewer, kept):
                break
            kept = fewer
        return kept


ROUNDING = 1e-9
"""A tolerance for rounding errors in sums of bounds."""
