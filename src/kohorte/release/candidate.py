"""The result of a search or a recoder, not yet verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from kohorte.hierarchies import Hierarchy
from kohorte.lattice import Node
from kohorte.plans.plan import Plan
from kohorte.plans.population import Populations
from kohorte.recoding import Recoding
from kohorte.release.shown_people import ShownPeople
from kohorte.release.telling.losses import ColumnLoss
from kohorte.release.telling.one_person import RowsOfOnePerson, rows_of_one_person
from kohorte.search import Evaluation, SearchResult
from kohorte.sources import TableSource


@dataclass(frozen=True, eq=False)
class Candidate:
    """The table that a search or a recoder proposes, with its figures. It must not be handed on before verification.

    `table` contains the rows as they would be released; `people` says whom they are about, if the plan counts people.
    `person_notes` tell what the original table says about people and the plan does not. The repr shows no rows.
    """

    plan: Plan
    table: TableSource = field(repr=False)
    node: Node | None
    result: SearchResult
    rows: int
    hierarchies: Mapping[str, Hierarchy]
    all_starred: bool
    seconds: Mapping[str, float]
    input_rows: int
    populations: Populations
    population_hashes: Mapping[str, str]
    rolled_up: int = 0
    distinct_rows: int = 0
    lattice: int = 0
    kept_classes: pl.DataFrame = field(default_factory=pl.DataFrame)
    recoding: Recoding | None = None
    people: ShownPeople | None = field(default=None, repr=False)
    one_row_cost: float | None = None  # with attacker_knows: all_rows, what one_row would have cost
    losses: tuple[ColumnLoss, ...] = field(default=(), repr=False)
    person_notes: tuple[str, ...] = ()

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation of the result."""
        assert self.result.best is not None, "without a solution there is no candidate"
        return self.result.best

    @property
    def levels(self) -> dict[str, int]:
        """The generalization level of every quasi-identifier; empty if levels differ from row to row."""
        if self.node is None:
            return {}
        levels = zip(self.plan.minimum_levels.items(), self.node, strict=True)
        return {name: finest + level for (name, finest), level in levels}

    @property
    def unit(self) -> str:
        """What the models count: rows or people."""
        return "people" if self.plan.unit.counts_people else "rows"

    @property
    def shuffled(self) -> bool:
        """Whether the rows are in a random order, not in that of the input."""
        return self.plan.order != "input"

    @property
    def recoded(self) -> dict[str, dict[str, object]]:
        """For a recoding: the number of kinds of cells, and the lowest and highest level of each attribute."""
        if self.recoding is None:
            return {}
        return {
            cells.line.column.name: {
                "cells": len(cells.labels),
                "lowest_level": int(cells.heights.min()),
                "highest_level": int(cells.heights.max()),
            }
            for cells in self.recoding.columns
        }

    @property
    def verdict(self) -> str:
        """The quality of the release, as text."""
        if self.optimal:
            if self.recoding is not None:
                return f"optimal: of all {self.recoding.what}, none loses less"
            return "optimal: no other combination of levels loses less"
        if self.plan.search.levels:
            return "the levels that the plan fixes: another combination may lose less"
        if self.result.heuristic:
            return "found by a heuristic: the optimum may lose less"
        bound = self.result.lower_bound
        known = f"; the optimum costs at least {bound:.6g}" if bound > float("-inf") else ""
        return f"the best found in the time given{known}"

    @property
    def effort(self) -> str:
        """How much the algorithm counted, as text."""
        if self.recoding is not None:
            return f"{self.checked:,} {self.recoding.what} counted"
        return f"{self.checked:,} of {self.lattice:,} combinations counted"

    @property
    def cost(self) -> float:
        """The information lost, by the plan's metric; lower is better."""
        return self.evaluation.cost

    @property
    def suppressed(self) -> int:
        """The number of suppressed rows."""
        return self.evaluation.suppressed

    @property
    def classes(self) -> int:
        """The number of classes, without the suppressed rows."""
        return self.evaluation.classes

    @property
    def smallest_class(self) -> int | None:
        """The size of the smallest class, in people if the plan counts people; None if every row is suppressed."""
        return self.evaluation.smallest_class

    @property
    def checked(self) -> int:
        """The number of nodes that the search counted."""
        return self.result.checked

    @property
    def optimal(self) -> bool:
        """Whether the search proved that no other node is better."""
        return self.result.optimal

    @cached_property
    def rows_of_one_person(self) -> RowsOfOnePerson | None:
        """Whom an attacker hurts who knows all rows of a person; None if the plan counts rows.

        The values are those of the sensitive attributes that the models protect.
        """
        return None if self.people is None else rows_of_one_person(self.people, self.plan, self.plan.histograms)

    @property
    def open_points(self) -> tuple[str, ...]:
        """What the rows of a person tell together, although the models hold."""
        attack = self.rows_of_one_person
        return (attack.in_public_words,) if attack is not None and attack.people_hurt else ()

    def to_dict(self) -> dict[str, object]:
        """The figures of the release, as `kohorte anonymize --json` prints them."""
        return {
            "levels": self.levels,
            "recoded": self.recoded,
            "cost": self.cost,
            "one_row_cost": self.one_row_cost,
            "metric": self.plan.metric.name,
            "suppressed": self.suppressed,
            "rows": self.rows,
            "lost_values": {one.attribute: one.lost_values for one in self.losses if one.lost_values},
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "unit": self.unit,
            "people": None if self.people is None else self.people.people,
            "checked": self.checked,
            "rolled_up": self.rolled_up,
            "tagged": self.result.tagged,
            "lattice": self.lattice if self.recoding is None else None,
            "algorithm": self.plan.search.algorithm,
            "optimal": self.optimal,
            "lower_bound": self.result.lower_bound if self.result.lower_bound > float("-inf") else None,
            "heuristic": self.result.heuristic,
            "algorithm_facts": {} if self.recoding is None else dict(self.recoding.facts),
            "seconds": dict(self.seconds),
            **({} if self.people is None else self._about_people()),
        }

    def _about_people(self) -> dict[str, object]:
        attack = self.rows_of_one_person
        return {"rows_of_one_person": None if attack is None else attack.to_dict()}

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} levels={self.levels} cost={self.cost:.6g} metric={self.plan.metric.name} "
            f"rows={self.rows} suppressed={self.suppressed} classes={self.classes} optimal={self.optimal}>"
        )
