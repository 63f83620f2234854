"""From a table and a plan to the best release there is."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace

import numpy as np
import polars as pl

from kohorte.data import Role, from_polars, to_polars
from kohorte.engines import LocalEngine
from kohorte.errors import InputError, NoSolution
from kohorte.kernels.arrays import Bools
from kohorte.lattice import Node
from kohorte.release.algorithms import able, is_recoder
from kohorte.release.decorrelation import decorrelate
from kohorte.release.explain import no_solution
from kohorte.release.plan import Plan
from kohorte.release.population import refuse_missing_people, without_flag
from kohorte.release.preparation import Prepared, encode_for
from kohorte.release.recoding import find_recoding
from kohorte.release.release import Release, in_order
from kohorte.release.verification import refuse_unverified, verify_table
from kohorte.search import (
    Evaluator,
    Problem,
    ProgressCallback,
    SearchResult,
    all_starred,
    full_domain,
    search_named,
)

LARGE = 100_000
MOST_THREADS = 8


@dataclass(frozen=True, eq=False)
class Setting(Prepared):
    """A table made ready for searching its lattice."""

    engine: LocalEngine = field(repr=False)
    evaluator: Evaluator = field(repr=False)
    problem: Problem = field(repr=False)


def prepare(frame: pl.DataFrame, plan: Plan, *, progress: ProgressCallback | None = None) -> Setting:
    """Check a table against a plan, encode it and set up the search."""
    return ready(encode_for(frame, plan, progress=progress))


def ready(prepared: Prepared) -> Setting:
    """Set up the search of an encoded table."""
    found = full_domain(prepared.table, prepared.goal)
    if prepared.plan.population_files:
        refuse_missing_people(*found.engine.classes(found.problem.lattice.bottom), prepared.plan)
    known = {part.name: getattr(prepared, part.name) for part in fields(prepared)}
    return Setting(**known, engine=found.engine, evaluator=found.evaluator, problem=found.problem)


def anonymize(frame: object, plan: Plan, *, progress: ProgressCallback | None = None) -> Release:
    """Return the best release of a table (polars, pandas or arrow) that satisfies a plan.

    The caller's table is never changed. `progress` is called now and then with the best cost and a lower bound;
    when it returns False, the search stops and the best release found so far is returned, marked as not optimal.
    The release is verified anew from its rows before it is returned.
    """
    table, kind = to_polars(frame)
    release = find_release(table, plan, progress=progress)
    refuse_unverified(verify_table(release.data, plan, release.populations, levels=release.levels), release)
    return replace(release, data=from_polars(release.data, kind))


def find_release(frame: pl.DataFrame, plan: Plan, *, progress: ProgressCallback | None = None) -> Release:
    """Return the best release of a polars table, not yet verified: whoever hands it on has to do that."""
    started = time.perf_counter()
    prepared = encode_for(frame, plan, progress=progress)
    if is_recoder(plan.search.algorithm):
        return find_recoding(prepared, started, input_rows=frame.height)
    setting = ready(prepared)
    encoded = time.perf_counter()
    result = search(setting)
    if result.best is None:
        raise _nothing_found(setting, result)
    searched = time.perf_counter()
    data, kept_classes = apply(setting, result.best.node)
    return Release(
        plan=plan,
        data=in_order(data, plan),
        node=result.best.node,
        evaluation=result.best,
        result=result,
        rows=setting.frame.height,
        rolled_up=setting.engine.rolled_up,
        distinct_rows=setting.engine.distinct_rows,
        lattice=setting.problem.lattice.size,
        hierarchies={column.name: column.hierarchy for column in setting.table.columns},
        kept_classes=kept_classes,
        all_starred=all_starred(setting.table, result.best.node),
        seconds={"encode": encoded - started, "search": searched - encoded},
        input_rows=frame.height,
        populations=setting.populations,
        population_hashes=setting.population_hashes,
    )


def search(setting: Setting) -> SearchResult:
    """Run the plan's algorithm."""
    algorithm = search_named(setting.plan.search.algorithm)
    reason = algorithm.refuse(setting.problem)
    if reason is not None:
        raise InputError(
            f"algorithm {algorithm.name} cannot solve this plan: {reason}; these can: {able(setting, setting.problem)}",
            code="algorithm-unfit",
        )
    problem = setting.problem
    problem.started = time.monotonic()
    with counting_ahead(setting):
        result = algorithm.run(problem)
    if result.best is None and not result.optimal:  # out of time: the top node is the likeliest solution of all
        problem.time_limit = None
        problem.evaluate(problem.lattice.top)
        result = replace(result, best=problem.best, checked=problem.checked)
    return result


@contextmanager
def counting_ahead(setting: Setting, *, always: bool = False) -> Iterator[None]:
    """Let threads count nodes that are begun, as many as the plan says, or as pay off: with a small table none.

    Beside them there is the thread that searches. With a small table, that one is as busy as they are. Whoever counts
    all nodes anyway can `always` begin the next ones; a search would rather know the result of one before.
    """
    large = setting.engine.distinct_rows >= LARGE
    threads = setting.plan.search.threads or (min(os.cpu_count() or 1, MOST_THREADS) if large or always else 1)
    setting.problem.ahead = threads + (threads > 1)
    setting.engine.use_threads(threads if large and threads > 1 else threads - 1)
    try:
        yield
    finally:
        setting.engine.use_threads(0)


def _nothing_found(setting: Setting, result: SearchResult) -> NoSolution:
    if not result.optimal:
        return NoSolution("the search was stopped before any release was found; give it more time", code="time-limit")
    groups = setting.engine.groups(setting.problem.lattice.top)
    everything = replace(setting.evaluator, limit=setting.frame.height)  # how many rows would have to go in the end
    return no_solution(setting.plan, setting.table, setting.frame, everything.judge(groups), groups)


def apply(setting: Setting, node: Node) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the table generalized to a node, without identifying columns, and the distinct classes that it keeps."""
    classes, groups = setting.engine.classes(node)
    kept_groups = setting.evaluator.kept(groups)
    kept: Bools = np.zeros(setting.table.rows, dtype=bool)
    kept[setting.table.included] = kept_groups[classes]
    generalized = setting.engine.apply(setting.frame, node, kept)
    data = without_flag(setting.frame, setting.plan).drop(setting.plan.names(Role.IDENTIFYING), strict=False)
    data = decorrelate(data.with_columns(generalized), setting.plan)
    columns = zip(setting.table.columns, node, groups.codes(kept_groups).T, strict=True)
    kept_classes = pl.DataFrame([column.generalized(level, codes) for column, level, codes in columns])
    return data, kept_classes
