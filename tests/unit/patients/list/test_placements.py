"""Which record belongs to which PID: attacks of somebody who administers the database and has no key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, select, update

from kohorte.errors import AccessDenied, EngineError
from kohorte.patients.list.tables import CASES, COUNTERS, PEOPLE, RECORDS, ROWS, TEMP_IDS
from kohorte.patients.patient_list import PatientList
from kohorte.patients.temp_ids import TempIds
from support.identities import ANNA, MARRIED, MISSPELT, OTTO, pids, register

ERNA = OTTO | {"vorname": "Erna", "nachname": "Zorn", "geburtsdatum": "1980-01-02", "geschlecht": "w", "kvnr": ""}
Use = Callable[[PatientList, str], Any]


def administer(listed: PatientList, change: Callable[[Connection], Any]) -> Any:
    """What a database administrator does, without a key."""
    with listed.storage._store.writing() as connection:
        return change(connection)


def rows_of(listed: PatientList) -> dict[str, list[dict[str, Any]]]:
    """A copy of the rows that say who is who."""

    def read(connection: Connection) -> dict[str, list[dict[str, Any]]]:
        return {
            table.name: [dict(row) for row in connection.execute(select(table)).mappings()]
            for table in (PEOPLE, RECORDS)
        }

    return administer(listed, read)  # type: ignore[no-any-return]


def put_back(listed: PatientList, table: Any, row: dict[str, Any]) -> None:
    """Replace a row by an older copy of itself."""

    def change(connection: Connection) -> None:
        connection.execute(delete(table).where(table.c.id == row["id"]))
        connection.execute(insert(table), row)

    administer(listed, change)


def two_people(listed: PatientList) -> tuple[str, str]:
    anna, otto = pids(register(listed, ANNA, OTTO))
    return str(anna), str(otto)


def show(listed: PatientList, pid: str) -> Any:
    return [None if one is None else one.last_name for one in listed.described([pid])]


USES: dict[str, Use] = {
    "way back": show,
    "history": lambda listed, pid: listed.history(pid),
    "registration": lambda listed, _: register(listed, ANNA, OTTO),
    "forgetting": lambda listed, pid: listed.forget(pid),
    "encoding": lambda listed, _: listed.encoded(listed.storage._key_file.read().current),
    "rotation": lambda listed, _: listed.rotate_key(),
    "split": lambda listed, pid: listed.split(pid, [1]),
    "verification": lambda listed, _: listed.verify(),
}


def refused(use: Callable[[], Any]) -> None:
    with pytest.raises(EngineError) as caught:
        use()
    assert caught.value.code in {"trust-damaged", "patients-placed-before", "patients-case-forged"}


@pytest.mark.parametrize("use", USES)
def test_a_record_that_was_moved_to_another_pid_is_noticed_wherever_it_is_used(anywhere: PatientList, use: str) -> None:
    anna, _ = two_people(anywhere)
    administer(
        anywhere, lambda connection: connection.execute(update(RECORDS).where(RECORDS.c.id == 2).values(person=1))
    )
    refused(lambda: USES[use](anywhere, anna))


def test_the_pid_that_a_record_came_with_cannot_be_changed(anywhere: PatientList) -> None:
    """A split gives this PID back."""
    _, otto = two_people(anywhere)
    administer(anywhere, lambda connection: connection.execute(update(RECORDS).values(home=1)))
    refused(lambda: show(anywhere, otto))


@pytest.mark.parametrize("use", ["way back", "history", "forgetting", "rotation", "verification"])
def test_a_pid_that_stands_for_somebody_else_is_noticed_wherever_it_is_used(anywhere: PatientList, use: str) -> None:
    _, otto = two_people(anywhere)
    administer(anywhere, lambda connection: connection.execute(update(PEOPLE).where(PEOPLE.c.id == 2).values(joined=1)))
    refused(lambda: USES[use](anywhere, otto))


def test_a_temp_id_does_not_lead_to_somebody_whom_the_database_names(anywhere: PatientList) -> None:
    _, otto = two_people(anywhere)
    [token] = TempIds(anywhere).issue([otto], target="database")
    administer(anywhere, lambda connection: connection.execute(update(PEOPLE).where(PEOPLE.c.id == 2).values(joined=1)))
    refused(lambda: TempIds(anywhere).resolve([str(token)], target="database"))


def test_records_that_were_exchanged_with_their_content_are_noticed(anywhere: PatientList) -> None:
    """The sealed cells of two records change places: each does not unseal in the row of the other."""
    anna, _ = two_people(anywhere)
    first, second = rows_of(anywhere)[RECORDS.name]
    put_back(anywhere, RECORDS, first | {"identity": second["identity"]})
    refused(lambda: show(anywhere, anna))


def split_after_a_merge(listed: PatientList) -> tuple[str, str, dict[str, list[dict[str, Any]]]]:
    """Anna and Otto were joined by mistake and are apart again; the rows are those of the mistake."""
    anna, otto = two_people(listed)
    listed.merge(anna, otto)
    wrong = rows_of(listed)
    listed.split(anna, [2])
    return anna, otto, wrong


def test_an_older_copy_of_a_record_does_not_bring_a_wrong_merge_back(anywhere: PatientList) -> None:
    anna, otto, wrong = split_after_a_merge(anywhere)
    assert (show(anywhere, anna), show(anywhere, otto)) == (["Eichhorst"], ["Zwickel"])
    put_back(anywhere, RECORDS, wrong[RECORDS.name][1])
    refused(lambda: show(anywhere, anna))
    refused(lambda: register(anywhere, OTTO))


def test_an_older_copy_of_a_pid_does_not_bring_a_wrong_merge_back(anywhere: PatientList) -> None:
    _, otto, wrong = split_after_a_merge(anywhere)
    put_back(anywhere, PEOPLE, wrong[PEOPLE.name][1])
    refused(lambda: show(anywhere, otto))


def test_an_older_copy_of_a_pid_that_followed_a_merge_is_noticed(anywhere: PatientList) -> None:
    """Erna's PID stood for Otto; when Otto was joined with Anna it followed, and it stays after Otto leaves again."""
    anna, otto, erna = (str(pid) for pid in pids(register(anywhere, ANNA, OTTO, ERNA)))
    anywhere.merge(otto, erna)
    before = rows_of(anywhere)[PEOPLE.name][2]
    anywhere.merge(anna, otto)
    anywhere.split(anna, [2])
    assert anywhere.history(erna).pid == anna
    put_back(anywhere, PEOPLE, before)
    refused(lambda: show(anywhere, erna))


