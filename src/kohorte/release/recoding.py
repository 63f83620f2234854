"""Runs a recoder and judges its result."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from kohorte.engines import engine_for
from kohorte.errors import InputError, NoSolution, PrivacyViolation
from kohorte.in_words import count
from kohorte.recoding import Recoding, RecodingProblem
from kohorte.release.algorithms import able, recoder_named, refusal
from kohorte.release.preparation import EncodedProblem
from kohorte.search import Evaluation, full_domain

ROUNDING = 1e-9
"""A tolerance for rounding errors between a cost and its bound."""


def recoding_problem(encoded: EncodedProblem) -> RecodingProblem:
    """The problem for a recoder."""
    builders = {name: encoded.plan.attributes[name].hierarchy for name in encoded.plan.quasi_identifiers}
    return RecodingProblem(encoded.table, encoded.goal, builders, engine_for)


def recode(encoded: EncodedProblem, problem: RecodingProblem) -> Recoding:
    """Run the plan's recoder, and decide whether rows that show only `*` are suppressed."""
    algorithm = recoder_named(encoded.plan.search.algorithm)
    reason = refusal(algorithm, problem)
    if reason is not None:
        _, search = full_domain(encoded.table, encoded.goal, engine_for(encoded.table))
        raise InputError(
            f"algorithm {algorithm.name} cannot solve this plan: {reason}; these can: {able(search, problem)}",
            code="algorithm-unfit",
        )
    if not len(problem.rows):
        raise NoSolution("every row lacks a value, so that there is nothing to recode", code="recoding-no-solution")
    recoding = algorithm.run(problem)
    starred, excluded = int(recoding.all_starred.sum()), encoded.table.excluded
    everybody = starred == encoded.table.rows and problem.everybody_holds()
    if excluded and starred > problem.goal.limit and not everybody:
        raise NoSolution(
            f"{starred:,} rows show nothing, {excluded:,} of them because they lack a value, and the limit allows "
            f"{problem.goal.limit:,}: fill the gaps, or count missing as a value of its own (missing: category)",
            code="recoding-limit",
        )
    recoding = recoding.settled(problem.goal.limit)
    if recoding.optimal and problem.cost(recoding) > recoding.lower_bound + ROUNDING * (1 + abs(recoding.lower_bound)):
        recoding = replace(recoding, optimal=False)  # the released cells can cost more than those that it considered
    for column in recoding.columns:
        column.refuse_untrue(problem.table.included)
    return recoding


def judge(encoded: EncodedProblem, problem: RecodingProblem, recoding: Recoding) -> Evaluation:
    """Return the evaluation of a recoding; raise an error if it fails the models or the suppression limit."""
    recoded, groups = problem.counted(recoding)
    suppressed = recoded.suppressed
    failing = recoded.kept & ~problem.satisfied(groups)
    if failing.any():
        do = "does" if failing.sum() == 1 else "do"
        raise PrivacyViolation(
            f"algorithm {encoded.plan.search.algorithm} made {count(int(failing.sum()), 'class', 'classes')} "
            f"({count(int(recoded.sizes[failing].sum()), 'row')}) that {do} not satisfy the models, so nothing is "
            f"released{recoding.remedy}",
            code="recoding-fails",
        )
    if suppressed > problem.goal.limit:
        raise NoSolution(
            f"algorithm {encoded.plan.search.algorithm} would suppress {count(suppressed, 'row')}, and the limit "
            f"allows {problem.goal.limit:,}",
            code="recoding-limit",
        )
    kept = groups.judged.sizes[recoded.kept]
    return Evaluation(
        node=(),
        solution=True,
        cost=problem.goal.metric.recoded(recoded, smallest_class=problem.goal.smallest_class),
        suppressed=suppressed,
        classes=len(kept),
        smallest_class=int(kept.min()) if len(kept) else None,
    )


def shown_cells(recoding: Recoding) -> pl.DataFrame:
    """The quasi-identifiers of a recoded table, as released."""
    return pl.DataFrame([column.shown(recoding.kept) for column in recoding.columns])
