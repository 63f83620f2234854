"""Running one algorithm on a table that is encoded already, and taking down what came of it."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np
import polars as pl

from kohorte.errors import InputError, NoSolution, PrivacyViolation
from kohorte.groups import Recoded
from kohorte.quality import METRICS
from kohorte.recoding import Cells, Recoder, Recoding, RecodingProblem
from kohorte.release.algorithms import is_recoder, recoder_named, recoding_problem
from kohorte.release.anonymization import Setting, apply, ready, search
from kohorte.release.comparison.outcome import Effort, Outcome, Status, what_it_is
from kohorte.release.comparison.queries import Queries
from kohorte.release.comparison.task import Task
from kohorte.release.plan import Plan
from kohorte.release.preparation import Prepared
from kohorte.release.recoding import apply_recoding, judge, recode
from kohorte.release.safe_harbor import refuse_recoding
from kohorte.release.verification import verify_table
from kohorte.search import Search, search_named

Algorithm = type[Search | Recoder]
QUICK, REPETITIONS = 0.1, 3
"""An algorithm that takes fewer seconds than this runs so many times: a single time would be that of cold caches."""


@dataclass(frozen=True, eq=False)
class Found:
    """What an algorithm made: the cells of every row, the rows as a release shows them, and what it took."""

    recoding: Recoding = field(repr=False)
    rows: pl.DataFrame = field(repr=False)
    levels: Mapping[str, int]
    effort: Effort


class Ended(Exception):
    """An algorithm came to an end without a release."""

    def __init__(self, status: Status, reason: str, effort: Effort | None = None, recoding: Recoding | None = None):
        super().__init__(reason)
        self.status, self.reason, self.effort, self.recoding = status, reason, effort, recoding


class Bench:
    """A table, encoded once, on which algorithms are run one after the other."""

    def __init__(self, prepared: Prepared, *, time_limit: float | None) -> None:
        self.prepared = prepared
        self._time_limit = time_limit
        self._problem = recoding_problem(prepared)
        self.lines = self._problem.lines
        _ = self._problem.places, self._problem.rows  # part of the encoding, which is not timed

    def run(self, algorithm: Algorithm, queries: Queries, task: Task | None) -> Outcome:
        """Run an algorithm, verify what it made, and judge it by every measure."""
        prepared = self._asked_for(algorithm)
        known = Outcome(algorithm.name, is_recoder(algorithm.name), what_it_is(algorithm), Status.RELEASED)
        try:
            found = self._found(prepared)
        except Ended as ended:
            known = replace(known, status=ended.status, reason=ended.reason, effort=ended.effort)
            return known if ended.recoding is None else self._failing(known, ended.recoding)
        recoded = self._counted(found.recoding)
        known = self._verified(self._with_classes(known, recoded), found)
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

    def _found(self, prepared: Prepared) -> Found:
        """Run the plan's algorithm; where it is quick, a few times, of which the fastest counts."""
        run = self._recoded if is_recoder(prepared.plan.search.algorithm) else self._searched
        found = run(prepared)
        for _ in range(REPETITIONS - 1):
            if found.effort.seconds < QUICK:
                found = min(found, run(prepared), key=lambda one: one.effort.seconds)
        return found

    def _asked_for(self, algorithm: Algorithm) -> Prepared:
        """The same question to another algorithm, without the options that it does not know."""
        plan = self.prepared.plan
        options = replace(plan.search.for_algorithm(algorithm.name), time_limit=self._time_limit)
        goal = replace(self.prepared.goal, options=options.options, time_limit=self._time_limit)
        return replace(self.prepared, plan=replace(plan, search=options), goal=goal)

    def _problem_of(self, prepared: Prepared) -> RecodingProblem:
        """A problem of its own that has the lines of all."""
        problem = copy.copy(self._problem)
        problem.goal = prepared.goal
        problem.started = time.monotonic()
        return problem

    # The two kinds of algorithms

    def _searched(self, prepared: Prepared) -> Found:
        setting = ready(prepared)
        reason = search_named(prepared.plan.search.algorithm).refuse(setting.problem)
        if reason is not None:
            raise Ended(Status.REFUSED, reason)
        started = time.perf_counter()
        try:
            result = search(setting)
        except (InputError, NoSolution, PrivacyViolation) as error:
            raise _ended(error, time.perf_counter() - started) from None
        seconds = time.perf_counter() - started
        effort = Effort(seconds, result.checked, result.optimal, result.heuristic, result.lower_bound)
        if result.best is None:
            over = "the time was over before a release was found"
            nothing = "no combination of levels that it looked at satisfies the plan"
            raise Ended(Status.NO_SOLUTION, nothing if result.optimal or result.heuristic else over, effort)
        node = result.best.node
        rows, _ = apply(setting, node)
        levels = dict(zip(prepared.plan.quasi_identifiers, node, strict=True))
        finest = prepared.plan.minimum_levels
        return Found(
            self.at_node(setting, node), rows, {name: finest[name] + level for name, level in levels.items()}, effort
        )

    def at_node(self, setting: Setting, node: tuple[int, ...]) -> Recoding:
        """A node of the lattice as cells: the same level in all rows."""
        class_of, groups = setting.engine.classes(node)
        kept = np.zeros(setting.table.rows, dtype=bool)
        kept[setting.table.included] = setting.evaluator.kept(groups)[class_of]
        columns = tuple(
            Cells.of_levels(line, np.full(len(kept), level, dtype=np.uint32), line.column.codes)
            for line, level in zip(self.lines, node, strict=True)
        )
        return Recoding(columns, kept, setting.problem.checked, "combination of levels")

    def _recoded(self, prepared: Prepared) -> Found:
        problem = self._problem_of(prepared)
        reason = recoder_named(prepared.plan.search.algorithm).refuse(problem)
        if reason is not None:
            raise Ended(Status.REFUSED, reason)
        started = time.perf_counter()
        recoding = None
        try:
            refuse_recoding(prepared.plan)
            recoding = recode(prepared, problem)
            seconds = time.perf_counter() - started
            judge(prepared, problem, recoding)
        except (InputError, NoSolution, PrivacyViolation) as error:
            raise _ended(error, time.perf_counter() - started, recoding) from None
        effort = Effort(seconds, recoding.checked, recoding.optimal, recoding.heuristic, recoding.lower_bound)
        return Found(recoding, apply_recoding(prepared, recoding), {}, effort)

    # What came of it

    def _counted(self, recoding: Recoding) -> Recoded:
        """The classes and columns as metrics see them; the models were asked before."""
        problem = self._problem_of(self.prepared)
        problem.goal = replace(problem.goal, models=())
        return problem.counted(recoding)[0]

    def _with_classes(self, known: Outcome, recoded: Recoded) -> Outcome:
        sizes = recoded.sizes[recoded.kept]
        return replace(
            known,
            classes=len(sizes),
            smallest_class=int(sizes.min()) if len(sizes) else None,
            average_class=float(sizes.mean()) if len(sizes) else None,
            suppressed=recoded.suppressed,
        )

    def _failing(self, known: Outcome, recoding: Recoding) -> Outcome:
        """The classes of a result that does not satisfy the models."""
        recoded, satisfied = self._problem_of(self.prepared).counted(recoding)
        failing = recoded.kept & ~satisfied
        rows = int(recoded.sizes[failing].sum())
        return replace(self._with_classes(known, recoded), failing_classes=int(failing.sum()), failing_rows=rows)

    def _verified(self, known: Outcome, found: Found) -> Outcome:
        """Count the rows anew, independently of all that was counted before."""
        plan: Plan = self.prepared.plan
        verification = verify_table(found.rows, plan, self.prepared.populations, levels=found.levels)
        same = (verification.classes, verification.suppressed) == (known.classes, known.suppressed)
        same = same or bool(found.recoding.all_starred.all())  # then suppressed rows cannot be told from the others
        effort = found.effort
        if verification.satisfied and same:
            return replace(known, effort=effort, verified=True)
        wrong = [model.model_in_words for model in verification.models if not model.satisfied]
        reason = f"counted anew, the release does not satisfy {', '.join(wrong) or 'the plan'}; please report this"
        return replace(known, effort=effort, status=Status.UNVERIFIED, reason=reason)

    def _cost(self, recoded: Recoded) -> float:
        goal = self.prepared.goal
        return goal.metric.recoded(recoded, smallest_class=goal.smallest_class)

    def _costs(self, recoded: Recoded) -> dict[str, float]:
        """The cost in every metric that has no parameters."""
        least = self.prepared.goal.smallest_class
        plain = [metric for metric in METRICS if not fields(metric)]  # type: ignore[arg-type]
        return {metric.name: float(metric().recoded(recoded, smallest_class=least)) for metric in plain}


def _ended(
    error: InputError | NoSolution | PrivacyViolation, seconds: float, recoding: Recoding | None = None
) -> Ended:
    """What an error means for the comparison; one about the table or the plan is passed on."""
    effort = Effort(seconds, 0 if recoding is None else recoding.checked)
    if isinstance(error, NoSolution):
        return Ended(Status.NO_SOLUTION, error.message, effort)
    if isinstance(error, PrivacyViolation):
        return Ended(Status.NOT_PRIVATE, error.message, effort, recoding)
    if error.code in ("algorithm-unfit", "safe-harbor-algorithm"):
        return Ended(Status.REFUSED, error.message)
    raise error