def test_rows_from_before_a_merge_are_noticed(anywhere: PatientList) -> None:
    anna, otto = two_people(anywhere)
    before = rows_of(anywhere)
    anywhere.merge(anna, otto)
    put_back(anywhere, PEOPLE, before[PEOPLE.name][1])
    refused(lambda: show(anywhere, otto))


def test_merging_and_splitting_go_on_after_each_other(anywhere: PatientList) -> None:
    anna, otto, erna = (str(pid) for pid in pids(register(anywhere, ANNA, OTTO, ERNA)))
    for _ in range(2):
        anywhere.merge(anna, otto)
        anywhere.merge(erna, anna)
        assert show(anywhere, otto) == show(anywhere, anna) == show(anywhere, erna)
        assert anywhere.split(erna, [1, 2])[0] == erna
        anna, otto = (str(pid) for pid in pids(register(anywhere, ANNA, OTTO)))
        assert anna == otto
        anna, otto = anywhere.split(anna, [2])
        assert [show(anywhere, pid) for pid in (anna, otto, erna)] == [["Eichhorst"], ["Zwickel"], ["Zorn"]]
    anywhere.rotate_key()
    assert [show(anywhere, pid) for pid in (anna, otto, erna)] == [["Eichhorst"], ["Zwickel"], ["Zorn"]]


def test_a_case_about_somebody_else_is_not_decided(anywhere: PatientList) -> None:
    """The administrator lets a case, which shows Anna twice, join Otto with her."""
    anna, married = pids(register(anywhere, ANNA, MARRIED))
    register(anywhere, OTTO)
    case = anywhere.cases()[0].number
    for wrong in (update(CASES).values(person=3), update(CASES).values(other=3)):
        administer(anywhere, lambda connection, wrong=wrong: connection.execute(wrong))
        refused(lambda: anywhere.identities(case))
        refused(lambda: anywhere.decide(case, same=True))
        administer(anywhere, lambda connection: connection.execute(update(CASES).values(person=2, other=1)))
    assert anywhere.decide(case, same=True) == (anna, married)


