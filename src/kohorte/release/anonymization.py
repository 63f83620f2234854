"""From a table and a plan to the best release there is."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from kohorte.data import Role, from_polars, to_polars
from kohorte.engines import EncodedTable, LocalEngine, encode
from kohorte.errors import InputError, NoSolution
from kohorte.hierarchy import SUPPRESSED, Builder, Ordering
from kohorte.kernels.arrays import Bools
from kohorte.lattice import Lattice, Node
from kohorte.release.columns import check_columns
from kohorte.release.explain import no_solution
from kohorte.release.plan import Plan
from kohorte.release.release import Release, in_order
from kohorte.release.verification import refuse_unverified, verify_table
from kohorte.search import SEARCHES, Evaluator, Problem, ProgressCallback, SearchResult, search_named

LARGE = 100_000
MOST_THREADS = 8

VALUE_OR_STAR = Ordering()
"""The hierarchy of a quasi-identifier for which the plan names none."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A table made ready for searching: encoded, with an engine and the models and metric of the plan."""

    plan: Plan
    frame: pl.DataFrame = field(repr=False)
    table: EncodedTable = field(repr=False)
    engine: LocalEngine = field(repr=False)
    evaluator: Evaluator = field(repr=False)
    problem: Problem = field(repr=False)


def prepare(frame: pl.DataFrame, plan: Plan, *, progress: ProgressCallback | None = None) -> Setting:
    """Check a table against a plan, encode it and set up the search."""
    check_columns(frame.columns, plan)
    if frame.height == 0:
        raise InputError("the table has no rows", code="table-no-rows")
    for model in plan.models:
        if model.smallest_class > frame.height:
            raise InputError(
                f"model {model.name} asks for classes of {model.smallest_class:,} rows, but the table has only "
                f"{frame.height:,}",
                code="model-beyond-rows",
            )
    table = encode(frame, hierarchies(plan), missing=plan.missing, sensitive=plan.histograms)
    weights = {name: float(attribute.weight) for name, attribute in plan.attributes.items()}
    marginals = table.marginals(weights)
    limit = plan.most_suppressed(frame.height)
    lattice = Lattice(table.shape)
    costing = plan.metric.costing(marginals, smallest_class=plan.smallest_class, limit=limit)
    engine = LocalEngine(table)
    evaluator = Evaluator(engine, plan.models, costing, limit)
    problem = Problem(
        lattice=lattice,
        count=evaluator,
        costing=costing,
        marginals=marginals,
        limit=limit,
        monotone=evaluator.monotone,
        time_limit=plan.search.time_limit,
        progress=progress,
    )
    return Setting(plan, frame, table, engine, evaluator, problem)


def hierarchies(plan: Plan) -> Mapping[str, Builder]:
    """The hierarchy builder of every quasi-identifier."""
    return {name: plan.attributes[name].hierarchy or VALUE_OR_STAR for name in plan.quasi_identifiers}


def anonymize(frame: object, plan: Plan, *, progress: ProgressCallback | None = None) -> Release:
    """Return the best release of a table (polars, pandas or arrow) that satisfies a plan.

    The caller's table is never changed. `progress` is called now and then with the best cost and a lower bound;
    when it returns False, the search stops and the best release found so far is returned, marked as not optimal.
    The release is verified anew from its rows before it is returned.
    """
    table, kind = to_polars(frame)
    release = find_release(table, plan, progress=progress)
    refuse_unverified(verify_table(release.data, plan), release)
    return replace(release, data=from_polars(release.data, kind))


def find_release(frame: pl.DataFrame, plan: Plan, *, progress: ProgressCallback | None = None) -> Release:
    """Return the best release of a polars table, not yet verified: whoever hands it on has to do that."""
    started = time.perf_counter()
    setting = prepare(frame, plan, progress=progress)
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
        rows=frame.height,
        rolled_up=setting.engine.rolled_up,
        distinct_rows=setting.engine.distinct_rows,
        lattice=setting.problem.lattice.size,
        hierarchies={column.name: column.hierarchy for column in setting.table.columns},
        kept_classes=kept_classes,
        all_starred=all(
            column.labels[level] == (SUPPRESSED,)
            for column, level in zip(setting.table.columns, result.best.node, strict=True)
        ),
        seconds={"encode": encoded - started, "search": searched - encoded},
    )


def search(setting: Setting) -> SearchResult:
    """Run the plan's algorithm."""
    algorithm = search_named(setting.plan.search.algorithm)
    reason = algorithm.refuse(setting.problem)
    if reason is not None:
        able = [other.name for other in SEARCHES if other().refuse(setting.problem) is None]
        raise InputError(
            f"algorithm {algorithm.name} cannot solve this plan: {reason}; these can: {', '.join(able)}",
            code="algorithm-unfit",
        )
    problem = setting.problem
    problem.threads = setting.plan.search.threads or _fitting_threads(setting.engine.distinct_rows)
    problem.started = time.monotonic()
    with ThreadPoolExecutor(problem.threads) as pool:
        problem.pool = pool if problem.threads > 1 else None
        result = algorithm.run(problem)
    if result.best is None and not result.optimal:  # out of time: the top node is the likeliest solution of all
        problem.time_limit = None
        problem.evaluate(problem.lattice.top)
        result = replace(result, best=problem.best, checked=problem.checked)
    return result


def _fitting_threads(distinct_rows: int) -> int:
    """Return how many threads pay off: counting a small table takes less time than handing it to a thread."""
    return min(os.cpu_count() or 1, MOST_THREADS) if distinct_rows >= LARGE else 1


def _nothing_found(setting: Setting, result: SearchResult) -> NoSolution:
    if not result.optimal:
        return NoSolution("the search was stopped before any release was found; give it more time", code="time-limit")
    top = setting.evaluator(setting.problem.lattice.top)
    return no_solution(setting.plan, setting.table, setting.frame, top)


def apply(setting: Setting, node: Node) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the table generalized to a node, without identifying columns, and the distinct classes that it keeps."""
    classes, groups = setting.engine.classes(node)
    kept_groups = setting.evaluator.kept(groups)
    kept: Bools = np.zeros(setting.table.rows, dtype=bool)
    kept[setting.table.included] = kept_groups[classes]
    generalized = setting.engine.apply(setting.frame, node, kept)
    data = setting.frame.drop(setting.plan.names(Role.IDENTIFYING)).with_columns(generalized)
    columns = zip(setting.table.columns, node, groups.codes(kept_groups).T, strict=True)
    kept_classes = pl.DataFrame([column.generalized(level, codes) for column, level, codes in columns])
    return data, kept_classes
