"""The figures of the published tables, as survey.json holds them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import kohorte as ko
from testbed import orwell

ESTIMATORS = ("FG", "RT", "RR", "OR", "expected")


@dataclass(frozen=True)
class Case:
    """One line of a published table: cells with one person by each estimator, at worst and at best."""

    table: int
    people: int
    FG: float
    RT: float
    RR: float
    OR: float
    expected: float
    worst: int
    worst_exact: bool
    best: int

    def percent(self, name: str) -> float:
        """The percentage of the people, at most 100 (DA)."""
        return min(float(getattr(self, name)) / self.people, 1) * 100

    @property
    def printed_worst(self) -> int | None:
        """The unfavourable case of the source; None if it cannot be read."""
        return orwell.UNFAVOURABLE[self.table][orwell.PEOPLE.index(self.people)]

    @property
    def printed_best(self) -> int | None:
        """The favourable case of the source; None if it cannot be read."""
        return orwell.FAVOURABLE[self.table][orwell.PEOPLE.index(self.people)]


def compute() -> tuple[Case, ...]:
    """All lines of the tables whose frequencies are known."""
    return tuple(_case(table, people) for table in orwell.TABLES for people in orwell.PEOPLE)


def _case(table: int, people: int) -> Case:
    found = ko.estimate_survey(orwell.survey(table), people, simulation=False)
    assert found.RT is not None
    assert found.RR is not None
    coefficients = (found.FG.value, found.RT.value, found.RR.value, found.OR.value)
    worst = found.worst_case
    return Case(table, people, *coefficients, found.expected.singles, worst.most, worst.exact, found.best_case.fewest)


def to_json(cases: tuple[Case, ...]) -> str:
    """The cases, one in a line."""
    return "[\n" + ",\n".join(json.dumps(asdict(case)) for case in cases) + "\n]\n"


def read(path: Path) -> tuple[Case, ...]:
    """The cases of a file."""
    return tuple(Case(**entry) for entry in json.loads(path.read_text(encoding="utf-8")))
