"""Solving a case with several algorithms, and timing them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from statistics import median
from time import perf_counter

from benchmarks.reproduction.cases import Case
from benchmarks.reproduction.results import Entry, Run
from kohorte.engines import engine_for
from kohorte.release.anonymization import SearchSetup, search, set_up_search
from kohorte.release.preparation import encode_problem
from kohorte.search import SearchResult, search_named
from kohorte.sources import FrameSource

ENOUGH_SECONDS = 0.1
"""A search is not repeated any more when it ran so long altogether."""

Answer = tuple[float | None, int, int]


class Disagreement(Exception):
    """Two searches for the optimum found different ones: a bug."""


def measure(part: str, case: Case, algorithms: Iterable[str], *, repetitions: int = 1) -> Entry:
    """Solve a case with all algorithms that accept it; all must find a release that costs and keeps the same.

    Each runs at most so many times, fewer where it is slow. Reading and encoding the table is not timed, as in the
    source.
    """
    setup = set_up_search(encode_problem(FrameSource(case.frame()), case.plan("optimal")))
    runs: list[Run] = []
    answers: set[Answer] = set()
    for name in algorithms:
        if search_named(name).refuse(setup.problem) is None:
            run, answer = _timed(case, setup, name, repetitions)
            runs.append(run)
            answers.add(answer)
    if len(answers) != 1:
        raise Disagreement(f"{case}: {sorted(answers, key=str)}")
    ((cost, suppressed, classes),) = answers
    return Entry(
        part=part,
        table=case.table,
        models=case.name,
        limit=case.limit,
        metric=case.metric,
        quasi_identifiers=len(setup.encoded.table.columns),
        lattice=setup.problem.lattice.size,
        cost=cost,
        suppressed=suppressed,
        classes=classes,
        runs=tuple(runs),
    )


def _timed(case: Case, setup: SearchSetup, algorithm: str, repetitions: int) -> tuple[Run, Answer]:
    setup = replace(setup, encoded=replace(setup.encoded, plan=case.plan(algorithm)))
    seconds: list[float] = []
    while len(seconds) < repetitions and sum(seconds) < ENOUGH_SECONDS:
        fresh = _fresh(setup)
        started = perf_counter()
        result = search(fresh)
        seconds.append(perf_counter() - started)
    assert result.optimal, f"{case}: {algorithm} did not finish"
    ms = float(f"{median(seconds) * 1e3:.3g}")  # more digits would only be noise
    return Run(algorithm, result.checked, fresh.engine.rolled_up, result.tagged, ms), _answer(result)


def _answer(result: SearchResult) -> Answer:
    best = result.best
    return (None, 0, 0) if best is None else (best.cost, best.suppressed, best.classes)


def _fresh(setup: SearchSetup) -> SearchSetup:
    """The same setup with an engine that remembers nothing of earlier searches."""
    evaluator = replace(setup.evaluator, engine=engine_for(setup.encoded.table))
    problem = replace(setup.problem, count=evaluator, begin=evaluator.begin, best=None, checked=0)
    return replace(setup, evaluator=evaluator, problem=problem)


def compare_cost(entry: Entry, known: float) -> None:
    """Refuse a case whose optimum is not the known one."""
    if entry.cost is None or not math.isclose(entry.cost, known, rel_tol=1e-9):
        raise Disagreement(f"{entry.title}: found {entry.cost}, the known optimum is {known}")
