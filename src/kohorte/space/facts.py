"""The content of a picture: the central node, its neighbours, the best nodes, and the shades of costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kohorte.in_words import cost, count, percent
from kohorte.kernels.arrays import Floats
from kohorte.lattice import Node
from kohorte.models.words import model_in_words
from kohorte.search import Evaluation

if TYPE_CHECKING:
    from kohorte.space.solution_space import SolutionSpace

SHADES = (0.05, 0.15, 0.35, 0.65, 1.0)
"""The upper ends of the shades, between the lowest cost (0) and the highest (1); low costs have more shades."""

LISTED = 10


@dataclass(frozen=True)
class Step:
    """One attribute of the central node: its level, and the nodes one step away, if any."""

    attribute: str
    level: int
    top: int
    meaning: str
    finer: Evaluation | None
    coarser: Evaluation | None


@dataclass(frozen=True)
class Facts:
    """The facts about a solution space and its central node."""

    space: SolutionSpace

    @cached_property
    def middle(self) -> Evaluation:
        """The central node: the optimum or, without a solution, the node with the fewest suppressed rows."""
        return self.space.best or self.listed[0]

    @cached_property
    def solutions(self) -> int:
        """The number of nodes that satisfy the plan."""
        return sum(node.solution for node in self.space.nodes)

    @cached_property
    def listed(self) -> list[Evaluation]:
        """The ten best solutions or, without a solution, the ten nodes with the fewest suppressed rows."""
        if self.space.best is not None:
            return self.space.solutions()[:LISTED]
        return sorted(self.space.nodes, key=lambda node: (node.suppressed, sum(node.node), node.node))[:LISTED]

    @cached_property
    def steps(self) -> list[Step]:
        """The neighbours of the central node, attribute by attribute."""
        return [
            Step(name, level, top, words[place], self._beside(axis, -1), self._beside(axis, +1))
            for axis, (name, level, top, words, place) in enumerate(
                zip(
                    self.space.attributes,
                    self.space.levels(self.middle.node),
                    self.space.levels(self.space.lattice.top),
                    self.space.meanings,
                    self.middle.node,
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
        """The direct neighbours of the central node."""
        return {node.node for step in self.steps for node in (step.finer, step.coarser) if node is not None}

    # Costs and their shades

    @cached_property
    def costs(self) -> Floats:
        """The cost of every node; infinite if it is not a solution."""
        return np.array([node.cost for node in self.space.nodes])

    @cached_property
    def ends(self) -> list[float]:
        """The highest cost of each shade; a single shade if all solutions cost the same."""
        solved = self.costs[np.isfinite(self.costs)]
        if not len(solved):
            return []
        best, worst = float(solved.min()), float(solved.max())
        return [best + share * (worst - best) for share in SHADES[:-1]] + [worst] if worst > best else [worst]

    @cached_property
    def shades(self) -> list[int]:
        """The shade of every node, 0 for the best; a node that is not a solution has the number of shades."""
        return [int(shade) for shade in np.searchsorted(np.array(self.ends), self.costs, side="left")]

    # Texts

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.space.plan.metric.name

    @property
    def title(self) -> str:
        """The title of the picture."""
        if self.space.best is None:
            return "No combination of levels satisfies the plan"
        return "The solution space and its optimum"

    @property
    def mark(self) -> str:
        """The word next to the central node."""
        return "optimum" if self.space.best else "nearest"

    @property
    def counts(self) -> str:
        """The numbers of nodes and solutions, as text."""
        size = len(self.space.nodes)
        return f"{count(size, 'combination')} of levels, {count(self.solutions)} of them satisfy the plan."

    @property
    def demand(self) -> str:
        """The requirements of the plan, as text."""
        space = self.space
        models = " and ".join(model_in_words(model) for model in space.plan.models)
        return (
            f"A solution satisfies {models} after at most {count(space.limit)} of {count(space.rows, 'row')} "
            f"({percent(space.plan.suppression_limit)}) have been suppressed. {self.counted} Solutions are compared by "
            f"their {self.metric}; lower is better."
        )

    @property
    def counted(self) -> str:
        """What the models and the smallest class count, as a sentence; suppressed rows are always rows."""
        space = self.space
        if space.people is None:
            return "The models and the smallest class count rows."
        named = ", ".join(space.plan.unit.columns)
        together = ", judged by all their rows together" if space.plan.unit.judges_sets else ""
        return (
            f"The models and the smallest class count people ({named}), not rows: the table has "
            f"{space.unit.count(space.people)}{together}."
        )

    @property
    def answer(self) -> str:
        """The central node, as text."""
        middle = self.middle
        if middle.solution:
            figures = f"{self.metric} {cost(middle.cost)}, {self.gone(middle)}{self.smallest(middle)}"
            return f"Optimum: {self.levels(middle)}; {figures}."
        return f"Nearest to a solution: {self.levels(middle)}; {self.verdict(middle)}."

    def levels(self, node: Evaluation) -> str:
        """The levels of a node by their meaning, with the names of the attributes."""
        words = (own[level] for own, level in zip(self.space.meanings, node.node, strict=True))
        return "; ".join(f"{name}: {said}" for name, said in zip(self.space.attributes, words, strict=True))

    def short_levels(self, node: Evaluation) -> list[str]:
        """The levels of a node by their meaning, without examples."""
        return [own[level] for own, level in zip(self.space.short_meanings, node.node, strict=True)]

    def smallest(self, node: Evaluation) -> str:
        """The smallest class of a node in the unit of the models, as the end of a list; empty if there is none."""
        if node.smallest_class is None:
            return ""
        return f", {self.smallest_head} {self.space.unit.count(node.smallest_class)}"

    @property
    def smallest_head(self) -> str:
        """The name of the smallest class; by all rows, people are judged in groups with the same classes."""
        return "fewest alike in all their rows" if self.space.plan.unit.judges_sets else "smallest class"

    def gone(self, node: Evaluation) -> str:
        """The suppressed rows of a node, as text."""
        return f"{count(node.suppressed, 'row')} suppressed ({percent(node.suppressed / self.space.rows)})"

    def more(self, node: Evaluation) -> str:
        """How much more a solution costs than the optimum, as text."""
        best = self.middle.cost
        if node.cost == best:
            return "the same"
        return f"+{percent(node.cost / best - 1)}" if best > 0 else f"+{cost(node.cost - best)}"

    @property
    def at_least(self) -> str:
        """A qualifier: for models about all classes together, counting stops at the suppression limit."""
        return "at least " if any(model.about_all for model in self.space.plan.models) else ""

    def verdict(self, node: Evaluation) -> str:
        """Whether a node is a solution, with its cost or its suppressed rows, as text."""
        if node == self.space.best:
            return f"the optimum, {self.metric} {cost(node.cost)}, {self.gone(node)}{self.smallest(node)}"
        if node.solution:
            figures = f"{self.metric} {cost(node.cost)} ({self.more(node)}), {self.gone(node)}"
            return f"solution, {figures}{self.smallest(node)}"
        return (
            f"not a solution, {self.at_least}{count(node.suppressed, 'row')} would have to be suppressed "
            f"(limit {count(self.space.limit)})"
        )

    def shade_names(self) -> list[str]:
        """The range of costs of each shade, as text."""
        starts = [self.middle.cost, *self.ends]
        return [
            f"{cost(start)} to {cost(end)}" if end > start else cost(end)
            for start, end in zip(starts, self.ends, strict=False)
        ]
