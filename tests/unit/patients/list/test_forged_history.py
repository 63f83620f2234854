"""The history, in the hands of somebody who administers the database and has no key, with sqlite3."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kohorte.patients.patient_list import PatientList
from kohorte.trust.folder import TrustFolder
from support.administering import administer, opened, refused
from support.identities import ANNA, MARRIED, OTTO, pids, register

FORGED = "patients-history-forged"


@pytest.fixture
def merged(listed: PatientList) -> tuple[PatientList, str]:
    """Anna was merged with Anna Bauer by the tester: entries 1 to 3 are of registrations, 4 and 5 of the merge."""
    anna, married, _ = (str(pid) for pid in pids(register(listed, ANNA, MARRIED, OTTO)))
    listed.merge(anna, married)
    return listed, anna


@pytest.mark.parametrize(
    "change",
    [
        "SET actor = 'the chief physician' WHERE id = 4",
        "SET at = '2020-01-01T00:00:00+00:00' WHERE id = 4",
        "SET what = 'records split off' WHERE id = 4",
        "SET other = 3 WHERE id = 4",
        "SET weight = 12 WHERE id = 1",
        "SET record = 2 WHERE id = 1",
        "SET person = 1 WHERE id = 3",
        "SET mark = NULL WHERE id = 5",
        "SET mark = (SELECT mark FROM patients_events WHERE id = 1) WHERE id = 2",
        "SET id = 77 WHERE id = 4",
    ],
)
def test_an_entry_of_the_history_cannot_be_changed(merged: tuple[PatientList, str], change: str) -> None:
    listed, anna = merged
    administer(listed, f"UPDATE patients_events {change}")
    refused(FORGED, lambda: opened(listed).history(anna))
    refused(FORGED, lambda: opened(listed).verify())
    refused(FORGED, lambda: opened(listed).rotate_key())


def test_an_entry_of_the_history_cannot_be_added(merged: tuple[PatientList, str]) -> None:
    listed, anna = merged
    administer(
        listed,
        "INSERT INTO patients_events SELECT 77, person, at, actor, what, record, other, weight, mark "
        "FROM patients_events WHERE id = 4",
    )
    refused(FORGED, lambda: opened(listed).history(anna))


@pytest.mark.parametrize("then", [PatientList.rotate_key, lambda listed: register(listed, OTTO | {"plz": "99999"})])
def test_the_history_goes_on_with_a_new_key_and_new_entries(
    merged: tuple[PatientList, str], then: Callable[[PatientList], object]
) -> None:
    listed, anna = merged
    before = listed.history(anna).events
    then(listed)
    listed.verify()
    assert listed.history(anna).events == before


def test_entries_about_others_do_not_name_somebody_who_was_forgotten(listed: PatientList) -> None:
    anna, married = (str(pid) for pid in pids(register(listed, ANNA, MARRIED)))
    listed.decide(1, same=False)
    assert listed.history(anna).events[-1]["other_pid"] == married
    listed.forget(married)
    listed.verify()
    last = listed.history(anna).events[-1]
    assert (last["what"], last["other_pid"]) == ("decided to be different", None)


def test_what_a_person_confirms_is_the_history_from_then_on(merged: tuple[PatientList, str]) -> None:
    listed, anna = merged
    administer(listed, "UPDATE patients_events SET actor = 'somebody else' WHERE id = 4")
    PatientList.complete(TrustFolder.opened(listed.folder.path))
    patients = opened(listed)
    patients.verify()
    assert patients.history(anna).events
    patients.close()
