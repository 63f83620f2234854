"""From a table and a plan to the best release there is."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from kohorte.data import Role, from_polars, to_polars
from kohorte.engines import EncodedTable, LocalEngine, encode
from kohorte.errors import InputError, NoSolution
from kohorte.groups import Domain
from kohorte.hierarchy import SUPPRESSED
from kohorte.kernels.arrays import Bools
from kohorte.lattice import Lattice, Node
from kohorte.release.columns import check_columns
from kohorte.release.decorrelation import decorrelate
from kohorte.release.explain import no_solution
from kohorte.release.hierarchies import hierarchies
from kohorte.release.plan import Plan
from kohorte.release.plan_parts import Within
from kohorte.release.population import Populations, divide, refuse_missing_people, without_flag
from kohorte.release.release import Release, in_order
from kohorte.release.verification import refuse_unverified, verify_table
from kohorte.search import SEARCHES, Evaluator, Problem, ProgressCallback, SearchResult, search_named

LARGE = 100_000
MOST_THREADS = 8


@dataclass(frozen=True, eq=False)
class Setting:
    """A table made ready for searching: encoded, with an engine and the models and metric of the plan."""

    plan: Plan
    frame: pl.DataFrame = field(repr=False)
    table: EncodedTable = field(repr=False)
    engine: LocalEngine = field(repr=False)
    evaluator: Evaluator = field(repr=False)
    problem: Problem = field(repr=False)
    populations: Populations = field(repr=False)
    population_hashes: Mapping[str, str]


def prepare(frame: pl.DataFrame, plan: Plan, *, progress: ProgressCallback | None = None) -> Setting:
    """Check a table against a plan, encode it and set up the search."""
    check_columns(frame.columns, plan)
    if frame.height == 0:
        raise InputError("the table has no rows", code="table-no-rows")
    parts = divide(frame, plan)
    frame = parts.frame
    for number, model in enumerate(plan.models, start=1):
        if model.smallest_class > frame.height:
            raise InputError(
                f"models: entry {number}: model {model.name} asks for classes of {model.smallest_class:,} rows, but "
                f"the table has only {frame.height:,}",
                code="model-beyond-rows",
            )
    table = encode(
        frame,
        hierarchies(plan),
        missing=plan.missing,
        sensitive={name: plan.attributes[name].hierarchy for name in plan.histograms},
        populations=parts.people,
    )
    check_models(plan, table.domains)
    weights = {name: float(attribute.weight) for name, attribute in plan.attributes.items()}
    marginals = table.marginals(weights)
    limit = plan.most_suppressed(frame.height)
    lattice = Lattice(table.shape)
    costing = plan.metric.costing(marginals, smallest_class=plan.smallest_class, limit=limit)
    engine = LocalEngine(table)
    if plan.population_files:
        refuse_missing_people(*engine.classes(lattice.bottom), plan)
    some_excluded = not table.included.all() and all_starred(table, lattice.top)
    starred = engine.all_rows(lattice.top) if some_excluded else None
    evaluator = Evaluator(engine, plan.models, costing, limit, starred)
    problem = Problem(
        lattice=lattice,
        count=evaluator,
        begin=evaluator.begin,
        costing=costing,
        marginals=marginals,
        limit=limit,
        monotone=evaluator.monotone,
        time_limit=plan.search.time_limit,
        progress=progress,
    )
    return Setting(plan, frame, table, engine, evaluator, problem, parts.populations, parts.hashes)


def all_starred(table: EncodedTable, node: Node) -> bool:
    """Tell whether a node shows nothing but `*`."""
    return all(column.labels[level] == (SUPPRESSED,) for column, level in zip(table.columns, node, strict=True))


def check_models(plan: Plan, domains: Mapping[str, Domain]) -> None:
    """Refuse a table that a model of the plan cannot judge, or that it can never hold for."""
    for number, model in enumerate(plan.models, start=1):
        with Within(f"models: entry {number}"):
            model.check(domains)


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
        able = [other.name for other in SEARCHES if other().refuse(setting.problem) is None]
        raise InputError(
            f"algorithm {algorithm.name} cannot solve this plan: {reason}; these can: {', '.join(able)}",
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
