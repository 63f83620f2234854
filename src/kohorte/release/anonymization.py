"""From a table and a plan to the best release."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from kohorte.data import FrameKind, to_polars
from kohorte.engines import Engine, engine_for
from kohorte.errors import InputError, NoSolution
from kohorte.kernels.arrays import Bools
from kohorte.lattice import Node
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.people.project_pseudonyms import Pseudonymize, refuse_without_pseudonyms
from kohorte.plans.plan import Plan
from kohorte.plans.population import refuse_missing_people
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.release.algorithms import able, is_recoder
from kohorte.release.candidate import Candidate
from kohorte.release.explain import most_missing, no_solution
from kohorte.release.preparation import EncodedProblem, encode_problem
from kohorte.release.recoding import judge, recode, recoding_problem, shown_cells
from kohorte.release.release import Release
from kohorte.release.shown_people import ShownPeople
from kohorte.release.telling.losses import losses_of
from kohorte.search import (
    Evaluator,
    Problem,
    Search,
    SearchResult,
    all_starred,
    full_domain,
    search_named,
)
from kohorte.sources import SOURCES, FrameSource, SparkSource, TableSource
from kohorte.sources.spark import spark_as_source

LARGE = 100_000
"""With at least so many distinct rows, threads count nodes; our own choice, without a recorded measurement."""

MOST_THREADS = 8
"""The most threads, unless the plan sets another number; our own choice, without a recorded measurement."""


@dataclass(frozen=True, eq=False)
class SearchSetup:
    """An encoded problem with the evaluator and the search problem of its lattice."""

    encoded: EncodedProblem
    evaluator: Evaluator = field(repr=False)
    problem: Problem = field(repr=False)

    @property
    def engine(self) -> Engine:
        """The engine that counts the nodes."""
        return self.evaluator.engine


def set_up_search(encoded: EncodedProblem, engine: Engine | None = None) -> SearchSetup:
    """Create the search problem of an encoded table, and its engine unless one is given."""
    engine, name = engine or engine_for(encoded.table), encoded.plan.search.algorithm
    k_or_none = not is_recoder(name) and search_named(name).suppresses_k_or_none
    evaluator, problem = full_domain(encoded.table, encoded.goal, engine, k_or_none=k_or_none)
    if encoded.plan.population_files:
        rows, classes = (encoded.source, encoded.tuples), engine.classes(problem.lattice.bottom)
        refuse_missing_people(rows, encoded.table, classes, encoded.plan)
    return SearchSetup(encoded, evaluator, problem)


def anonymize(
    frame: object, plan: Plan, *, progress: ProgressCallback | None = None, pseudonymize: Pseudonymize | None = None
) -> Release:
    """Return the best release of a table (polars, pandas, arrow, Spark or a `DuckDbSource`) that satisfies a plan.

    The caller's table is never changed. `progress` is called when a stage begins, and during the search several times a
    second with the best cost and a lower bound; if it then returns False, the search stops and the best release found
    so far is returned, marked as not optimal. The rows of the release are counted again and verified before it is
    returned. A plan with a `pseudonym` needs `pseudonymize`: it takes the name of a domain and a polars series of
    different texts, and returns their pseudonyms in the same order.
    """
    source, kind = _opened(frame)
    candidate = find_candidate(source, plan, progress=progress, pseudonymize=pseudonymize)
    if isinstance(candidate.table, SparkSource):  # rows that are computed again might not be those that were verified
        candidate = replace(candidate, table=candidate.table.settled())
    tell(progress, Stage.VERIFYING, "the release")
    return Release.verified(candidate, kind=kind)


def _opened(frame: object) -> tuple[TableSource, FrameKind]:
    given = spark_as_source(frame)
    if isinstance(given, SOURCES):
        return given, FrameKind.POLARS
    table, kind = to_polars(given)
    return FrameSource(table), kind


def find_candidate(
    source: TableSource,
    plan: Plan,
    *,
    progress: ProgressCallback | None = None,
    pseudonymize: Pseudonymize | None = None,
    notes: bool = True,
) -> Candidate:
    """Return the best candidate for a release of a table; it becomes a release only by its verification.

    A caller that looks for several candidates leaves out the `notes` about people, and adds them to the last one.
    """
    started = time.perf_counter()
    refuse_kept_order(source, plan)
    encoded = encode_problem(source, plan, progress=progress, pseudonymize=pseudonymize)
    refuse_without_pseudonyms(plan, pseudonymize)
    if is_recoder(plan.search.algorithm):
        return _noted(_recoded(encoded, started), encoded, notes)
    tell(progress, Stage.SEARCHING, _with(plan))
    return _noted(searched(set_up_search(encoded), started), encoded, notes)


def refuse_kept_order(source: TableSource, plan: Plan) -> None:
    """Refuse to keep an order that a table does not have; what is no plan is refused later."""
    if isinstance(source, SparkSource) and getattr(plan, "order", None) == "input":
        raise InputError(
            "output: order: input cannot be kept, because a table in Spark has no order; leave it out",
            code="source-no-order",
        )


def searched(setup: SearchSetup, started: float) -> Candidate:
    """Search the best node and return its candidate, without notes about people; `started` is when encoding began."""
    encoded, ready = setup.encoded, time.perf_counter()
    result = search(setup)
    if result.best is None:
        raise nothing_found(setup, result)
    seconds = {"encode": ready - started, "search": time.perf_counter() - ready}
    tell(encoded.goal.progress, Stage.GENERALIZING, f"{encoded.table.rows:,} rows")
    shown, kept_classes = apply(setup, result.best.node)
    return _candidate(
        encoded,
        shown,
        node=result.best.node,
        result=result,
        rolled_up=setup.engine.rolled_up,
        distinct_rows=setup.engine.distinct_rows,
        lattice=setup.problem.lattice.size,
        kept_classes=kept_classes,
        all_starred=all_starred(encoded.table, result.best.node),
        seconds=seconds,
        one_row_cost=_cost_for_one_row(encoded),
    )


def _noted(found: Candidate, encoded: EncodedProblem, notes: bool) -> Candidate:
    return replace(found, person_notes=person_notes(encoded.source, encoded.plan)) if notes else found


def _cost_for_one_row(encoded: EncodedProblem) -> float | None:
    """What the release would cost if an attacker knew one row of a person only; None if this is what the plan says."""
    persons = encoded.table.persons
    if persons is None or not persons.by_sets or persons.links is not None:
        return None
    tell(encoded.goal.progress, Stage.SEARCHING, "what one row of a person would cost")
    table = replace(encoded.table, persons=replace(persons, by_sets=False))
    best = search(set_up_search(replace(encoded, table=table))).best
    return None if best is None else best.cost


def _with(plan: Plan) -> str:
    return f"with {plan.search.algorithm}"


def _recoded(encoded: EncodedProblem, started: float) -> Candidate:
    """Return the result of the plan's recoder."""
    ready = time.perf_counter()
    tell(encoded.goal.progress, Stage.SEARCHING, _with(encoded.plan))
    problem = recoding_problem(encoded)
    recoding = recode(encoded, problem)
    tell(encoded.goal.progress, Stage.CHECKING, "every class")
    evaluation = judge(encoded, problem, recoding)
    tell(encoded.goal.progress, Stage.GENERALIZING, f"{encoded.table.rows:,} rows")
    seconds = {"encode": ready - started, "search": time.perf_counter() - ready}
    shown = encoded.untied(shown_cells(recoding), ~recoding.all_starred)
    return _candidate(
        encoded,
        shown,
        node=None,
        result=SearchResult(
            best=evaluation,
            optimal=recoding.optimal,
            lower_bound=recoding.lower_bound,
            checked=recoding.checked,
            tagged=0,
            heuristic=recoding.heuristic,
        ),
        all_starred=bool(recoding.all_starred.all()),
        seconds=seconds,
        recoding=recoding,
    )


