"""An attacker with everything that leaves by any exit: files, a series, answers of the release check, and noise.

Random sequences of releases of a growing table, to two institutions that work together, with other columns and other
conditions each time, and with people who withdraw. What was told is laid over each other in plain Python. The same
sequences single people out if each exit forgets the others.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.disclosures.candidate import Candidate, ReleaseKind
from kohorte.disclosures.exits.recording import Recording
from kohorte.disclosures.exits.released import Passing
from kohorte.disclosures.exits.series import SeriesRecording
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import KohorteError
from kohorte.exchange.checking.check import check_request
from kohorte.exchange.statistics import shipped_statistics
from kohorte.plans import Plan
from kohorte.release import find_candidate
from kohorte.sources import FrameSource
from testbed.hospital import holding, patients, request

K, PEOPLE, STEPS = 5, 1000, 7
TODAY = date(2026, 11, 17)
REFUSED = ("disclosure-refused", "no-solution", "series-many-held", "series-nothing-shown")
AGE = {"intervals": {"lower": 0, "upper": 120, "widths": [10, 20, 40], "integer": True}}
ROLES: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi-identifying", "hierarchy": AGE},
    "sex": {"role": "quasi-identifying"},
    "occupation": {"role": "quasi-identifying"},
}
SERIES = {"kohorte": 1, "regions": {"age": {"lower": 0, "upper": 120, "step": 1}}, "arrivals": "known"}


def plan(shown: tuple[str, ...]) -> Plan:
    hidden = {"role": "identifying"}
    names = ("patient", "name", "age", "sex", "occupation", "zip", "diagnosis", "drug")
    attributes = {name: ROLES[name] if name in shown else hidden for name in names}
    model = {"model": "k-anonymity", "k": K}
    return Plan.from_dict(
        {"kohorte": 1, "person": "patient", "attributes": attributes, "models": [model], "suppression_limit": 1.0}
    )


@dataclass
class House:
    """A house whose exits share one ledger, or (`remembers=False`) each begin with an empty one."""

    folder: Path
    dice: random.Random
    remembers: bool
    table: pl.DataFrame
    told: list[dict[str, frozenset[int]]] = field(default_factory=list)
    withdrawn: set[str] = field(default_factory=set)
    opened: int = 0

    def ledger(self) -> Ledger:
        self.opened += not self.remembers
        ledger = Ledger.open(self.folder / f"ledger-{self.opened}", create=True)
        if self.withdrawn:
            ledger.withdraw(sorted(self.withdrawn))
        return ledger

    def note(self, ledger: Ledger, shown: Candidate) -> None:
        """Remember, as the attacker does, which classes show whom."""
        ids = self.table["patient"].unique().to_list()
        name_of = dict(zip(ledger.fingerprints(ids).tolist(), ids, strict=True))
        classes: dict[str, set[int]] = {}
        for person, of in zip(shown.people.tolist(), shown.classes.tolist(), strict=True):
            if of >= 0:
                classes.setdefault(name_of[person], set()).add(of)
        assert not self.withdrawn & set(classes)  # nobody is in a later release
        self.told.append({name: frozenset(found) for name, found in classes.items()})

    def file(self) -> None:
        ledger = self.ledger()
        shown = tuple(self.dice.sample(list(ROLES), self.dice.randint(1, 3)))
        wanted = self.dice.choice([pl.lit(value=True), pl.col("drug") == "methadone", pl.col("sex") == "female"])
        recording = Recording(ledger, plan(shown), Passing(self.dice.choice("AC")), leave_out=True)
        rows = self.table.filter(wanted)
        recording.released(rows, lambda frame: find_candidate(FrameSource(frame), plan(shown)))
        recording.record("")
        self.note(ledger, recording.candidate)
        ledger.close()

    def series(self) -> None:
        ledger = self.ledger()
        folder = self.folder / "series"
        if not folder.exists():
            ko.Series.start(folder, plan(("age",)), SERIES)
        passing = Passing("A", kind=ReleaseKind.SERIES)
        recording = SeriesRecording(ledger, plan(("age",)), passing, leave_out=True)
        ko.Series.open(folder).release(self.table, gate=recording)
        self.note(ledger, recording.candidate)
        ledger.close()

    def exchange(self) -> None:
        ledger = self.ledger()
        names = tuple(self.dice.sample(["age", "sex", "occupation", "diagnosis"], 2))
        drug = {"attribute": "drug", "is": self.dice.choice(["methadone", "ibuprofen"])}
        asked = request(drug, names, institution=f"Institute {self.dice.choice('AC')}")
        house = holding()
        draft = check_request(asked, self.table, house, shipped_statistics(), ledger, today=TODAY).draft
        if draft is not None:
            ledger.record(draft.disclosure, k=K)
            self.note(ledger, draft.disclosure)
        ledger.close()

    def noise(self) -> None:
        ledger = self.ledger()
        nobody = np.zeros(0, dtype=np.int64)
        ledger.record(Candidate(nobody, nobody, "A", ReleaseKind.QUERY, epsilon=0.5, delta=1e-6))
        ledger.close()

    def grow(self) -> None:
        number = self.dice.randint(1, 3)
        new = self.table.sample(number, seed=self.dice.randint(0, 999)).with_columns(
            patient=pl.Series([f"N{self.dice.randrange(10**9):09}" for _ in range(number)])
        )
        self.table = pl.concat([self.table, new])

    def withdraw(self) -> None:
        self.withdrawn.add(self.dice.choice(sorted(set(self.table["patient"]) - self.withdrawn)))

    def smallest(self) -> int:
        """The smallest group of people who were shown that all releases together tell apart."""
        everybody = {name for release in self.told for name in release}
        seen = Counter(tuple(release.get(name, frozenset()) for release in self.told) for name in everybody)
        return min(seen.values(), default=K)


def attack(folder: Path, number: int, *, remembers: bool) -> tuple[int, int]:
    """The number of releases of a sequence, and the smallest group that they tell apart."""
    folder.mkdir(parents=True)
    house = House(folder, random.Random(number), remembers, patients(1200, people=PEOPLE, treated=500))
    steps = [house.file, house.file, house.series, house.exchange, house.noise, house.grow, house.withdraw]
    for step in house.dice.choices(steps, k=STEPS):
        try:
            step()
        except KohorteError as error:
            if error.code not in REFUSED:
                raise
    return len(house.told), house.smallest()


@pytest.mark.slow
def test_all_exits_together_single_out_nobody(tmp_path: Path) -> None:
    found = [attack(tmp_path / str(number), number, remembers=True) for number in range(3)]
    assert sum(releases for releases, _ in found) >= 4
    assert min(smallest for _, smallest in found) >= K


@pytest.mark.slow
def test_the_same_sequences_single_people_out_if_each_exit_forgets_the_others(tmp_path: Path) -> None:
    found = [attack(tmp_path / str(number), number, remembers=False) for number in range(3)]
    assert min(smallest for _, smallest in found) < K


@pytest.mark.slow
@pytest.mark.parametrize("sequences", [50, pytest.param(200, marks=pytest.mark.exhaustive)])
def test_many_sequences_over_all_exits_single_out_nobody(tmp_path: Path, sequences: int) -> None:
    found = [attack(tmp_path / str(number), number, remembers=True) for number in range(sequences)]
    assert sum(releases for releases, _ in found) > sequences
    assert min(smallest for _, smallest in found) >= K
