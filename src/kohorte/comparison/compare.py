"""Compares algorithms on the same table and plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from kohorte.comparison import words
from kohorte.comparison.outcome import Accuracy, Outcome
from kohorte.comparison.page import to_html
from kohorte.comparison.queries import Queries
from kohorte.comparison.run import Algorithm, Bench
from kohorte.comparison.task import Task, refuse_task
from kohorte.data import to_polars
from kohorte.errors import InputError, member_named
from kohorte.in_words import ROWS, Unit
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.plan import Plan
from kohorte.plans.search_options import SearchOptions, is_number
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.recoding import ALGORITHMS
from kohorte.release.preparation import encode_problem
from kohorte.release.words import unit_of
from kohorte.sources import FrameSource

SECONDS = 60.0
"""The time limit of each algorithm if neither the plan nor the caller sets one."""

"""Called before an algorithm runs, and again with its outcome."""


@dataclass(frozen=True)
class TaskFacts:
    """The predicted column, and the accuracies of guessing and of learning from the original rows.

    Accuracies are shares of the test rows. If people are counted, no person has rows in both parts.
    """

    column: str
    classes: int
    training_rows: int
    test_rows: int
    majority: float
    original: float
    coarsened: str = ""  # how values were grouped into classes, if there were too many


@dataclass(frozen=True)
class Comparison:
    """The outcomes of all algorithms for one table and one plan; figures only, no cell values.

    `people` is the number of people in the table, if the plan counts people; `notes` tell what the table says about
    people and the plan does not.
    """

    plan: Plan = field(repr=False)
    rows: int
    outcomes: tuple[Outcome, ...] = field(repr=False)
    queries: int
    seed: int
    time_limit: float
    task: TaskFacts | None = None
    people: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def unit(self) -> Unit:
        """What models and class sizes count."""
        return unit_of(self.plan)

    @cached_property
    def released(self) -> tuple[Outcome, ...]:
        """The algorithms that made a release, by cost, then by time."""
        made = [outcome for outcome in self.outcomes if outcome.released]
        return tuple(sorted(made, key=lambda made: (float(f"{made.cost:.9g}"), made.seconds)))

    @property
    def others(self) -> tuple[Outcome, ...]:
        """The algorithms without a release."""
        return tuple(outcome for outcome in self.outcomes if not outcome.released)

    @property
    def best(self) -> Outcome | None:
        """The release with the lowest cost, by the metric of the plan."""
        return self.released[0] if self.released else None

    def of(self, algorithm: str) -> Outcome:
        """The outcome of one algorithm."""
        return {outcome.algorithm: outcome for outcome in self.outcomes}[algorithm]

    def to_dict(self) -> dict[str, object]:
        """The figures as `kohorte algorithms --json` prints them."""
        return {
            "rows": self.rows,
            "unit": self.unit.many,
            "people": self.people,
            "notes": list(self.notes),
            "metric": self.plan.metric.name,
            "best": self.best and self.best.algorithm,
            "time_limit": self.time_limit,
            "seed": self.seed,
            "queries": self.queries,
            "queries_count": ROWS.many,
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
    progress: ProgressCallback | None = None,
) -> Comparison:
    """Run algorithms (by default all) on a table under one plan and compare their releases.

    `task` names a sensitive or insensitive column that a classifier shall learn to predict from the release; it needs
    scikit-learn. `queries` random count queries are answered from each release. Both are the same for all algorithms,
    and for the same `seed`. The time limit of an algorithm is `time_limit`, otherwise that of the plan, otherwise 60
    seconds. Options of the plan that belong to one algorithm are given to that one only. `progress` is called when an
    algorithm begins, and several times a second while it runs; if it returns False, that algorithm stops.
    """
    chosen = _chosen(algorithms)
    _refuse_numbers(queries, seed)
    if task is not None:
        refuse_task(plan, task)
    limit = _limit(time_limit, plan)
    prepared = encode_problem(FrameSource(to_polars(frame)[0]), plan, progress=progress, by_row=True)
    bench = Bench(prepared, time_limit=limit)
    drawn = Queries.draw(bench.lines, queries, seed)
    learning = None
    if task is not None:
        learning = Task.prepare(prepared, bench.lines, task, seed)
    outcomes = []
    for number, algorithm in enumerate(chosen, start=1):
        told = _named(progress, f"{algorithm.name}, algorithm {number} of {len(chosen)}")
        tell(told, Stage.COMPARING)
        outcomes.append(bench.run(algorithm, drawn, learning, told))
    facts = None if learning is None else _facts(learning, learning.best())
    persons = prepared.table.persons
    return Comparison(
        plan,
        prepared.table.rows,
        tuple(outcomes),
        len(drawn),
        seed,
        limit,
        facts,
        people=None if persons is None else persons.count,
        notes=person_notes(prepared.source, plan),
    )


def _named(progress: ProgressCallback | None, what: str) -> ProgressCallback | None:
    """The same callback; every report names the algorithm."""
    if progress is None:
        return None
    return lambda report: progress(replace(report, stage=Stage.COMPARING, what=what))


def _chosen(names: Sequence[str] | None) -> list[Algorithm]:
    """The named algorithms, each once; all if `names` is None."""
    if names is None:
        return list(ALGORITHMS)
    if not names:
        raise InputError("no algorithm is named; leave the list out to compare all", code="algorithm-unknown")
    named = (member_named(name, ALGORITHMS, what="algorithm", code="algorithm-unknown") for name in names)
    return list(dict.fromkeys(named))


def _refuse_numbers(queries: int, seed: int) -> None:
    for name, value in (("queries", queries), ("seed", seed)):
        if not is_number(value) or value != int(value) or value < 0:
            raise InputError(f"{name} must be a whole number of at least 0, not {value!r}", code="comparison-number")


def _limit(time_limit: float | None, plan: Plan) -> float:
    """The time limit of the caller, otherwise of the plan, otherwise a minute; an invalid one is refused."""
    limits = (time_limit, plan.search.time_limit, SECONDS)
    chosen = SearchOptions(time_limit=next(limit for limit in limits if limit is not None)).time_limit
    return SECONDS if chosen is None else chosen


def _facts(task: Task, best: Accuracy) -> TaskFacts:
    training, test = int(task.training.sum()), int(task.test.sum())
    return TaskFacts(task.column, task.classes, training, test, task.majority, best.value, task.coarsened)