def _candidate(encoded: EncodedProblem, shown: pl.DataFrame, *, node: Node | None, **found: Any) -> Candidate:
    """The result of an algorithm, with the facts about the table; row `t` of `shown` is what tuple `t` shows."""
    released = encoded.released(shown)
    return Candidate(
        plan=encoded.plan,
        table=released,
        node=node,
        losses=losses_of(encoded, shown, released, node),
        people=ShownPeople.of(encoded.tuples, shown, encoded.plan),
        rows=encoded.table.rows,
        hierarchies={column.name: column.hierarchy for column in encoded.table.columns},
        input_rows=encoded.input_rows,
        populations=encoded.populations,
        population_hashes=encoded.population_hashes,
        **found,
    )


def search(setup: SearchSetup) -> SearchResult:
    """Run the plan's algorithm; if the plan fixes the levels, count them alone."""
    problem = setup.problem
    if setup.encoded.plan.search.levels:
        return _fixed(setup)
    algorithm = search_named(setup.encoded.plan.search.algorithm)
    reason = algorithm.refuse(problem)
    if reason is not None:
        others = able(problem, recoding_problem(setup.encoded))
        raise InputError(
            f"algorithm {algorithm.name} cannot solve this plan: {reason}; these can: {others}", code="algorithm-unfit"
        )
    if algorithm.lists_nodes and problem.lattice.too_large is not None:
        others = able(problem, recoding_problem(setup.encoded))
        problem.lattice.refuse_listing(f"take another algorithm (these can: {others}), ")
    with counting_ahead(setup):
        return run_to_the_end(algorithm, problem)


