"""Counting people instead of rows: what it costs, beside counting rows in the same run."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

import kohorte as ko
from benchmarks.commands import KOHORTE, measure
from benchmarks.models import timed
from benchmarks.report import Line
from kohorte.plans.person import Person
from testbed import tables

REPETITIONS = 9
TIMES = 4.0
"""How many times as long as counting rows the search may take, in the same run."""
PERSON = "person"


def adult() -> list[Line]:
    """ADULT with three rows per person, k=5, 5 %: the search by people beside that by rows."""
    frame = ko.read_table(tables.DATA / "adult.csv").frame
    owners = np.random.default_rng(9).permutation(np.arange(frame.height) // 3)
    frame = frame.with_columns(pl.Series(PERSON, owners.astype(str)))
    plan = tables.plan("adult", k=5, limit=0.05, metric="loss")
    by_people = replace(plan, person=Person((PERSON,)))
    by_rows = replace(by_people, person=Person())
    rows = people = float("inf")
    for _ in range(REPETITIONS):  # in turn, so that a busy machine slows both
        rows = min(rows, timed(frame, by_rows)[0])
        people = min(people, timed(frame, by_people)[0])
    release = ko.anonymize(frame, replace(by_people, order="input"))
    return [
        Line(
            "ADULT, three rows per person, k=5, 5 %: the search by people",
            right=release.optimal
            and _fewest_people(frame, release.data, plan.quasi_identifiers) == release.smallest_class,
            seconds=people,
            target=TIMES * rows,
            note=f"{people / rows:.1f} times the search by rows",
        )
    ]


def _fewest_people(frame: pl.DataFrame, released: pl.DataFrame, names: tuple[str, ...]) -> int:
    """The people of the smallest class, counted here."""
    shown = released.with_columns(frame[PERSON]).filter(~pl.all_horizontal(pl.col(names) == "*"))
    return int(shown.group_by(names).agg(pl.col(PERSON).n_unique())[PERSON].min())  # type: ignore[arg-type]


PLAN = """\
kohorte: 1
attributes:
  age: {role: quasi-identifying, hierarchy: {intervals: {widths: [5, 10, 20], lower: 0, upper: 120}}}
  zip: {role: quasi-identifying, hierarchy: {redaction: {}}}
  sex: {role: quasi-identifying}
  ward: {role: quasi-identifying}
  diagnosis: {role: sensitive}
models: [{model: k-anonymity, k: 5}]
suppression_limit: 0.05
person: patient
"""

MAKE = """
import sys, numpy as np, polars as pl
chance, rows = np.random.default_rng(3), 1_000_000
person = chance.integers(0, rows // 3, rows)
pl.DataFrame({
    "patient": person, "age": 20 + person * 7919 % 60 + chance.integers(0, 3, rows), "zip": 10000 + person * 31 % 9000,
    "sex": np.where(person % 2 == 0, "f", "m"), "ward": chance.integers(0, 12, rows),
    "diagnosis": chance.integers(0, 40, rows),
}).write_csv(sys.argv[1])
"""


def million() -> list[Line]:
    """One million rows of some 317,000 people: the whole command under 10 s."""
    with tempfile.TemporaryDirectory() as folder:
        table, plan, output = (Path(folder) / name for name in ("stays.csv", "plan.yaml", "release.csv"))
        plan.write_text(PLAN, encoding="utf-8")
        measure([sys.executable, "-c", MAKE, str(table)])
        command = [*KOHORTE, "anonymize", str(table), "--plan", str(plan), "--output", str(output), "--json"]
        seconds, megabytes, printed = measure(command)
        facts = json.loads(printed)
        check = [*KOHORTE, "verify", str(output), "--plan", str(plan), "--population", str(table), "--json"]
        verdict = json.loads(measure(check)[2])
    right = facts["optimal"] and verdict["satisfied"] and verdict["unit"] == "people" and facts["smallest_class"] >= 5
    note = ", ".join(f"{name} {value:.2f} s" for name, value in facts["seconds"].items())
    return [
        Line(
            "kohorte anonymize, 1,000,000 rows, counting people",
            right=right,
            seconds=seconds,
            target=10.0,
            megabytes=megabytes,
            megabytes_target=2000,
            note=note,
        )
    ]
