"""Measure the linkage: what became of the rows, against the truth."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from benchmarks.linkage import exchange
from benchmarks.linkage.data import Data, draw
from benchmarks.linkage.exchange import Exchange
from kohorte.patients.identity import columns_of
from kohorte.patients.list.judging import Outcome
from kohorte.patients.list.registration import Registrations
from kohorte.patients.patient_list import PatientList
from testbed import identities
from testbed.identities import ERRORS, Person

SINGLE = 500
"""So many rows for each single error."""
SCENARIOS = {
    "all fields": (),
    "without insurance numbers": ("versichertennummer",),
    "names, birth date and sex only": ("versichertennummer", "plz", "ort"),
}


@dataclass(frozen=True)
class Quality:
    """What became of the rows of a table."""

    scenario: str
    people: int
    rows: int
    about_known: int
    automatic_right: int
    automatic_wrong: int
    grey_right: int
    grey_wrong: int
    lost: int
    insufficient: int
    processor_seconds: float
    seconds: float

    @property
    def precision(self) -> float:
        """The share of the automatic matches that are right."""
        return self.automatic_right / max(self.automatic_right + self.automatic_wrong, 1)

    @property
    def recall(self) -> float:
        """The share of the people of the list that were found, by a match or by a case that shows the right person."""
        return (self.automatic_right + self.grey_right) / self.about_known

    @property
    def automatic_recall(self) -> float:
        """The share of the people of the list that were found without asking anybody."""
        return self.automatic_right / self.about_known

    @property
    def grey(self) -> float:
        """The share of all rows that a person has to decide."""
        return (self.grey_right + self.grey_wrong) / self.rows


@dataclass(frozen=True)
class Single:
    """What became of rows with one error and no other."""

    error: str
    share: float
    automatic: int
    grey: int
    lost: int
    wrong: int


@dataclass(frozen=True)
class Results:
    """Everything on the page."""

    kohorte: tuple[Quality, ...]
    singles: tuple[Single, ...]
    splink: tuple[Quality, ...]
    splink_version: str
    exchange: tuple[Exchange, ...]

    def to_json(self) -> str:
        """The results as text."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Results:
        """The results of `to_json`."""
        found = json.loads(text)
        return cls(
            tuple(Quality(**entry) for entry in found["kohorte"]),
            tuple(Single(**entry) for entry in found["singles"]),
            tuple(Quality(**entry) for entry in found["splink"]),
            found["splink_version"],
            tuple(Exchange(**entry) for entry in found["exchange"]),
        )


def compute() -> Results:
    """Measure everything; some minutes."""
    from benchmarks.linkage import splink_defaults

    data = draw()
    qualities, compared, singles = [], [], []
    for scenario, left_out in SCENARIOS.items():
        part = data.without(*left_out)
        with registered(part.known) as (patients, pids):
            qualities.append(quality(scenario, part, patients, pids))
            if not left_out:
                singles = [single(error, data.known, patients, pids) for error in ERRORS]
        compared += splink_defaults.qualities(scenario, part)
    return Results(tuple(qualities), tuple(singles), tuple(compared), splink_defaults.version(), exchange.measure())


@contextmanager
def registered(people: Sequence[Person]) -> Iterator[tuple[PatientList, list[str | None]]]:
    """A list with these people, and their PIDs."""
    with tempfile.TemporaryDirectory() as folder:
        patients = PatientList.opened(str(Path(folder) / "trust"), create=True)
        pids = [row.pid for row in _register(patients, people).rows]
        yield patients, pids
        patients.close()


def quality(scenario: str, data: Data, patients: PatientList, pids: Sequence[str | None]) -> Quality:
    """Register the rows and compare the outcomes with the truth."""
    started, processor = time.perf_counter(), time.process_time()
    found = _register(patients, data.rows)
    seconds, processor_seconds = time.perf_counter() - started, time.process_time() - processor
    right = [None if who is None else pids[who] for who in data.truth]
    counts = _counted(patients, found, right)
    return Quality(
        scenario,
        len(data.known),
        len(data.rows),
        sum(pid is not None for pid in right),
        **counts,
        processor_seconds=round(processor_seconds, 1),
        seconds=round(seconds, 1),
    )


def single(error: str, known: list[Person], patients: PatientList, pids: Sequence[str | None]) -> Single:
    """Describe people again with one error, and compare the outcomes with the truth; the list does not change."""
    who, described = identities.registrations(known, SINGLE, seed=7, only=error)
    frame = identities.frame(described)
    found = patients.register(frame, columns_of(frame.columns), dry_run=True)
    automatic = [(row.pid, pids[place]) for row, place in zip(found.rows, who, strict=True) if row.outcome == "known"]
    outcomes = Counter(row.outcome for row in found.rows)
    wrong = sum(pid != right for pid, right in automatic)
    lost = outcomes[Outcome.NEW] + outcomes[Outcome.INSUFFICIENT]
    return Single(error, ERRORS[error], len(automatic) - wrong, outcomes[Outcome.GREY], lost, wrong)


def _counted(patients: PatientList, found: Registrations, right: Sequence[str | None]) -> dict[str, int]:
    shown: dict[str, set[str]] = {}
    for case in patients.cases():
        shown.setdefault(case.pid, set()).add(case.other_pid)
    counts = dict.fromkeys(
        ("automatic_right", "automatic_wrong", "grey_right", "grey_wrong", "lost", "insufficient"), 0
    )
    for row, pid in zip(found.rows, right, strict=True):
        if row.outcome is Outcome.KNOWN:
            counts["automatic_right" if row.pid == pid else "automatic_wrong"] += 1
        elif row.outcome is Outcome.GREY:
            counts["grey_right" if pid in shown.get(str(row.pid), ()) else "grey_wrong"] += 1
        elif row.outcome is Outcome.INSUFFICIENT:
            counts["insufficient"] += 1
        elif pid is not None:
            counts["lost"] += 1
    return counts


def _register(patients: PatientList, people: Sequence[Person]) -> Registrations:
    frame: pl.DataFrame = identities.frame(list(people))
    return patients.register(frame, columns_of(frame.columns))
