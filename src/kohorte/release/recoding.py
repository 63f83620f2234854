"""From a recoding to a release: cells that may differ from row to row."""

from __future__ import annotations

import time
from dataclasses import replace

import polars as pl

from kohorte.data import Role
from kohorte.errors import InputError, NoSolution, PrivacyViolation
from kohorte.recoding import Recoding, RecodingProblem
from kohorte.release.algorithms import able, recoder_named, recoding_problem
from kohorte.release.decorrelation import decorrelate
from kohorte.release.population import without_flag
from kohorte.release.preparation import Prepared
from kohorte.release.release import Release, in_order
from kohorte.search import Evaluation, SearchResult

ROUNDING = 1e-9
"""By how much a cost may differ from its bound because of rounding."""


def find_recoding(prepared: Prepared, started: float, *, input_rows: int) -> Release:
    """Return the release that the plan's recoding algorithm makes, not yet verified."""
    encoded = time.perf_counter()
    problem = recoding_problem(prepared)
    recoding = recode(prepared, problem)
    evaluation = judge(prepared, problem, recoding)
    searched = time.perf_counter()
    return Release(
        plan=prepared.plan,
        data=in_order(apply_recoding(prepared, recoding), prepared.plan),
        node=None,
        evaluation=evaluation,
        result=SearchResult(
            best=evaluation,
            optimal=recoding.optimal,
            lower_bound=recoding.lower_bound,
            checked=recoding.checked,
            tagged=0,
            heuristic=recoding.heuristic,
        ),
        rows=prepared.frame.height,
        rolled_up=0,
        distinct_rows=0,
        lattice=0,
        hierarchies={column.name: column.hierarchy for column in prepared.table.columns},
        kept_classes=pl.DataFrame(),
        all_starred=bool(recoding.all_starred.all()),
        seconds={"encode": encoded - started, "search": searched - encoded},
        input_rows=input_rows,
        populations=prepared.populations,
        population_hashes=prepared.population_hashes,
        recoding=recoding,
    )


def recode(prepared: Prepared, problem: RecodingProblem) -> Recoding:
    """Run the plan's algorithm, and settle what becomes of rows that show nothing."""
    algorithm = recoder_named(prepared.plan.search.algorithm)
    reason = algorithm.refuse(problem)
    if reason is not None:
        raise InputError(
            f"algorithm {algorithm.name} cannot solve this plan: {reason}; these can: {able(prepared)}",
            code="algorithm-unfit",
        )
    if not len(problem.rows):
        raise NoSolution("every row lacks a value, so that there is nothing to recode", code="recoding-no-solution")
    recoding = algorithm.run(problem)
    starred, excluded = int(recoding.all_starred.sum()), int((~prepared.table.included).sum())
    everybody = starred == prepared.table.rows and problem.everybody_holds()
    if excluded and starred > problem.goal.limit and not everybody:
        raise NoSolution(
            f"{starred:,} rows show nothing, {excluded:,} of them because they lack a value, and the limit allows "
            f"{problem.goal.limit:,}: fill the gaps, or count missing as a value of its own (missing: category)",
            code="recoding-limit",
        )
    recoding = recoding.settled(problem.goal.limit)
    if recoding.optimal and problem.cost(recoding) > recoding.lower_bound + ROUNDING * (1 + abs(recoding.lower_bound)):
        recoding = replace(recoding, optimal=False)  # what it looked at is not quite what is shown
    for column in recoding.columns:
        column.refuse_untrue(prepared.table.included)
    return recoding


def judge(prepared: Prepared, problem: RecodingProblem, recoding: Recoding) -> Evaluation:
    """The verdict and the cost of a recoding; one that fails its models goes no further."""
    recoded, satisfied = problem.counted(recoding)
    suppressed = recoded.suppressed
    failing = recoded.kept & ~satisfied
    if failing.any():
        raise PrivacyViolation(
            f"algorithm {prepared.plan.search.algorithm} made {int(failing.sum()):,} classes "
            f"({int(recoded.sizes[failing].sum()):,} rows) that do not satisfy the models, so nothing is released"
            f"{recoding.remedy}",
            code="recoding-fails",
        )
    if suppressed > problem.goal.limit:
        raise NoSolution(
            f"algorithm {prepared.plan.search.algorithm} would suppress {suppressed:,} rows, and the limit allows "
            f"{problem.goal.limit:,}",
            code="recoding-limit",
        )
    kept = recoded.sizes[recoded.kept]
    return Evaluation(
        node=(),
        solution=True,
        cost=problem.goal.metric.recoded(recoded, smallest_class=problem.goal.smallest_class),
        suppressed=suppressed,
        classes=len(kept),
        smallest_class=int(kept.min()) if len(kept) else None,
    )


def apply_recoding(prepared: Prepared, recoding: Recoding) -> pl.DataFrame:
    """The table as the recoding shows it, without identifying columns."""
    data = without_flag(prepared.frame, prepared.plan).drop(prepared.plan.names(Role.IDENTIFYING), strict=False)
    shown = data.with_columns(column.shown(recoding.kept) for column in recoding.columns)
    return decorrelate(shown, prepared.plan)
