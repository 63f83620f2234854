"""mu-Argus: generalize whole attributes, then suppress cells that are in unsafe combinations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar

from kohorte.models import KAnonymity
from kohorte.recoding.base import RecodingProblem, refuse_people
from kohorte.recoding.cells import Recoding
from kohorte.recoding.hidden_cells import Combination, HiddenCells

IDENTIFICATION = ("most", "more", "identifying")
ALWAYS = {
    ("identifying", "more", "most"),
    ("identifying", "most", "most"),
    ("most", "most", "most"),
    ("identifying", "more"),
    ("identifying", "most"),
    ("more", "most"),
    ("most", "most"),
}
WITH_SEVERAL_IDENTIFYING = {("more", "more", "most"), ("more", "most", "most"), ("more", "more")}
MOST_ATTRIBUTES = 12


class MuArgus:
    """mu-Argus as published: tests pairs and triples of attributes, depending on how identifying they are.

    Every attribute is generalized until each of its values occurs at least k times; `minimum_level` in the plan
    replaces the manual recoding of the original. Then pairs and triples of attributes are tested. The option
    `identification` says how identifying an attribute is (most, more, identifying); attributes that it does not name
    are identifying. Without the option all are most, so that all pairs and triples are tested. `ALWAYS` lists the
    tested pairs and triples; those of `WITH_SEVERAL_IDENTIFYING` are added if several attributes are identifying. A
    combination of values that fewer than k rows show is unsafe; a suppressed cell shows nothing. In every row the cell
    that is in the most unsafe combinations is suppressed, until no combination is unsafe.

    The result may fail k-anonymity, because many combinations are never tested. A result that fails is refused.

    Optimal or heuristic
        Heuristic, and without a guarantee; for k-anonymity only.
    Complexity
        One grouping of the rows per combination and round; a row has at most one round per attribute.
    Source
        Hundepool, Willenborg, mu- and tau-Argus, 1996; Sweeney, Achieving k-Anonymity Privacy Protection Using
        Generalization and Suppression, 2002, section 7.
    """

    name: ClassVar[str] = "mu_argus"
    options: ClassVar[tuple[str, ...]] = ("identification",)

    def refuse(self, problem: RecodingProblem) -> str | None:
        """It counts rows, so it can be used with k-anonymity only."""
        for model in problem.goal.models:
            if not isinstance(model, KAnonymity):
                return f"it counts how many rows show a combination, which says nothing about model {model.name}"
        return refuse_people(problem)

    def run(self, problem: RecodingProblem) -> Recoding:
        """Generalize, then suppress cells."""
        names = [column.name for column in problem.table.columns]
        stated = problem.goal.options.identification
        kinds = [stated.get(name, "identifying" if stated else "most") for name in names]
        cells = HiddenCells(problem, [IDENTIFICATION.index(kind) for kind in kinds])
        complete = cells.make_safe(combinations_to_test(kinds))
        few = len(names) <= MOST_ATTRIBUTES
        remedy = (
            f"; mu_argus tested {cells.tested:,} pairs and triples of attributes and suppressed {cells.suppressed:,} "
            "cells, but never looks at larger combinations: "
            + ("mu_argus_complete tests all of them" if few else "cell_suppression makes classes of all attributes")
        )
        return cells.recoding(complete=complete, remedy=remedy)


class MuArgusComplete(MuArgus):
    """mu-Argus with a complete test: tests all combinations of attributes, of any size.

    When no combination is unsafe, rows with different suppressed cells still differ in their `*`. Rows in classes of
    fewer than k rows therefore suppress further cells, always the one that leads to the largest class, until the class
    has k rows or the row shows only `*`. If fewer than k rows show only `*`, but more than the limit allows to
    suppress, the smallest class suppresses all its cells, too. So the result is k-anonymous.

    Optimal or heuristic
        Heuristic; the result is always k-anonymous. For k-anonymity only.
    Complexity
        2^n groupings of the rows per round for n attributes, at most 12; a row has at most n rounds.
    Source
        Suggested by Sweeney, Achieving k-Anonymity Privacy Protection Using Generalization and Suppression, 2002,
        section 7.
    """

    name: ClassVar[str] = "mu_argus_complete"
    options: ClassVar[tuple[str, ...]] = ()

    def refuse(self, problem: RecodingProblem) -> str | None:
        """The conditions of mu_argus, and at most 12 attributes."""
        attributes = len(problem.table.columns)
        if attributes > MOST_ATTRIBUTES:
            return (
                f"it tests all combinations of attributes, so there may be at most {MOST_ATTRIBUTES} "
                f"quasi-identifiers; this plan has {attributes}"
            )
        return super().refuse(problem)

    def run(self, problem: RecodingProblem) -> Recoding:
        """Generalize, suppress cells, and enlarge classes that are too small."""
        axes = range(len(problem.table.columns))
        cells = HiddenCells(problem, [0] * len(axes))
        complete = cells.make_safe([chosen for size in axes for chosen in combinations(axes, size + 1)])
        cells.leave_no_small_class()
        return cells.recoding(complete=complete)


def combinations_to_test(kinds: Sequence[str]) -> list[Combination]:
    """The combinations that the published algorithm tests, given how identifying each attribute is."""
    wanted = ALWAYS | (WITH_SEVERAL_IDENTIFYING if kinds.count("identifying") > 1 else set())
    every = [chosen for size in (2, 3) for chosen in combinations(range(len(kinds)), size)]
    return [chosen for chosen in every if tuple(sorted(kinds[axis] for axis in chosen)) in wanted]
