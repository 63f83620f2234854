"""The input and the output of every recoder: an encoded table, and cells that may differ from row to row."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from kohorte.engines import Engine
from kohorte.groups import Groups, Recoded
from kohorte.hierarchies import Builder
from kohorte.kernels import Grouper
from kohorte.kernels.arrays import Bools, Codes
from kohorte.models import PrivacyModel
from kohorte.recoding.cells import Recoding
from kohorte.recoding.line import Line, line_of
from kohorte.search import Goal, OutOfTime, Progress
from kohorte.sources import EncodedTable, classes_of_rows


@dataclass
class RecodingProblem:
    """One table and the requirements for its release; asks the models about classes and checks the time limit.

    Recoders work row by row: a tuple that stands for several rows becomes as many rows. `make_engine` returns the
    engine of a table; recoders that search a lattice need it.
    """

    table: EncodedTable = field(repr=False)
    goal: Goal
    builders: Mapping[str, Builder | None] = field(repr=False)
    make_engine: Callable[[EncodedTable], Engine] = field(repr=False)
    started: float = field(default_factory=time.monotonic)
    _reported: float = 0.0

    def __post_init__(self) -> None:
        self.table = self.table.row_by_row()

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The line of each quasi-identifier."""
        return tuple(line_of(column, self.builders[column.name]) for column in self.table.columns)

    @cached_property
    def rows(self) -> Codes:
        """The indices of the included rows: all rows but those that are excluded because a value is missing."""
        return np.flatnonzero(self.table.included).astype(np.uint32)

    @cached_property
    def codes(self) -> Codes:
        """The codes of the included rows, one column per quasi-identifier."""
        return np.stack([column.codes[self.table.included] for column in self.table.columns], axis=1)

    @cached_property
    def positions(self) -> Codes:
        """The positions of the included rows on the lines, one column per quasi-identifier."""
        columns = [line.positions[codes] for line, codes in zip(self.lines, self.codes.T, strict=True)]
        return np.stack(columns, axis=1)

    def whole(self, of_included: Codes) -> Codes:
        """Extend an array with one number per included row to all rows; excluded rows get 0."""
        numbers = np.zeros(self.table.rows, dtype=np.uint32)
        numbers[self.table.included] = of_included
        return numbers

    def groups(self, class_of: Codes, classes: int, rows: Codes | None = None) -> Groups:
        """The classes of the included rows (or of some of them), with the histograms that the models need."""
        chosen = self.rows if rows is None else self.rows[rows]
        return classes_of_rows(
            self.table.sensitive,
            class_of,
            classes,
            rows=chosen,
            attributes=len(self.table.columns),
            persons=self.table.persons,
        )

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether it satisfies all models."""
        verdicts: Bools = np.logical_and.reduce([model.satisfied(groups.judged) for model in self.goal.models])
        return verdicts

    def everybody_holds(self) -> bool:
        """Whether one class of all rows satisfies the models, both with and without the excluded rows."""
        own = self.groups(np.zeros(len(self.rows), dtype=np.uint32), 1)
        return bool(self.satisfied(own).all() and self.satisfied(self.make_engine(self.table).all_rows(())).all())

    def counted(self, recoding: Recoding) -> tuple[Recoded, Groups]:
        """A recoding as metrics see it, and its classes as models see them."""
        included = self.table.included
        kinds = np.stack([column.kinds[included] for column in recoding.columns], axis=1)
        grouper = Grouper([[np.arange(len(column.labels), dtype=np.uint32)] for column in recoding.columns])
        levels = np.zeros(len(recoding.columns), dtype=np.uint32)
        class_of, first, _ = grouper.group(grouper.pack(kinds), np.ones(len(kinds), dtype=np.int64), levels, True)
        kept_row = recoding.kept[included]
        class_of, kept = _divided(class_of, len(first), kept_row)
        groups = self.groups(class_of, len(kept))
        columns = tuple(
            cells.counted(included, recoding.kept, self.goal.weights.get(cells.line.column.name, 1.0))
            for cells in recoding.columns
        )
        excluded = self.table.rows - len(self.rows)
        recoded = Recoded(self.table.rows, excluded, groups.sizes, kept, columns, groups.histograms)
        return recoded, groups

    def cost(self, recoding: Recoding) -> float:
        """The cost of a recoding, by the metric of the plan."""
        recoded, _ = self.counted(recoding)
        return self.goal.metric.recoded(recoded, smallest_class=self.goal.smallest_class)

    # Time

    def watch_time(self) -> None:
        """Raise `OutOfTime` if the time limit has passed."""
        limit = self.goal.time_limit
        if limit is not None and time.monotonic() - self.started > limit:
            raise OutOfTime

    def report(self, progress: Progress) -> None:
        """Call the progress callback, at most ten times a second."""
        now = time.monotonic()
        if self.goal.progress is None or now - self._reported < 0.1:
            return
        self._reported = now
        limit = self.goal.time_limit
        if limit is not None:
            progress = replace(progress, ends_in=max(0.0, limit - (now - self.started)))
        if self.goal.progress(progress) is False:
            raise OutOfTime


class Recoder(Protocol):
    """An algorithm that recodes a table; `name` is its published name, `options` lists the `Options` that it uses."""

    name: ClassVar[str]
    options: ClassVar[tuple[str, ...]]

    def refuse(self, problem: RecodingProblem) -> str | None:
        """Return why this algorithm cannot solve the problem; None if it can."""

    def run(self, problem: RecodingProblem) -> Recoding:
        """Recode the table."""


def refuse_people(problem: RecodingProblem) -> str | None:
    """Return why an algorithm that counts rows by itself cannot be used: the plan counts people."""
    if problem.table.persons is None:
        return None
    return "it counts rows, and the plan counts people (person)"


def refuse_sets(problem: RecodingProblem) -> str | None:
    """Return why no recoder can be used: people are judged by the sets of classes into which all their rows fall."""
    if problem.table.persons is None or not problem.table.persons.by_sets:
        return None
    return "it judges each class on its own, and the plan judges people by all their rows together"


def refuse_unordered(problem: RecodingProblem) -> str | None:
    """Return why an algorithm that cuts between neighbouring values cannot be used: an attribute has no order."""
    for line in problem.lines:
        if not line.ordered:
            return (
                f"attribute {line.column.name!r} has neither an order nor a hierarchy to cut along: its values are not "
                "numbers or dates, and the plan gives it no hierarchy"
            )
    return None


def refuse_models(models: Sequence[PrivacyModel]) -> str | None:
    """Return why an algorithm that judges each class on its own, and may merge classes later, cannot be used."""
    for model in models:
        if model.population_source is not None:
            return f"model {model.name} compares with a population, which needs the same levels in all rows"
        if model.about_all or model.about_others:
            return f"model {model.name} is about all classes together, and cells may differ from row to row"
        if not model.monotone:
            return f"model {model.name} is not monotone: classes that satisfy it might not do so together"
    return None


def _divided(class_of: Codes, classes: int, kept: Bools) -> tuple[Codes, Bools]:
    """Divide each class into kept and suppressed rows; return the class of each row and which classes are kept."""
    keys, class_of_row = np.unique(class_of.astype(np.int64) + classes * ~kept, return_inverse=True)
    return class_of_row.astype(np.uint32), keys < classes
