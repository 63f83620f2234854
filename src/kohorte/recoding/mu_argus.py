"""mu-Argus: recode attributes as a whole, then suppress cells that are in unsafe combinations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar

from kohorte.models import KAnonymity
from kohorte.recoding.base import RecodingProblem
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
    """mu-Argus as published: combinations of two and three attributes are tested, by how identifying these are.

    Every attribute is generalized until each of its values occurs at least k times; a `minimum_level` of the plan is
    what the user of the original recodes by hand. Then pairs and triples of attributes are tested. Which, depends on
    how identifying they are (option `identification`: most, more, identifying; those that it does not name are
    identifying, and where it names none, all are most, so that all pairs and triples are tested): identifying
    with more with most, identifying with most with most, three of most; identifying with more, identifying with most,
    more with most, two of most; and, where several attributes are identifying, more with more with most, more with
    most with most, two of more. What fewer than k rows show is unsafe; a suppressed cell shows nothing. In every row
    the cell that is in most unsafe combinations is suppressed, until none is left.

    The result may fail k-anonymity, because larger combinations and many small ones are never tested. It is judged
    like every other, and refused when it fails.

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
        """It counts rows, and nothing else."""
        for model in problem.goal.models:
            if not isinstance(model, KAnonymity):
                return f"it counts how many rows show a combination, which says nothing about model {model.name}"
        return None

    def run(self, problem: RecodingProblem) -> Recoding:
        """Recode, then suppress cells."""
        names = [column.name for column in problem.table.columns]
        stated = problem.goal.options.identification
        kinds = [stated.get(name, "identifying" if stated else "most") for name in names]
        cells = HiddenCells(problem, [IDENTIFICATION.index(kind) for kind in kinds])
        complete = cells.make_safe(combinations_to_test(kinds))
        remedy = (
            f"; mu_argus tested {cells.tested:,} pairs and triples of attributes and suppressed {cells.suppressed:,} "
            "cells, but never looks at larger combinations: mu_argus_complete tests all of them"
        )
        return cells.recoding(complete=complete, remedy=remedy)


class MuArgusComplete(MuArgus):
    """mu-Argus with a complete test: combinations of any number of attributes are tested, single ones as well.

    When none is unsafe, rows that suppressed different cells can still be told apart by their `*`. So rows in classes
    of fewer than k rows go on to suppress cells, always the one whose suppression leads into the largest class, until
    they are in a class of k rows or show nothing. Should fewer than k rows show nothing, and more than the plan allows
    to suppress, the smallest class joins them. So the result is k-anonymous.

    Optimal or heuristic
        Heuristic; the result is always k-anonymous. For k-anonymity only.
    Complexity
        2^n groupings of the rows per round for n attributes, at most 12; a row has at most n rounds.
    Source
        The remedy that Sweeney, Achieving k-Anonymity Privacy Protection Using Generalization and Suppression, 2002,
        section 7, names for what mu-Argus leaves out.
    """

    name: ClassVar[str] = "mu_argus_complete"
    options: ClassVar[tuple[str, ...]] = ()

    def refuse(self, problem: RecodingProblem) -> str | None:
        """As the original, and not too many attributes."""
        attributes = len(problem.table.columns)
        if attributes > MOST_ATTRIBUTES:
            return (
                f"it tests all combinations of attributes, so there may be at most {MOST_ATTRIBUTES} "
                f"quasi-identifiers; this plan has {attributes}"
            )
        return super().refuse(problem)

    def run(self, problem: RecodingProblem) -> Recoding:
        """Recode, suppress cells, and leave no class too small."""
        axes = range(len(problem.table.columns))
        cells = HiddenCells(problem, [0] * len(axes))
        complete = cells.make_safe([chosen for size in axes for chosen in combinations(axes, size + 1)])
        cells.leave_no_small_class()
        return cells.recoding(complete=complete)


def combinations_to_test(kinds: Sequence[str]) -> list[Combination]:
    """The combinations that the original tests, given how identifying each attribute is."""
    wanted = ALWAYS | (WITH_SEVERAL_IDENTIFYING if kinds.count("identifying") > 1 else set())
    every = [chosen for size in (2, 3) for chosen in combinations(range(len(kinds)), size)]
    return [chosen for chosen in every if tuple(sorted(kinds[axis] for axis in chosen)) in wanted]
