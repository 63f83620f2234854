"""The same question to all algorithms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from kohorte.data import to_polars
from kohorte.errors import InputError, member_named
from kohorte.recoding import RECODERS
from kohorte.release.comparison import words
from kohorte.release.comparison.outcome import Accuracy, Outcome
from kohorte.release.comparison.page import to_html
from kohorte.release.comparison.queries import Queries
from kohorte.release.comparison.run import Algorithm, Bench
from kohorte.release.comparison.task import Task, refuse_task
from kohorte.release.plan import Plan
from kohorte.release.preparation import encode_for
from kohorte.release.search_options import SearchOptions, is_number
from kohorte.search import SEARCHES

SECONDS = 60.0
"""The time limit of each algorithm where neither the plan nor the caller has one."""

ComparisonProgress = Callable[[str, Outcome | None], object]
"""Called before an algorithm runs, and with its outcome when it has run."""


@dataclass(frozen=True)
class TaskFacts:
    """What was predicted, and the accuracies between which those of the releases lie."""

    column: str
    classes: int
    training_rows: int
    test_rows: int
    majority: float
    original: float
    coarsened: str = ""  # how values were made classes, where they were too many


@dataclass(frozen=True)
class Comparison:
    """What each algorithm made of one table under one plan; figures only, no cell values."""

    plan: Plan = field(repr=False)
    rows: int
    outcomes: tuple[Outcome, ...] = field(repr=False)
    queries: int
    seed: int
    time_limit: float
    task: TaskFacts | None = None

    @cached_property
    def released(self) -> tuple[Outcome, ...]:
        """The algorithms that made a release, the one that costs least first; among equals, the fastest."""
        made = [outcome for outcome in self.outcomes if outcome.released]
        return tuple(sorted(made, key=lambda made: (float(f"{made.cost:.9g}"), made.seconds)))

    @property
    def others(self) -> tuple[Outcome, ...]:
        """The algorithms without a release."""
        return tuple(outcome for outcome in self.outcomes if not outcome.released)

    @property
    def best(self) -> Outcome | None:
        """The release that costs least by the metric of the plan."""
        return self.released[0] if self.released else None

    def of(self, algorithm: str) -> Outcome:
        """The outcome of one algorithm."""
        return {outcome.algorithm: outcome for outcome in self.outcomes}[algorithm]

    def to_dict(self) -> dict[str, object]:
        """The figures as `kohorte algorithms --json` prints them."""
        return {
            "rows": self.rows,
            "metric": self.plan.metric.name,
            "best": self.best and self.best.algorithm,
            "time_limit": self.time_limit,
            "seed": self.seed,
            "queries": self.queries,
            "task": None
            if self.task is None
            else {key: value for key, value in vars(self.task).items() if key != "coarsened"},
            "verdict": words.verdict(self),
            "algorithms": [outcome.to_dict() for outcome in self.outcomes],
        }

    def to_markdown(self) -> str:
        """The table, for a document."""
        return words.markdown(self)

    def to_html(self) -> str:
        """The comparison as one self-contained page: verdict, table, plots; no cell values."""
        return to_html(self)


def compare_algorithms(
    frame: object,
    plan: Plan,
    *,
    algorithms: Sequence[str] | None = None,
    task: str | None = None,
    queries: int = 1000,
    seed: int = 0,
    time_limit: float | None = None,
    progress: ComparisonProgress | None = None,
) -> Comparison:
    """Run algorithms (all, if none are named) on a table under one plan and compare what they make of it.

    `task` names a sensitive or insensitive column that a classifier shall learn to predict from the release; it needs
    scikit-learn. `queries` random count queries are answered from each release. Both are the same for all algorithms,
    and for the same `seed`. An algorithm runs for at most `time_limit` seconds, or as long as the plan says, or 60.
    Options of the plan that belong to one algorithm are given to that one only.
    """
    chosen = _chosen(algorithms)
    _refuse_numbers(queries, seed)
    if task is not None:
        refuse_task(plan, task)
    limit = _limit(time_limit, plan)
    prepared = encode_for(to_polars(frame)[0], plan)
    bench = Bench(prepared, time_limit=limit)
    questions = Queries.draw(bench.lines, queries, seed)
    learning = None
    if task is not None:
        learning = Task.prepare(prepared, bench.lines, task, seed)
    outcomes = []
    for algorithm in chosen:
        if progress is not None:
            progress(algorithm.name, None)
        outcomes.append(bench.run(algorithm, questions, learning))
        if progress is not None:
            progress(algorithm.name, outcomes[-1])
    facts = None if learning is None else _facts(learning, learning.best())
    return Comparison(plan, prepared.frame.height, tuple(outcomes), len(questions), seed, limit, facts)


def _chosen(names: Sequence[str] | None) -> list[Algorithm]:
    """The algorithms by their names, each once; all where none are named."""
    known: tuple[Algorithm, ...] = (*SEARCHES, *RECODERS)
    if names is None:
        return list(known)
    if not names:
        raise InputError("no algorithm is named; leave the list out to compare all", code="algorithm-unknown")
    named = (member_named(name, known, what="algorithm", code="algorithm-unknown") for name in names)
    return list(dict.fromkeys(named))


def _refuse_numbers(queries: int, seed: int) -> None:
    for name, value in (("queries", queries), ("seed", seed)):
        if not is_number(value) or value != int(value) or value < 0:
            raise InputError(f"{name} must be a whole number of at least 0, not {value!r}", code="comparison-number")


def _limit(time_limit: float | None, plan: Plan) -> float:
    """The time limit of the caller, of the plan, or a minute; refused where it is none."""
    limits = (time_limit, plan.search.time_limit, SECONDS)
    chosen = SearchOptions(time_limit=next(limit for limit in limits if limit is not None)).time_limit
    return SECONDS if chosen is None else chosen


def _facts(task: Task, best: Accuracy) -> TaskFacts:
    training, test = int(task.training.sum()), int(task.test.sum())
    return TaskFacts(task.column, task.classes, training, test, task.majority, best.value, task.coarsened)
