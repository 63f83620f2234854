"""Linkage on generated patients with realistic errors: what it promises, counted with the truth of the generator."""

from __future__ import annotations

import pytest

from kohorte.patients.identity import columns_of
from kohorte.patients.patient_list import PatientList
from testbed import identities

PRECISION, RECALL = 0.999, 0.95


def quality(listed: PatientList, people: int, rows: int) -> tuple[float, float, int]:
    """Precision of the automatic matches, recall with the grey zone, and how many matches there were.

    Half of the rows are people of the list, described again with errors; the others are strangers.
    """
    everybody = identities.people(people + rows, seed=2026)
    known, strangers = everybody[:people], everybody[people:]
    who, described = identities.registrations(known, rows, seed=2126)
    first = identities.frame(known)
    pids = [row.pid for row in listed.register(first, columns_of(first.columns)).rows]
    table = identities.frame(described + strangers)
    found = listed.register(table, columns_of(table.columns)).rows
    truth = [*(pids[place] for place in who), *[None] * rows]
    shown = {(case.pid, case.other_pid) for case in listed.cases()}
    automatic = [row.pid == right for row, right in zip(found, truth, strict=True) if row.outcome.value == "known"]
    seen = sum(
        row.pid == right if row.outcome.value == "known" else (row.pid, right) in shown
        for row, right in zip(found, truth, strict=True)
        if right is not None
    )
    return sum(automatic) / len(automatic), seen / rows, len(automatic)


def test_hardly_an_automatic_match_is_wrong_and_most_people_are_found(listed: PatientList) -> None:
    precision, recall, matches = quality(listed, 600, 300)
    assert precision >= PRECISION
    assert recall >= RECALL
    assert matches > 200


@pytest.mark.slow
def test_the_promise_holds_for_many_people(listed: PatientList) -> None:
    precision, recall, matches = quality(listed, 12_000, 5_000)
    assert precision >= PRECISION
    assert recall >= RECALL
    assert matches > 4_000
