"""The result of an anonymization."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from kohorte.data import Role, from_polars, to_polars
from kohorte.engines import encode
from kohorte.errors import InputError
from kohorte.hierarchy import SUPPRESSED, Hierarchy
from kohorte.lattice import Node
from kohorte.recoding import Recoding
from kohorte.release.columns import check_columns
from kohorte.release.plan import Plan
from kohorte.release.population import Populations, flagged_rows, without_flag
from kohorte.search import Evaluation, SearchResult


@dataclass(frozen=True, eq=False)
class Release:
    """A verified release: its rows in `data`, and the evidence for it. Its repr shows no rows."""

    plan: Plan
    data: Any
    node: Node | None
    evaluation: Evaluation
    result: SearchResult
    rows: int
    rolled_up: int
    distinct_rows: int
    lattice: int
    hierarchies: Mapping[str, Hierarchy]
    kept_classes: pl.DataFrame
    all_starred: bool
    seconds: Mapping[str, float]
    input_rows: int
    populations: Populations
    population_hashes: Mapping[str, str]
    recoding: Recoding | None = None

    @property
    def levels(self) -> dict[str, int]:
        """The generalization level of every quasi-identifier; none where it differs from row to row."""
        if self.node is None:
            return {}
        levels = zip(self.plan.minimum_levels.items(), self.node, strict=True)
        return {name: finest + level for (name, finest), level in levels}

    @property
    def recoded(self) -> dict[str, dict[str, object]]:
        """Where cells differ from row to row: how many kinds there are, and between which levels they stand."""
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
        """How good the release is, in words."""
        if self.optimal:
            if self.recoding is not None:
                return f"optimal: of all {self.recoding.what}, none loses less"
            return "optimal: no other combination of levels loses less"
        if self.result.heuristic:
            return "found by a heuristic: the optimum may lose less"
        bound = self.result.lower_bound
        known = f"; the optimum costs at least {bound:.6g}" if bound > float("-inf") else ""
        return f"the best found in the time given{known}"

    @property
    def effort(self) -> str:
        """How much was looked at, in words."""
        if self.recoding is not None:
            return f"{self.checked:,} {self.recoding.what} counted"
        return f"{self.checked:,} of {self.lattice:,} combinations counted"

    @property
    def cost(self) -> float:
        """The information lost, by the plan's metric; lower is better."""
        return self.evaluation.cost

    @property
    def suppressed(self) -> int:
        """How many rows are suppressed."""
        return self.evaluation.suppressed

    @property
    def classes(self) -> int:
        """How many classes the release has, the suppressed rows not counted."""
        return self.evaluation.classes

    @property
    def smallest_class(self) -> int | None:
        """The size of the smallest class; None when every row is suppressed."""
        return self.evaluation.smallest_class

    @property
    def checked(self) -> int:
        """How many nodes the search counted."""
        return self.result.checked

    @property
    def optimal(self) -> bool:
        """Whether the search proved that no other node is better."""
        return self.result.optimal

    def to_dict(self) -> dict[str, object]:
        """The figures of the release, as `kohorte anonymize --json` prints them."""
        return {
            "levels": self.levels,
            "recoded": self.recoded,
            "cost": self.cost,
            "metric": self.plan.metric.name,
            "suppressed": self.suppressed,
            "rows": self.rows,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
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
        }

    def __repr__(self) -> str:
        return (
            f"<Release levels={self.levels} cost={self.cost:.6g} metric={self.plan.metric.name} rows={self.rows} "
            f"suppressed={self.suppressed} classes={self.classes} optimal={self.optimal}>"
        )

    def transform(self, new_rows: object) -> Any:
        """Apply the release to later rows of the same kind.

        Values that a hierarchy does not know are refused. A row whose class the release does not keep is suppressed:
        it would stand alone. So `transform` of the original table gives the release again.
        """
        if self.node is None:
            raise InputError(
                f"a release by {self.plan.search.algorithm} generalizes each row in its own way and says nothing about "
                "later rows; anonymize all rows together instead",
                code="transform-recoded",
            )
        if self.plan.decorrelate is not None:
            raise InputError(
                "a plan with decorrelate suppresses values by chance: doing it again for the same people would show "
                "what was suppressed before; anonymize all rows together instead",
                code="transform-decorrelate",
            )
        table, kind = to_polars(new_rows)
        check_columns(table.columns, self.plan, may_lack=(Role.IDENTIFYING,))
        table = without_flag(flagged_rows(table, self.plan), self.plan)
        if table.height == 0:
            raise InputError("the table has no rows", code="table-no-rows")
        fixed = {
            name: (self.plan.attributes[name].hierarchy or hierarchy).fixed(hierarchy)
            for name, hierarchy in self.hierarchies.items()
        }
        encoded = encode(table, fixed, missing=self.plan.missing, finest=self.plan.minimum_levels)
        shown = pl.DataFrame(
            [column.generalized(level) for column, level in zip(encoded.columns, self.node, strict=True)]
        )
        known = shown.join(
            self.kept_classes.with_columns(pl.lit(value=True).alias("\0kept")),
            on=shown.columns,
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )["\0kept"].fill_null(value=False)
        kept = known & pl.Series(encoded.included)
        stars = pl.Series([SUPPRESSED]).new_from_index(0, shown.height)
        masked = [column.zip_with(kept, stars) for column in shown.get_columns()]
        if not self.suppressed and kept.all():  # as in the release: what is at level 0 keeps its type
            masked = [column for column, level in zip(masked, self.levels.values(), strict=True) if level]
        present = [name for name in self.plan.names(Role.IDENTIFYING) if name in table.columns]
        return from_polars(in_order(table.drop(present).with_columns(masked), self.plan), kind)


def in_order(table: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Return the rows in the plan's order: a random one that nobody can repeat, or that of the input."""
    if plan.order == "input":
        return table
    generator = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
    return table[generator.permutation(table.height)]
