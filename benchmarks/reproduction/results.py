"""The numbers of a run, as results.json holds them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Run:
    """One algorithm on one case: nodes counted, built from a finer one, settled uncounted; median milliseconds."""

    algorithm: str
    checks: int
    rolled_up: int
    tagged: int
    ms: float


@dataclass(frozen=True)
class Entry:
    """A case with its optimum, on which all runs agreed; `cost` is None where nothing is a solution."""

    part: str
    table: str
    models: str
    limit: float
    metric: str
    quasi_identifiers: int
    lattice: int
    cost: float | None
    suppressed: int
    classes: int
    runs: tuple[Run, ...]
    arx_ms: float | None = None
    arx_checks: int | None = None

    @property
    def title(self) -> str:
        """The case in words."""
        return f"{self.table.upper()}, {self.models}, {self.limit:.0%}, `{self.metric}`"

    def run(self, algorithm: str) -> Run | None:
        """The run of an algorithm, or None where it refused the case or was left out."""
        return next((run for run in self.runs if run.algorithm == algorithm), None)


@dataclass(frozen=True)
class Results:
    """Everything that the pages show."""

    machine: str
    full: bool
    entries: tuple[Entry, ...]

    def of(self, part: str, **wanted: object) -> list[Entry]:
        """The entries of a part whose fields have these values."""
        return [
            entry
            for entry in self.entries
            if entry.part == part and all(getattr(entry, field) == value for field, value in wanted.items())
        ]

    def to_json(self) -> str:
        """The results as JSON, a line for each entry; a run is a list of the numbers that `run` names."""
        head = {"machine": self.machine, "full": self.full}
        lines = ",\n".join(_entry_line(entry) for entry in self.entries)
        return f'{{"head": {json.dumps(head)},\n"run": {json.dumps(NUMBERS)},\n"entries": [\n{lines}\n]}}\n'


NUMBERS = [field.name for field in fields(Run)][1:]


def _entry_line(entry: Entry) -> str:
    facts = {name: value for name, value in asdict(entry).items() if value is not None or name == "cost"}
    facts["runs"] = {run.algorithm: [getattr(run, name) for name in NUMBERS] for run in entry.runs}
    return json.dumps(facts, separators=(",", ":"))


def read_results(path: Path) -> Results:
    """The results that `to_json` wrote."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Results(**data["head"], entries=tuple(map(_entry, data["entries"])))


def _entry(facts: dict[str, Any]) -> Entry:
    return Entry(**{**facts, "runs": tuple(Run(name, *numbers) for name, numbers in facts["runs"].items())})


@dataclass(frozen=True)
class Pair:
    """The checks of `optimal` and `flash_two_phase` on one case."""

    entry: Entry
    optimal: Run
    two_phase: Run

    @property
    def ratio(self) -> float:
        """Checks of `optimal` per check of `flash_two_phase`."""
        return self.optimal.checks / self.two_phase.checks


def pairs(entries: Iterable[Entry]) -> Iterator[Pair]:
    """The cases that both were measured on."""
    for entry in entries:
        optimal, two_phase = entry.run("optimal"), entry.run("flash_two_phase")
        if optimal is not None and two_phase is not None:
            yield Pair(entry, optimal, two_phase)
