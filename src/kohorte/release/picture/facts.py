"""What a picture tells: the node in the middle, its neighbours, the best nodes, and how costs are shaded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kohorte.kernels.arrays import Floats
from kohorte.lattice import Node
from kohorte.release.words import model_in_words
from kohorte.search import Evaluation

if TYPE_CHECKING:
    from kohorte.release.space import SolutionSpace

SHADES = (0.05, 0.15, 0.35, 0.65, 1.0)
"""Where the shades of cost end, between the best solution (0) and the worst (1): finest where it matters."""

LISTED = 10


@dataclass(frozen=True)
class Step:
    """One attribute of the node in the middle: its level, and the nodes one step away, where there are any."""

    attribute: str
    level: int
    top: int
    finer: Evaluation | None
    coarser: Evaluation | None


@dataclass(frozen=True)
class Facts:
    """A solution space, seen from the node that a reader looks for."""

    space: SolutionSpace

    @cached_property
    def middle(self) -> Evaluation:
        """The optimum; where there is no solution, the node with the fewest suppressed rows."""
        return self.space.best or self.listed[0]

    @cached_property
    def solutions(self) -> int:
        """How many nodes satisfy the plan."""
        return sum(node.solution for node in self.space.nodes)

    @cached_property
    def listed(self) -> list[Evaluation]:
        """The ten best solutions; where there is none, the ten nodes with the fewest suppressed rows."""
        if self.space.best is not None:
            return self.space.solutions()[:LISTED]
        return sorted(self.space.nodes, key=lambda node: (node.suppressed, sum(node.node), node.node))[:LISTED]

    @cached_property
    def steps(self) -> list[Step]:
        """The neighbours of the node in the middle, attribute by attribute."""
        return [
            Step(name, level, top, self._beside(axis, -1), self._beside(axis, +1))
            for axis, (name, level, top) in enumerate(
                zip(
                    self.space.attributes,
                    self.space.levels(self.middle.node),
                    self.space.levels(self.space.lattice.top),
                    strict=True,
                )
            )
        ]

    def _beside(self, axis: int, step: int) -> Evaluation | None:
        node = list(self.middle.node)
        node[axis] += step
        return self.space.at(tuple(node)) if 0 <= node[axis] < self.space.shape[axis] else None

    @cached_property
    def neighbours(self) -> set[Node]:
        """The direct neighbours of the node in the middle."""
        return {node.node for step in self.steps for node in (step.finer, step.coarser) if node is not None}

    # Costs and their shades

    @cached_property
    def costs(self) -> Floats:
        """The cost of every node, infinite where it is no solution."""
        return np.array([node.cost for node in self.space.nodes])

    @cached_property
    def ends(self) -> list[float]:
        """The cost at which each shade ends; a single one where all solutions cost the same."""
        solved = self.costs[np.isfinite(self.costs)]
        if not len(solved):
            return []
        best, worst = float(solved.min()), float(solved.max())
        return [best + share * (worst - best) for share in SHADES[:-1]] + [worst] if worst > best else [worst]

    @cached_property
    def shades(self) -> list[int]:
        """The shade of every node: 0 for the best; as many as there are shades where it is no solution."""
        return [int(shade) for shade in np.searchsorted(np.array(self.ends), self.costs, side="left")]

    # In words

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.space.plan.metric.name

    @property
    def title(self) -> str:
        """What all of it comes to."""
        if self.space.best is None:
            return "No combination of levels satisfies the plan"
        return "The solution space and its optimum"

    @property
    def mark(self) -> str:
        """The word beside the node in the middle."""
        return "optimum" if self.space.best else "nearest"

    @property
    def counts(self) -> str:
        """How many nodes and solutions there are."""
        size = len(self.space.nodes)
        return f"{counted(size, 'combination')} of levels, {self.solutions:,} of them satisfy the plan."

    @property
    def demand(self) -> str:
        """What the plan asks for."""
        space = self.space
        models = " and ".join(model_in_words(model) for model in space.plan.models)
        return (
            f"A solution satisfies {models} after at most {space.limit:,} of {counted(space.rows, 'row')} "
            f"({space.plan.suppression_limit * 100:g}\u00a0%) have been suppressed. Solutions are compared by their "
            f"{self.metric}; lower is better."
        )

    @property
    def answer(self) -> str:
        """The node in the middle, in words."""
        middle = self.middle
        if middle.solution:
            return f"Optimum: {self.levels(middle)}; {self.metric} {figure(middle.cost)}, {self.gone(middle)}."
        return f"Nearest to a solution: {self.levels(middle)}; {self.verdict(middle)}."

    def levels(self, node: Evaluation) -> str:
        """The levels of a node, with the names of the attributes."""
        return ", ".join(
            f"{name} {level}" for name, level in zip(self.space.attributes, self.space.levels(node.node), strict=True)
        )

    def gone(self, node: Evaluation) -> str:
        """How many rows are suppressed at a node."""
        return f"{counted(node.suppressed, 'row')} suppressed ({node.suppressed / self.space.rows * 100:.2f}\u00a0%)"

    def more(self, node: Evaluation) -> str:
        """How much more a solution costs than the optimum."""
        best = self.middle.cost
        if node.cost == best:
            return "the same"
        return f"+{(node.cost / best - 1) * 100:.1f}\u00a0%" if best > 0 else f"+{figure(node.cost - best)}"

    @property
    def at_least(self) -> str:
        """Models about all classes together are not pursued beyond the limit."""
        return "at least " if any(model.about_all for model in self.space.plan.models) else ""

    def verdict(self, node: Evaluation) -> str:
        """Whether a node is a solution, and what it costs or lacks."""
        if node == self.space.best:
            return f"the optimum, {self.metric} {figure(node.cost)}, {self.gone(node)}"
        if node.solution:
            return f"solution, {self.metric} {figure(node.cost)} ({self.more(node)}), {self.gone(node)}"
        return (
            f"not a solution, {self.at_least}{counted(node.suppressed, 'row')} would have to be suppressed "
            f"(limit {self.space.limit:,})"
        )

    def shade_names(self) -> list[str]:
        """The costs that each shade stands for."""
        starts = [self.middle.cost, *self.ends]
        return [
            f"{figure(start)} to {figure(end)}" if end > start else figure(end)
            for start, end in zip(starts, self.ends, strict=False)
        ]


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def figure(cost: float) -> str:
    """A cost as people read it."""
    return f"{cost:,.0f}" if abs(cost) >= 10_000 else f"{cost:.5g}"