def test_cases_follow_records_that_are_split_off(anywhere: PatientList) -> None:
    """A case compares with a record; if the record leaves, the case goes with it, on both sides."""
    anna, otto = two_people(anywhere)
    anywhere.merge(otto, anna)
    married = str(pids(register(anywhere, MARRIED))[0])
    anywhere.split(otto, [1])
    case = anywhere.cases()[0]
    assert {case.pid, case.other_pid} == {married, anna}
    assert anywhere.decide(case.number, same=True) == (anna, married)
    assert show(anywhere, married) == ["Bauer"]


def test_rows_of_a_table_do_not_change_places(anywhere: PatientList) -> None:
    """A table that is registered again must not give Anna's row the PID of Otto."""
    register(anywhere, ANNA, OTTO, source="table")
    administer(anywhere, lambda connection: connection.execute(update(ROWS).where(ROWS.c.row == 1).values(record=2)))
    refused(lambda: register(anywhere, ANNA, OTTO, source="table"))


def test_numbers_that_were_given_are_not_given_again(anywhere: PatientList) -> None:
    """Otherwise there would be two rows with one number, and their sealed cells could be exchanged."""
    two_people(anywhere)

    def change(connection: Connection) -> None:
        connection.execute(update(COUNTERS).values(value=1))
        for table in (PEOPLE, RECORDS):
            connection.execute(delete(table).where(table.c.id == 2))

    administer(anywhere, change)
    register(anywhere, ERNA)
    assert [row["id"] for row in rows_of(anywhere)[PEOPLE.name]] == [1, 3]
    assert [row["id"] for row in rows_of(anywhere)[RECORDS.name]] == [1, 3]


@pytest.mark.parametrize("column", ["used", "expires"])
def test_a_temp_id_cannot_be_made_valid_again(anywhere: PatientList, column: str) -> None:
    anna, _ = two_people(anywhere)
    [token] = TempIds(anywhere).issue([anna], target="database")
    TempIds(anywhere).resolve([str(token)], target="database")
    values = {"used": None} if column == "used" else {"used": None, "expires": "2999"}
    administer(anywhere, lambda connection: connection.execute(update(TEMP_IDS).values(values)))
    with pytest.raises(Exception, match="not valid"):
        TempIds(anywhere).resolve([str(token)], target="database")


def test_a_copy_of_its_row_does_not_make_a_temp_id_valid_again(anywhere: PatientList) -> None:
    anna, _ = two_people(anywhere)
    tokens = [str(token) for token in TempIds(anywhere).issue([anna, anna], target="database")]
    copies = administer(
        anywhere, lambda connection: [dict(row) for row in connection.execute(select(TEMP_IDS)).mappings()]
    )
    TempIds(anywhere).resolve(tokens[:1], target="database")
    administer(anywhere, lambda connection: connection.execute(delete(TEMP_IDS)))
    administer(anywhere, lambda connection: connection.execute(insert(TEMP_IDS), copies))
    with pytest.raises(AccessDenied, match="not valid"):
        TempIds(anywhere).resolve(tokens[:1], target="database")
    assert TempIds(anywhere).resolve(tokens[1:], target="database") == [anna]


@pytest.mark.parametrize("change", [delete(CASES), update(CASES).values(state="different")])
def test_an_open_case_does_not_vanish_unless_somebody_decides_it(anywhere: PatientList, change: Any) -> None:
    register(anywhere, ANNA)
    register(anywhere, MARRIED)
    [case] = anywhere.cases()
    PatientList(anywhere.folder).close()
    administer(anywhere, lambda connection: connection.execute(change.where(CASES.c.id == case.number)))
    with pytest.raises(EngineError) as caught:
        PatientList(anywhere.folder)
    assert caught.value.code == "trust-cases-changed"
    PatientList.complete(anywhere.folder)
    PatientList(anywhere.folder).close()


def test_a_description_that_is_added_keeps_the_person_together(anywhere: PatientList) -> None:
    """Records that come later do not need the older ones to be sealed again."""
    anna, otto = two_people(anywhere)
    anywhere.merge(anna, otto)
    anywhere.split(anna, [2])
    assert pids(register(anywhere, MISSPELT)) == [anna]
    assert show(anywhere, anna) == ["EICHORST"]
    assert len(anywhere.history(anna).records) == 2


def test_a_pid_that_is_found_no_more_is_noticed(listed: PatientList) -> None:
    register(listed, ANNA, OTTO)
    listed.verify()
    hidden = update(PEOPLE).where(PEOPLE.c.id == 1).values(pid_index=bytes(16))
    administer(listed, lambda connection: connection.execute(hidden))
    with pytest.raises(EngineError) as caught:
        listed.verify()
    assert caught.value.code == "trust-damaged"
