"""Consents: given, withdrawn, graded, and safe from those who have only the database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import delete, select, update

from kohorte.errors import EngineError, InputError, PrivacyViolation
from kohorte.patients.consents.coverage import Covered
from kohorte.patients.consents.register import Consents
from kohorte.patients.list.tables import CONSENTS, EXPORTED, EXPORTS, PEOPLE
from kohorte.patients.patient_list import PatientList
from kohorte.trust.pid import random_pid
from support.clock import Clock
from support.identities import ANNA, MARRIED, OTTO, pids, register


def covered(consents: Consents, purpose: str = "research", pids: list[str] | None = None) -> set[str]:
    return set(consents.covered(pids, purpose).people)


def noted(consents: Consents, *people: str, purpose: str = "research", project: str = "p1") -> int:
    return consents.note_export(
        consents.covered(people, purpose), purpose=purpose, project=project, rows=9, columns=["pid"], sha256="ab" * 32
    )


def test_a_consent_covers_its_purpose_and_no_other(consents: Consents, people: list[str]) -> None:
    assert covered(consents) == set()
    assert consents.give(people[:2], ["research", "teaching"]) == 2
    assert covered(consents) == covered(consents, "teaching") == set(people[:2])
    assert covered(consents, "marketing") == set()
    assert covered(consents, pids=[people[1], people[2], random_pid()]) == {people[1]}


def test_a_consent_holds_from_its_first_to_the_end_of_its_last_day(
    consents: Consents, people: list[str], clock: Clock
) -> None:
    consents.give(people[:1], ["research"], start="2026-03-02", until="2026-03-03")
    for moment, expected in (
        ("2026-03-01T23:59:59", False),
        ("2026-03-02T00:00:00", True),
        ("2026-03-03T23:59:59", True),
        ("2026-03-04T00:00:00", False),
    ):
        clock.time = datetime.fromisoformat(moment).replace(tzinfo=UTC)
        assert bool(covered(consents)) is expected, moment


def test_a_withdrawal_ends_everything_and_consent_can_be_given_again(consents: Consents, people: list[str]) -> None:
    consents.give(people, ["research", "teaching"])
    assert consents.withdraw(people[0]).exports == ()
    assert covered(consents) == covered(consents, "teaching") == set(people[1:])
    consents.give([people[0]], ["teaching"])
    assert covered(consents) == set(people[1:])
    assert covered(consents, "teaching") == set(people)


def test_one_purpose_can_be_withdrawn(consents: Consents, people: list[str]) -> None:
    consents.give(people[:1], ["research", "teaching"])
    consents.withdraw(people[0], ["teaching"])
    assert (covered(consents), covered(consents, "teaching")) == ({people[0]}, set())


def test_the_history_is_kept_and_shown_as_fhir(consents: Consents, people: list[str], clock: Clock) -> None:
    consents.give(people[:1], ["research", "teaching"], categories=["lab"], until="2030-12-31")
    clock.time += timedelta(hours=1)
    consents.withdraw(people[0], ["teaching"])
    found = consents.show(people[0])
    assert [(event.number, str(event.kind), event.actor) for event in found.events] == [
        (1, "given", "tester"),
        (2, "withdrawn", "tester"),
    ]
    (resource,) = (consent.to_fhir(found.pid, clock()) for consent in found.consents)
    assert (resource["resourceType"], resource["status"]) == ("Consent", "active")
    assert resource["patient"]["identifier"]["value"] == people[0]
    assert resource["dateTime"] == "2026-03-01T12:00:00+00:00"
    provision = resource["provision"]
    assert provision["type"] == "permit"
    assert provision["period"] == {"end": "2030-12-31"}
    assert [one["code"] for one in provision["purpose"]] == ["research", "teaching"]
    assert provision["code"][0]["coding"][0]["code"] == "lab"
    (denied,) = provision["provision"]
    assert (denied["type"], denied["purpose"][0]["code"]) == ("deny", "teaching")
    assert denied["period"]["start"] == "2026-03-01T13:00:00+00:00"
    consents.withdraw(people[0])
    assert consents.show(people[0]).consents[0].to_fhir(people[0], clock())["status"] == "inactive"


def test_kinds_of_data_add_up_and_a_consent_to_all_wins(consents: Consents, people: list[str]) -> None:
    consents.give(people[:1], ["research"], categories=["lab"])
    consents.give(people[:1], ["research"], categories=["images", "lab"])
    coverage = consents.covered(None, "research").people[people[0]]
    assert coverage.categories == {"lab", "images"}
    assert [coverage.includes(kind) for kind in ("lab", "genes", None)] == [True, False, False]
    consents.give(people[:1], ["research"])
    assert consents.covered(None, "research").people[people[0]].categories is None


def test_words_and_days_that_make_no_sense_are_refused(consents: Consents, people: list[str]) -> None:
    for wrong in (
        {"purposes": ["Research"]},
        {"purposes": []},
        {"purposes": ["research"], "categories": ["a b"]},
        {"purposes": ["research"], "until": "31.12.2030"},
        {"purposes": ["research"], "until": "2020-01-01"},
        {"purposes": ["research"], "start": "2030-01-01", "until": "2029-01-01"},
    ):
        purposes = wrong.pop("purposes")
        with pytest.raises(InputError) as refused:
            consents.give(people, purposes, **wrong)  # type: ignore[arg-type]
        assert refused.value.code in ("consent-word", "consent-date")
    with pytest.raises(InputError) as refused:
        consents.give([people[0], random_pid()], ["research"])
    assert (refused.value.code, "row 2" in refused.value.message) == ("patients-pid-unknown", True)
    assert covered(consents) == set()


# Exports


def test_what_was_exported_before_a_withdrawal_is_listed(consents: Consents, people: list[str]) -> None:
    consents.give(people, ["research"])
    assert noted(consents, people[0], people[1]) == 1
    assert noted(consents, people[1], project="p2") == 2
    listed = consents.withdraw(people[0])
    assert [(one.number, one.project, one.purpose, one.people, one.rows) for one in listed.exports] == [
        (1, "p1", "research", 2, 9)
    ]
    assert [one.number for one in consents.released(people[1]).exports] == [1, 2]
    assert consents.released(people[2]).exports == ()


def test_an_export_is_refused_if_somebody_withdrew_in_the_middle(consents: Consents, people: list[str]) -> None:
    consents.give(people, ["research"])
    seen = consents.covered(people, "research")
    consents.withdraw(people[3])
    with pytest.raises(PrivacyViolation) as refused:
        consents.note_export(seen, purpose="research", project="p1", rows=4, columns=[], sha256="")
    assert refused.value.code == "consent-changed"
    assert consents.released(people[0]).exports == ()


def test_an_export_is_refused_if_a_consent_became_narrower_or_ended_in_the_middle(
    consents: Consents, people: list[str], clock: Clock
) -> None:
    consents.give(people[:1], ["research"])
    consents.give(people[1:2], ["research"], until="2026-03-05")
    wide, soon = consents.covered(people[:1], "research"), consents.covered(people[1:2], "research")
    consents.withdraw(people[0])
    consents.give(people[:1], ["research"], categories=["lab"])
    clock.time += timedelta(days=7)
    for seen in (wide, soon):
        with pytest.raises(PrivacyViolation):
            consents.note_export(seen, purpose="research", project="p1", rows=1, columns=[], sha256="")


@pytest.fixture
def export(consents: Consents, people: list[str]) -> int:
    """The number of an export of all people."""
    consents.give(people, ["research"])
    return noted(consents, *people)


def test_an_export_can_be_confirmed_until_somebody_withdraws(
    consents: Consents, people: list[str], export: int
) -> None:
    assert consents.confirm(export) == 4
    consents.withdraw(people[2], ["teaching"])
    assert consents.confirm(export) == 4
    consents.withdraw(people[2])
    with pytest.raises(PrivacyViolation):
        consents.confirm(export)
    with pytest.raises(InputError) as refused:
        consents.confirm(77)
    assert refused.value.code == "consent-export-unknown"


def test_an_export_with_a_forgotten_person_is_not_confirmed(
    listed: PatientList, consents: Consents, people: list[str], export: int
) -> None:
    listed.forget(people[0])
    assert [one.people for one in consents.released(people[1]).exports] == [3]
    with pytest.raises(PrivacyViolation) as refused:
        consents.confirm(export)
    assert refused.value.code == "consent-changed"
    assert "for 1 of its people" in refused.value.message
    assert consents.confirm(noted(consents, *people[1:])) == 3  # the export is made again, without them


# People who were joined, split, forgotten, or are in doubt


def test_a_withdrawal_counts_for_all_pids_of_a_person(listed: PatientList, consents: Consents) -> None:
    anna, married = (str(pid) for pid in pids(register(listed, ANNA, MARRIED)))
    consents.give([anna], ["research"])
    listed.merge(anna, married)
    assert covered(consents, pids=[anna, married]) == {anna, married}
    consents.withdraw(married)
    assert covered(consents, pids=[anna, married]) == set()


def test_a_later_withdrawal_under_another_pid_counts_after_both_were_joined(
    listed: PatientList, consents: Consents
) -> None:
    anna, married = (str(pid) for pid in pids(register(listed, ANNA, MARRIED)))
    consents.give([anna], ["research"])
    consents.withdraw(married)
    listed.merge(anna, married)
    assert covered(consents, pids=[anna, married]) == set()


def test_somebody_who_may_be_a_person_that_withdrew_is_left_out_until_it_is_decided(
    listed: PatientList, consents: Consents
) -> None:
    anna, married = (str(pid) for pid in pids(register(listed, ANNA, MARRIED)))
    (case,) = listed.cases()
    consents.give([anna], ["research"])
    consents.withdraw(married)
    assert covered(consents, pids=[anna]) == set()
    listed.decide(case.number, same=False)
    assert covered(consents, pids=[anna]) == {anna}


def test_records_that_are_split_off_have_no_consent(listed: PatientList, consents: Consents) -> None:
    (anna,) = (str(pid) for pid in pids(register(listed, ANNA)))
    register(listed, ANNA | {"ort": "Pirna"})
    consents.give([anna], ["research"])
    stays, new = listed.split(anna, [2])
    assert covered(consents, pids=[stays, new]) == {stays}


def test_forgetting_removes_consents_and_exports_of_the_person(
    listed: PatientList, consents: Consents, people: list[str]
) -> None:
    consents.give(people, ["research"])
    noted(consents, *people)
    listed.forget(people[0])
    with listed.storage.reading() as connection:
        assert len(connection.execute(select(CONSENTS)).all()) == 3
        assert len(connection.execute(select(EXPORTED)).all()) == 3
    assert covered(consents, pids=people) == set(people[1:])


def test_consents_and_exports_are_readable_after_a_new_key(
    listed: PatientList, consents: Consents, people: list[str]
) -> None:
    consents.give(people, ["research"])
    consents.withdraw(people[1])
    noted(consents, people[0])
    listed.rotate_key()
    assert covered(consents) == {people[0], *people[2:]}
    assert [one.number for one in consents.released(people[0]).exports] == [1]


@pytest.fixture
def anywhere_people(anywhere: PatientList) -> list[str]:
    return [str(pid) for pid in pids(register(anywhere, ANNA, OTTO))]


def test_every_database_keeps_consents_and_exports(anywhere: PatientList, anywhere_people: list[str]) -> None:
    consents = Consents(anywhere)
    consents.give(anywhere_people, ["research"])
    number = noted(consents, *anywhere_people)
    consents.withdraw(anywhere_people[0])
    assert covered(consents) == {anywhere_people[1]}
    assert [one.number for one in consents.released(anywhere_people[0]).exports] == [number]


# An administrator who has only the database


def test_the_database_shows_neither_purposes_nor_projects(
    listed: PatientList, consents: Consents, people: list[str], trust: str
) -> None:
    consents.give(people, ["canary-purpose"], categories=["canary-kind"])
    noted(consents, *people, purpose="canary-purpose", project="canary-project")
    consents.withdraw(people[0])
    listed.close()
    disk = b"".join(path.read_bytes() for path in Path(trust).glob("patients.db*"))
    assert not any(word in disk for word in (b"canary", b"given", b"withdrawn", *(pid.encode() for pid in people)))


def test_deleting_the_row_of_a_withdrawal_does_not_bring_the_consent_back(
    listed: PatientList, consents: Consents, people: list[str]
) -> None:
    consents.give(people, ["research"])
    consents.withdraw(people[0])
    with listed.storage.writing() as connection:
        last = connection.execute(select(CONSENTS.c.id).order_by(CONSENTS.c.id.desc()).limit(1)).scalar_one()
        connection.execute(delete(CONSENTS).where(CONSENTS.c.id == last))
    found = consents.covered(None, "research")
    assert set(found.people) == set(people[1:])
    assert len(found.contradicted) == 1
    assert consents.show(people[0]).lost == 1
    consents.give([people[0]], ["research"])
    assert covered(consents) == set(people)
    assert [str(event.kind) for event in consents.show(people[0]).events] == ["given", "withdrawn", "given"]


def test_an_older_copy_of_all_rows_does_not_bring_a_consent_back(
    listed: PatientList, consents: Consents, people: list[str]
) -> None:
    consents.give(people, ["research"])
    with listed.storage.reading() as connection:
        before = [row._asdict() for row in connection.execute(select(CONSENTS))]
    consents.withdraw(people[0])
    consents.give([people[0]], ["teaching"])
    with listed.storage.writing() as connection:
        connection.execute(delete(CONSENTS))
        connection.execute(CONSENTS.insert(), before)
    assert covered(consents) == set(people[1:])


def test_the_consent_of_one_person_cannot_be_moved_to_another(
    listed: PatientList, consents: Consents, people: list[str]
) -> None:
    consents.give(people[:1], ["research"])
    with listed.storage.writing() as connection:
        connection.execute(update(CONSENTS).values(person=2))
    with pytest.raises(EngineError) as refused:
        covered(consents)
    assert refused.value.code == "trust-damaged"


def test_a_pid_cannot_be_made_to_stand_for_somebody_who_agreed(
    listed: PatientList, consents: Consents, people: list[str]
) -> None:
    consents.give(people[:1], ["research"])
    with listed.storage.writing() as connection:
        connection.execute(update(PEOPLE).where(PEOPLE.c.id == 2).values(joined=1))
    for some in (people[:1], people[1:2]):
        with pytest.raises(EngineError) as refused:
            consents.covered(some, "research")
        assert refused.value.code == "trust-damaged"


def test_a_withdrawal_counts_also_if_pids_are_taken_apart_in_the_database(
    listed: PatientList, consents: Consents
) -> None:
    anna, married = (str(pid) for pid in pids(register(listed, ANNA, MARRIED)))
    consents.give([anna], ["research"])
    consents.withdraw(married)
    listed.merge(anna, married)
    with listed.storage.writing() as connection:
        connection.execute(update(PEOPLE).values(joined=None))
    assert covered(consents, pids=[anna]) == set()
    with pytest.raises(EngineError) as refused:
        covered(consents, pids=[married])
    assert refused.value.code == "trust-damaged"


def test_exchanged_indexes_of_pids_are_an_error(listed: PatientList, consents: Consents, people: list[str]) -> None:
    consents.give(people[:1], ["research"])
    with listed.storage.writing() as connection:
        rows = connection.execute(select(PEOPLE.c.id, PEOPLE.c.pid_index).order_by(PEOPLE.c.id)).all()
        for number, index in ((1, b"x"), (2, rows[0].pid_index), (1, rows[1].pid_index)):
            connection.execute(update(PEOPLE).where(PEOPLE.c.id == number).values(pid_index=index))
    with pytest.raises(EngineError) as refused:
        covered(consents, pids=[people[1]])
    assert refused.value.code == "trust-damaged"


def test_people_who_are_split_after_a_withdrawal_have_both_withdrawn(listed: PatientList, consents: Consents) -> None:
    anna, married = (str(pid) for pid in pids(register(listed, ANNA, MARRIED)))
    consents.give([married], ["research"])
    listed.merge(anna, married)
    assert covered(consents, pids=[anna, married]) == {anna, married}
    consents.withdraw(married)
    stays, back = listed.split(anna, [2])
    assert (stays, back) == (anna, married)
    assert covered(consents, pids=[anna, married]) == set()
    consents.give([married], ["research"])
    assert covered(consents, pids=[anna, married]) == {married}


def test_another_person_in_place_of_one_who_was_exported_is_noticed(
    listed: PatientList, consents: Consents, people: list[str]
) -> None:
    consents.give(people, ["research"])
    number = noted(consents, *people[:2])
    with listed.storage.writing() as connection:
        connection.execute(update(EXPORTED).where(EXPORTED.c.person == 1).values(person=4))
    assert [one.number for one in consents.released(people[0]).uncertain] == [number]
    listed.forget(people[3])
    assert [one.number for one in consents.released(people[0]).uncertain] == [number]
    with pytest.raises(EngineError):
        consents.confirm(number)


@pytest.mark.parametrize("table", ["people", "exports"])
def test_an_export_whose_people_are_lost_is_named_as_uncertain(
    listed: PatientList, consents: Consents, people: list[str], table: str
) -> None:
    consents.give(people, ["research"])
    noted(consents, *people[:2])
    with listed.storage.writing() as connection:
        connection.execute(delete(EXPORTED) if table == "exports" else delete(EXPORTED).where(EXPORTED.c.person == 1))
        if table == "exports":
            connection.execute(delete(EXPORTS))
    found = consents.withdraw(people[0])
    assert found.exports == ()
    assert [(one.number, one.project, one.purpose) for one in found.uncertain] == [(1, "p1", "research")]
    assert noted(consents, people[1]) == 2
    assert covered(consents) == set(people[1:])


def test_a_withdrawal_that_only_reached_the_log_counts(
    consents: Consents, people: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after kill -9 between the log and the database."""
    from kohorte.patients.consents import register as module

    consents.give(people, ["research"])

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module, "add_events", killed)
        with pytest.raises(KeyboardInterrupt):
            consents.withdraw(people[0])
    assert covered(consents) == set(people[1:])
    consents.withdraw(people[0])
    consents.give([people[0]], ["research"])
    assert covered(consents) == set(people)


def test_exports_and_withdrawals_at_the_same_time_never_lose_each_other(
    listed: PatientList, consents: Consents, people: list[str]
) -> None:
    """Whatever comes first: an export that has the person is listed, and one that was checked too late is refused."""
    other = PatientList(listed.folder, actor="exporter")
    for turn in range(6):
        consents.give(people, ["research"])
        seen = consents.covered(people, "research")
        start = Barrier(2)

        def export(turn: int = turn, seen: Covered = seen, start: Barrier = start) -> int | None:
            start.wait()
            try:
                return Consents(other, clock=Clock()).note_export(
                    seen, purpose="research", project=f"p{turn}", rows=4, columns=[], sha256=""
                )
            except PrivacyViolation:
                return None

        with ThreadPoolExecutor(1) as pool:
            exported = pool.submit(export)
            start.wait()
            told = consents.withdraw(people[0])
            number = exported.result()
        assert (number in {one.number for one in told.exports}) is (number is not None)
        assert people[0] not in covered(consents)
    other.close()
