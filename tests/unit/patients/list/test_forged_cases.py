"""Cases, in the hands of somebody who administers the database and has no key, with sqlite3."""

from __future__ import annotations

import pytest

from kohorte.patients.consents.register import Consents
from kohorte.patients.list.tables import CASES
from kohorte.patients.patient_list import PatientList
from kohorte.trust.folder import TrustFolder
from support.administering import administer, opened, refused
from support.identities import ANNA, MARRIED, OTTO, pids, register

TWIN = OTTO | {"vorname": "Ottilie", "geschlecht": "w", "kvnr": ""}
"""Resembles Otto so far that a person is asked."""
SAME_PAIR = "INSERT INTO patients_cases SELECT {columns} FROM patients_cases WHERE id = 1"
COLUMNS = [column.name for column in CASES.columns]


def copied(**changed: object) -> str:
    """A row like that of case 1, with other values."""
    return SAME_PAIR.format(columns=", ".join(str(changed.get(name, name)) for name in COLUMNS))


@pytest.fixture
def decided(listed: PatientList) -> PatientList:
    """Anna and Anna Bauer were decided to be different, case 1; Otto has a case of his own, which is open."""
    register(listed, ANNA, MARRIED, OTTO)
    listed.decide(1, same=False)
    register(listed, TWIN)
    assert [case.number for case in listed.cases()] == [2]
    return listed


@pytest.mark.parametrize(
    "change",
    [
        "actor = 'the chief physician'",
        "decided = '2020-01-01T00:00:00+00:00'",
        "state = 'same'",
        "person = 3",
        "other_record = 3, other = 3",
        "weight = 12",
        "mark = NULL",
        "mark = '00'",
    ],
)
def test_a_decision_cannot_be_changed(decided: PatientList, change: str) -> None:
    administer(decided, f"UPDATE patients_cases SET {change} WHERE id = 1")
    refused("patients-case-forged", lambda: opened(decided).verify())


@pytest.mark.parametrize("change", ["levels = '{}'", "weight = 8.9", "opened = '2020'"])
def test_a_case_that_is_open_does_not_say_what_the_administrator_wants(decided: PatientList, change: str) -> None:
    """The person who decides sees how far the two agree."""
    administer(decided, f"UPDATE patients_cases SET {change} WHERE id = 2")
    refused("patients-case-forged", lambda: opened(decided).cases())
    refused("patients-case-forged", lambda: opened(decided).decide(2, same=True))


def test_a_decision_cannot_be_made_by_the_administrator(decided: PatientList) -> None:
    """Neither for an open case, nor before a case is opened, so that nobody would ever be asked."""
    administer(decided, "UPDATE patients_cases SET state = 'different', decided = '2026', actor = 'x' WHERE id = 2")
    refused("trust-cases-changed", lambda: opened(decided))


def test_a_decision_that_nobody_made_is_noticed(decided: PatientList) -> None:
    administer(decided, copied(id=77, person=3, other=1))
    refused("trust-cases-changed", lambda: opened(decided))


def test_a_decision_about_others_in_place_of_one_is_noticed_where_it_is_used(decided: PatientList) -> None:
    """The numbers stay the same; the row now says that Otto is not the person who comes next."""
    administer(decided, "UPDATE patients_cases SET person = 3, record = 3 WHERE id = 1")
    patients = opened(decided)
    anna, otto = (str(row.pid) for row in register(patients, ANNA, OTTO).rows)
    Consents(patients).give([anna, otto], ["research"])
    refused("patients-case-forged", lambda: Consents(patients).covered([otto], "research"))
    patients.close()


def test_a_decision_that_is_deleted_is_noticed(decided: PatientList) -> None:
    administer(decided, "DELETE FROM patients_cases WHERE id = 1")
    refused("trust-cases-changed", lambda: opened(decided))


def test_marks_are_made_again_with_a_new_key(decided: PatientList) -> None:
    decided.rotate_key()
    decided.verify()
    assert decided.decide(2, same=False)
    decided.verify()


def test_a_forged_decision_does_not_survive_a_new_key(decided: PatientList) -> None:
    administer(decided, "UPDATE patients_cases SET actor = 'somebody else' WHERE id = 1")
    refused("patients-case-forged", lambda: opened(decided).rotate_key())


def test_numbers_of_cases_are_not_given_again(listed: PatientList) -> None:
    _, married = pids(register(listed, ANNA, MARRIED))
    listed.forget(str(married))
    register(listed, MARRIED)
    assert [case.number for case in listed.cases()] == [2]


def test_what_a_person_confirms_counts_from_then_on(decided: PatientList) -> None:
    administer(decided, "DELETE FROM patients_cases WHERE id = 1")
    PatientList.complete(TrustFolder.opened(decided.folder.path))
    patients = opened(decided)
    patients.verify()
    assert [case.number for case in patients.cases()] == [2]
    patients.close()