def _fixed(setup: SearchSetup) -> SearchResult:
    """Count the node that the plan fixes; it is the best only if it is a solution."""
    node, lattice = fixed_node(setup.encoded.plan), setup.problem.lattice
    for name, level, top in zip(setup.encoded.plan.quasi_identifiers, node, lattice.top, strict=True):
        if level > top:
            highest = setup.encoded.plan.minimum_levels[name] + top
            raise InputError(f"search: levels: {name}: its hierarchy ends with level {highest}", code="plan-levels")
    setup.problem.evaluate(node)
    return SearchResult(setup.problem.best, False, -math.inf, setup.problem.checked, tagged=0, heuristic=True)


def fixed_node(plan: Plan) -> Node:
    """Return the node of the levels that a plan fixes."""
    return tuple(plan.search.levels[name] - least for name, least in plan.minimum_levels.items())


def run_to_the_end(algorithm: Search, problem: Problem) -> SearchResult:
    """Run a search; if its time is over before it found anything, try the top node, the most likely solution."""
    problem.started = time.monotonic()
    result = algorithm.run(problem)
    if result.best is None and not result.optimal:
        problem.time_limit = None
        problem.evaluate(problem.lattice.top)
        result = replace(result, best=problem.best, checked=problem.checked)
    return result


@contextmanager
def counting_ahead(setup: SearchSetup, *, always: bool = False) -> Iterator[None]:
    """Let threads count nodes ahead of the search: as many as the plan says, otherwise one per core for large tables.

    For small tables, the searching thread is as busy as the counting ones, so it counts as one of them. If all nodes
    are counted in any case, threads are used `always`; a search prefers to know the previous result first.
    """
    large = setup.engine.distinct_rows >= LARGE
    wanted = setup.encoded.plan.search.threads
    threads = wanted or (min(os.cpu_count() or 1, MOST_THREADS) if large or always else 1)
    setup.problem.ahead = threads + (threads > 1)
    setup.engine.use_threads(threads if large and threads > 1 else threads - 1)
    try:
        yield
    finally:
        setup.engine.use_threads(0)


def nothing_found(setup: SearchSetup, result: SearchResult) -> NoSolution:
    """Return the error of a search without a result: what would have to be relaxed, if nothing satisfies the plan."""
    if setup.encoded.plan.search.levels:
        return _levels_fail(setup)
    if not result.optimal:
        return NoSolution("the search was stopped before any release was found; give it more time", code="time-limit")
    encoded, groups = setup.encoded, setup.engine.groups(setup.problem.lattice.top)
    everything = replace(
        setup.evaluator, limit=encoded.table.rows
    )  # to count the rows that would have to be suppressed
    return no_solution(
        encoded.plan,
        everything.judge(groups).suppressed,
        groups,
        rows=encoded.table.rows,
        excluded=encoded.table.excluded,
        missing=most_missing(encoded.tuples, encoded.plan),
    )


def _levels_fail(setup: SearchSetup) -> NoSolution:
    everything = replace(setup.evaluator, limit=setup.encoded.table.rows, bounds=False)
    gone = everything(fixed_node(setup.encoded.plan)).suppressed
    return NoSolution(
        f"with the levels that the plan fixes, {gone:,} rows would have to be suppressed, and the limit allows "
        f"{setup.problem.limit:,}; leave out search: levels, so that levels are searched, or fix others",
        code="levels-no-solution",
    )


def apply(setup: SearchSetup, node: Node) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tuples as a node shows them, and the distinct classes that it keeps."""
    table = setup.encoded.table
    class_of, groups = setup.engine.classes(node)
    kept_groups = setup.evaluator.kept(groups)
    kept: Bools = np.zeros(len(table.weights), dtype=bool)
    kept[table.included] = kept_groups[class_of]
    columns = zip(table.columns, node, groups.codes(kept_groups).T, strict=True)
    kept_classes = pl.DataFrame([column.labelled(level, codes) for column, level, codes in columns])
    return setup.encoded.untied(table.shown(node, kept), kept), kept_classes
