"""The whole solution space: every node with its verdict and cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kohorte.data import to_polars
from kohorte.in_words import Unit
from kohorte.lattice import Lattice, Node
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.plan import Plan
from kohorte.release.anonymization import counting_ahead, set_up_search
from kohorte.release.preparation import encode_problem
from kohorte.release.words import unit_of
from kohorte.search import Evaluation, ProgressCallback
from kohorte.search.base import OutOfTime
from kohorte.sources import SOURCES, FrameSource
from kohorte.sources.spark import spark_as_source
from kohorte.space.level_names import Examples, examples_of, meanings
from kohorte.space.page import to_html
from kohorte.space.sheet import to_svg


@dataclass(frozen=True)
class SolutionSpace:
    """All nodes of a plan's lattice, evaluated; `best` is the optimum, or None.

    Models and the smallest class count people, if the plan says whom a row is about; suppressed rows are rows. `people`
    is then the number of people in the table. `examples` are labels that many share, by attribute and level; `notes`
    tell what the table says about people and the plan does not.
    """

    attributes: tuple[str, ...]
    shape: tuple[int, ...]
    nodes: tuple[Evaluation, ...]
    best: Evaluation | None
    plan: Plan = field(repr=False)
    rows: int
    people: int | None = None
    examples: Examples = field(default=(), repr=False)
    notes: tuple[str, ...] = ()

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice that the nodes form."""
        return Lattice(self.shape)

    @property
    def limit(self) -> int:
        """The number of rows that may be suppressed."""
        return self.plan.most_suppressed(self.rows)

    @property
    def unit(self) -> Unit:
        """What the models and the smallest class count."""
        return unit_of(self.plan)

    @cached_property
    def meanings(self) -> tuple[tuple[str, ...], ...]:
        """The levels of each attribute in words, with an example where there is one to show; the finest first."""
        return self._meanings(self.examples)

    @cached_property
    def short_meanings(self) -> tuple[tuple[str, ...], ...]:
        """The same without examples."""
        return self._meanings(())

    def _meanings(self, examples: Examples) -> tuple[tuple[str, ...], ...]:
        lowest, tops = self.levels(self.lattice.bottom), self.levels(self.lattice.top)
        ranges = [range(low, top + 1) for low, top in zip(lowest, tops, strict=True)]
        builders = {name: self.plan.attributes[name].hierarchy for name in self.attributes}
        return meanings(builders, dict(zip(self.attributes, ranges, strict=True)), examples)

    def levels(self, node: Node) -> Node:
        """The levels of a node in the hierarchies; node levels count from minimum_level."""
        lowest = (self.plan.attributes[name].minimum_level for name in self.attributes)
        return tuple(least + level for least, level in zip(lowest, node, strict=True))

    def index(self, node: Node) -> int:
        """The index of a node in `nodes`."""
        return int(np.ravel_multi_index(node, self.shape))

    def at(self, node: Node) -> Evaluation:
        """The evaluation of one node."""
        return self.nodes[self.index(node)]

    def solutions(self) -> list[Evaluation]:
        """The nodes that satisfy the plan, the best first."""
        return sorted(
            (node for node in self.nodes if node.solution), key=lambda node: (node.cost, sum(node.node), node.node)
        )

    def to_dict(self) -> dict[str, object]:
        """The solution space as `kohorte lattice --json` prints it."""
        return {
            "attributes": list(self.attributes),
            "levels": [top + 1 for top in self.levels(self.lattice.top)],
            "lowest_levels": list(self.levels(self.lattice.bottom)),
            "levels_in_words": [list(own) for own in self.meanings],
            "rows": self.rows,
            "unit": self.unit.many,
            "people": self.people,
            "notes": list(self.notes),
            "best": list(self.levels(self.best.node)) if self.best else None,
            "nodes": [
                {
                    "levels": list(self.levels(node.node)),
                    "anonymous": node.solution,
                    "cost": node.cost if node.solution else None,
                    "suppressed": node.suppressed,
                    "classes": node.classes,
                    "smallest_class": node.smallest_class,
                }
                for node in self.nodes
            ],
        }

    def to_html(self) -> str:
        """The solution space as a page: the drawing, the neighbours of the optimum, the best ten; no cell values."""
        return to_html(self)

    def to_svg(self) -> str:
        """The same content as an SVG image without script."""
        return to_svg(self)


def solution_space(frame: object, plan: Plan, *, progress: ProgressCallback | None = None) -> SolutionSpace:
    """Evaluate every node of a table (polars, pandas, arrow, Spark or a `TableSource`).

    If `progress` returns False, KeyboardInterrupt is raised.
    """
    given = spark_as_source(frame)
    source = given if isinstance(given, SOURCES) else FrameSource(to_polars(given)[0])
    setup = set_up_search(encode_problem(source, plan, progress=progress, by_row=False))
    setup.problem.lattice.refuse_listing("the picture has one point for each; ")
    judge = replace(setup.evaluator, bounds=False, least_suppressed=0)  # whatever the plan's algorithm adds
    problem = replace(setup.problem, count=judge, begin=judge.begin, time_limit=None)
    nodes: list[Evaluation] = []
    try:
        with counting_ahead(replace(setup, problem=problem), always=True):
            for evaluation in problem.count_ahead(problem.lattice.nodes()):
                nodes.append(problem.accept(evaluation))
                problem.report(lambda: len(nodes), lambda: -math.inf)
    except OutOfTime:
        raise KeyboardInterrupt from None
    encoded = setup.encoded.table
    return SolutionSpace(
        plan.quasi_identifiers,
        problem.lattice.shape,
        tuple(nodes),
        problem.best,
        plan,
        encoded.rows,
        people=None if encoded.persons is None else encoded.persons.count,
        examples=examples_of(encoded, plan),
        notes=person_notes(setup.encoded.source, plan),
    )
