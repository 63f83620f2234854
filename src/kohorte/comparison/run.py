"""Runs one algorithm on an encoded table and records its outcome."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from kohorte.comparison.outcome import Effort, Outcome, Status, what_it_is
from kohorte.comparison.queries import Queries
from kohorte.comparison.task import Task
from kohorte.errors import InputError, NoSolution, PrivacyViolation
from kohorte.groups import Groups, Recoded
from kohorte.metrics import PLAIN_METRICS
from kohorte.plans.plan import Plan
from kohorte.progress import ProgressCallback
from kohorte.recoding import Cells, Recoder, Recoding, RecodingProblem
from kohorte.release.algorithms import is_recoder, recoder_named, refusal, search_refusal
from kohorte.release.anonymization import SearchSetup, apply, search, set_up_search
from kohorte.release.preparation import EncodedProblem
from kohorte.release.recoding import judge, recode, recoding_problem, shown_cells
from kohorte.release.safe_harbor import refuse_recoding
from kohorte.release.shown_people import ShownPeople
from kohorte.release.verification import verify_table
from kohorte.search import Search, search_named

Algorithm = type[Search | Recoder]
QUICK, REPETITIONS = 0.1, 3
"""Algorithms faster than 0.1 seconds run three times, so that cold caches do not dominate the measured time."""


@dataclass(frozen=True, eq=False)
class Found:
    """The result of an algorithm: the cells of every row, the released rows, and the effort.

    `smallest_class` is counted as the models count it; `people` says whom the rows are about, if people are counted.
    """

    recoding: Recoding = field(repr=False)
    rows: pl.DataFrame = field(repr=False)
    levels: Mapping[str, int]
    effort: Effort
    smallest_class: int | None
    people: ShownPeople | None = field(repr=False)


class Ended(Exception):
    """An algorithm ended without a release."""

    def __init__(self, status: Status, reason: str, effort: Effort | None = None, recoding: Recoding | None = None):
        super().__init__(reason)
        self.status, self.reason, self.effort, self.recoding = status, reason, effort, recoding


class Bench:
    """A table that is encoded once, on which algorithms run one after the other."""

    def __init__(self, prepared: EncodedProblem, *, time_limit: float | None) -> None:
        self.prepared = prepared
        self._time_limit = time_limit
        self._problem = recoding_problem(prepared)
        self.lines = self._problem.lines
        _ = self._problem.positions, self._problem.rows  # computed now: the encoding is not part of the measured time

    def run(
        self, algorithm: Algorithm, queries: Queries, task: Task | None, progress: ProgressCallback | None = None
    ) -> Outcome:
        """Run an algorithm, verify its result, and measure it."""
        prepared = self._for_algorithm(algorithm, progress)
        known = Outcome(algorithm.name, is_recoder(algorithm.name), what_it_is(algorithm), Status.RELEASED)
        try:
            found = self._found(prepared)
        except Ended as ended:
            known = replace(known, status=ended.status, reason=ended.reason, effort=ended.effort)
            return known if ended.recoding is None else self._failing(known, ended.recoding)
        recoded, groups = self._counted(found.recoding)
        known = self._with_classes(known, recoded, groups)
        known = self._verified(replace(known, smallest_class=found.smallest_class), found)
        if not known.released:
            return known
        return replace(
            known,
            cost=self._cost(recoded),
            costs=self._costs(recoded),
            levels=found.levels,
            query_error=queries.error(found.recoding),
            accuracy=None if task is None else task.accuracy(found.recoding, found.rows[task.column]),
        )

    def _found(self, prepared: EncodedProblem) -> Found:
        """Run the plan's algorithm; if it is quick, several times, and keep the fastest run."""
        run = self._recoded if is_recoder(prepared.plan.search.algorithm) else self._searched
        found = run(prepared)
        for _ in range(REPETITIONS - 1):
            if found.effort.seconds < QUICK:
                found = min(found, run(prepared), key=lambda one: one.effort.seconds)
        return found

    def _for_algorithm(self, algorithm: Algorithm, progress: ProgressCallback | None) -> EncodedProblem:
        """The same problem for another algorithm, without options that it does not have."""
        plan = self.prepared.plan
        options = replace(plan.search.for_algorithm(algorithm.name), time_limit=self._time_limit)
        goal = replace(self.prepared.goal, options=options.options, time_limit=self._time_limit, progress=progress)
        return replace(self.prepared, plan=replace(plan, search=options), goal=goal)

    def _problem_of(self, prepared: EncodedProblem) -> RecodingProblem:
        """A new recoding problem that shares the lines."""
        problem = copy.copy(self._problem)
        problem.goal = prepared.goal
        problem.started = time.monotonic()
        return problem

    # The two kinds of algorithms

    def _searched(self, prepared: EncodedProblem) -> Found:
        setup = set_up_search(prepared)
        reason = search_refusal(search_named(prepared.plan.search.algorithm), setup.problem)
        if reason is not None:
            raise Ended(Status.REFUSED, reason)
        started = time.perf_counter()
        try:
            result = search(setup)
        except (InputError, NoSolution, PrivacyViolation) as error:
            raise _ended(error, time.perf_counter() - started) from None
        seconds = time.perf_counter() - started
        effort = Effort(seconds, result.checked, result.optimal, result.heuristic, result.lower_bound)
        if result.best is None:
            over = "the time was over before a release was found"
            nothing = "no combination of levels that it looked at satisfies the plan"
            raise Ended(Status.NO_SOLUTION, nothing if result.optimal or result.heuristic else over, effort)
        node = result.best.node
        shown, _ = apply(setup, node)
        rows = prepared.released(shown, shuffled=False).in_memory("a comparison")
        levels = dict(zip(prepared.plan.quasi_identifiers, node, strict=True))
        finest = prepared.plan.minimum_levels
        return Found(
            self.at_node(setup, node),
            rows,
            {name: finest[name] + level for name, level in levels.items()},
            effort,
            result.best.smallest_class,
            ShownPeople.of(prepared.tuples, shown, prepared.plan),
        )

    def at_node(self, setup: SearchSetup, node: tuple[int, ...]) -> Recoding:
        """A node of the lattice as a recoding with the same levels in all rows."""
        class_of, groups = setup.engine.classes(node)
        included = setup.encoded.table.included
        kept = np.zeros(len(included), dtype=bool)
        kept[included] = setup.evaluator.kept(groups)[class_of]
        columns = tuple(
            Cells.of_levels(line, np.full(len(kept), level, dtype=np.uint32), line.column.codes)
            for line, level in zip(self.lines, node, strict=True)
        )
        return Recoding(columns, kept, setup.problem.checked, "combination of levels")

    def _recoded(self, prepared: EncodedProblem) -> Found:
        problem = self._problem_of(prepared)
        reason = refusal(recoder_named(prepared.plan.search.algorithm), problem)
        if reason is not None:
            raise Ended(Status.REFUSED, reason)
        started = time.perf_counter()
        recoding = None
        try:
            refuse_recoding(prepared.plan)
            recoding = recode(prepared, problem)
            seconds = time.perf_counter() - started
            judged = judge(prepared, problem, recoding)
        except (InputError, NoSolution, PrivacyViolation) as error:
            raise _ended(error, time.perf_counter() - started, recoding) from None
        effort = Effort(seconds, recoding.checked, recoding.optimal, recoding.heuristic, recoding.lower_bound)
        shown = shown_cells(recoding)
        rows = prepared.released(shown, shuffled=False).in_memory("a comparison")
        people = ShownPeople.of(prepared.tuples, shown, prepared.plan)
        return Found(recoding, rows, {}, effort, judged.smallest_class, people)

    # Results

    def costs(self, recoding: Recoding) -> tuple[float, dict[str, float]]:
        """The cost of a recoding by the metric of the plan, and in every metric that has no parameters."""
        recoded, _ = self._counted(recoding)
        return self._cost(recoded), self._costs(recoded)

    def _counted(self, recoding: Recoding) -> tuple[Recoded, Groups]:
        """The classes as metrics and as models see them, without asking the models again."""
        problem = self._problem_of(self.prepared)
        problem.goal = replace(problem.goal, models=())
        return problem.counted(recoding)

    def _with_classes(self, known: Outcome, recoded: Recoded, groups: Groups) -> Outcome:
        """Add the classes, in people if the plan counts people, and the suppressed rows."""
        sizes = groups.judged.sizes[recoded.kept]
        return replace(
            known,
            classes=len(sizes),
            smallest_class=int(sizes.min()) if len(sizes) else None,
            average_class=float(sizes.mean()) if len(sizes) else None,
            suppressed=recoded.suppressed,
        )

    def _failing(self, known: Outcome, recoding: Recoding) -> Outcome:
        """The classes of a result that does not satisfy the models."""
        problem = self._problem_of(self.prepared)
        recoded, groups = problem.counted(recoding)
        failing = recoded.kept & ~problem.satisfied(groups)
        rows = int(recoded.sizes[failing].sum())
        return replace(
            self._with_classes(known, recoded, groups), failing_classes=int(failing.sum()), failing_rows=rows
        )

    def _verified(self, known: Outcome, found: Found) -> Outcome:
        """Verify the rows, independently of all previous counts."""
        plan: Plan = self.prepared.plan
        verification = verify_table(
            found.rows, plan, self.prepared.populations, levels=found.levels, people=found.people
        )
        counted = (verification.classes, verification.suppressed, verification.smallest_class)
        same = counted == (known.classes, known.suppressed, known.smallest_class)
        same = same or bool(found.recoding.all_starred.all())  # then suppressed rows cannot be told from the others
        effort = found.effort
        if verification.satisfied and same:
            return replace(
                known,
                effort=effort,
                verified=True,
                people_losing_rows=verification.people_losing_rows,
                people_losing_all_rows=verification.people_losing_all_rows,
            )
        wrong = [model.model_in_words for model in verification.models if not model.satisfied]
        reason = f"counted again, the release does not satisfy {', '.join(wrong) or 'the plan'}; please report this"
        return replace(known, effort=effort, status=Status.UNVERIFIED, reason=reason)

    def _cost(self, recoded: Recoded) -> float:
        goal = self.prepared.goal
        return goal.metric.recoded(recoded, smallest_class=goal.smallest_class)

    def _costs(self, recoded: Recoded) -> dict[str, float]:
        """The cost in every metric that has no parameters."""
        least = self.prepared.goal.smallest_class
        return {metric.name: float(metric().recoded(recoded, smallest_class=least)) for metric in PLAIN_METRICS}


def _ended(
    error: InputError | NoSolution | PrivacyViolation, seconds: float, recoding: Recoding | None = None
) -> Ended:
    """The outcome that an error means; errors about the table or the plan are raised again."""
    effort = Effort(seconds, 0 if recoding is None else recoding.checked)
    if isinstance(error, NoSolution):
        return Ended(Status.NO_SOLUTION, error.message, effort)
    if isinstance(error, PrivacyViolation):
        return Ended(Status.NOT_PRIVATE, error.message, effort, recoding)
    if error.code in ("algorithm-unfit", "safe-harbor-algorithm"):
        return Ended(Status.REFUSED, error.message)
    raise error
