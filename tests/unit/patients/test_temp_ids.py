"""TempIDs: one recipient, once, for some minutes."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.errors import AccessDenied, EngineError, InputError
from kohorte.patients.patient_list import PatientList
from kohorte.patients.temp_ids import TempIds, resolved_table, table_with_temp_ids
from support.clock import Clock
from support.identities import ANNA, MARRIED, OTTO, pids, register, table


@pytest.fixture
def people(listed: PatientList) -> list[str]:
    return [str(pid) for pid in pids(register(listed, ANNA, OTTO))]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def temp_ids(listed: PatientList, clock: Clock) -> TempIds:
    return TempIds(listed, clock=clock)


def entries(listed: PatientList, action: str) -> list[dict[str, Any]]:
    return [entry["details"] for entry in listed.folder.log.verified_entries() if entry["action"] == action]


def refusal(temp_ids: TempIds, token: str, target: str = "database") -> tuple[str, str]:
    with pytest.raises(AccessDenied) as refused:
        temp_ids.resolve([token], target=target)
    return refused.value.code, refused.value.message


def test_a_temp_id_leads_to_its_person_once(temp_ids: TempIds, people: list[str]) -> None:
    tokens = temp_ids.issue([*people, people[0], None], target="database")
    assert tokens[3] is None
    given = [token for token in tokens if token is not None]
    assert len(set(given)) == 3
    assert all(re.fullmatch("[A-Z2-7]{26}", token) for token in given)
    assert temp_ids.resolve(given, target="database") == [*people, people[0]]
    assert refusal(temp_ids, given[0])[0] == "temp-id-refused"


def test_unknown_expired_used_and_foreign_temp_ids_get_the_same_answer_and_the_log_knows_why(
    listed: PatientList, temp_ids: TempIds, clock: Clock, people: list[str]
) -> None:
    used, old, foreign = temp_ids.issue([people[0]] * 3, target="database")
    temp_ids.resolve([str(used)], target="database")
    answers = {refusal(temp_ids, "A" * 26)}
    answers |= {refusal(temp_ids, str(used)), refusal(temp_ids, str(foreign), "biobank")}
    clock.time += timedelta(minutes=15)
    answers.add(refusal(temp_ids, str(old)))
    assert len(answers) == 1
    reasons = [set(entry) - {"target", "asked"} for entry in entries(listed, "refuse temp ids")]
    assert reasons == [{"unknown"}, {"used before"}, {"for another recipient"}, {"expired"}]


def test_a_temp_id_is_valid_until_its_last_moment(temp_ids: TempIds, clock: Clock, people: list[str]) -> None:
    (token,) = temp_ids.issue(people[:1], target="database", minutes=1)
    clock.time += timedelta(seconds=59)
    assert temp_ids.resolve([str(token)], target="database") == people[:1]


def test_all_are_resolved_or_none(temp_ids: TempIds, people: list[str]) -> None:
    one, other = (str(token) for token in temp_ids.issue(people, target="database"))
    with pytest.raises(AccessDenied, match="row 2"):
        temp_ids.resolve([one, "B" * 26, other], target="database")
    with pytest.raises(AccessDenied, match="row 2"):
        temp_ids.resolve([one, one], target="database")
    assert temp_ids.resolve([other, one], target="database") == people[::-1]


def test_of_many_who_ask_at_the_same_time_one_wins(anywhere: PatientList, clock: Clock) -> None:
    (anna,) = pids(register(anywhere, ANNA))
    temp_ids = TempIds(anywhere, clock=clock)
    tokens = [str(token) for token in temp_ids.issue([anna] * 5, target="database")]
    opened = [PatientList(anywhere.folder, actor=f"database {number}") for number in range(4)]

    def ask(number: int) -> list[str | None]:
        found: list[str | None] = []
        for token in tokens:
            try:
                found += TempIds(opened[number], clock=clock).resolve([token], target="database")
            except AccessDenied:
                found.append(None)
        return found

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(4)))
    for listed in opened:
        listed.close()
    for place in range(5):
        assert [answer[place] for answer in answers if answer[place] is not None] == [anna]


def test_after_a_decision_a_temp_id_leads_to_the_person_who_stays(listed: PatientList, temp_ids: TempIds) -> None:
    anna, married = (str(pid) for pid in pids(register(listed, ANNA, MARRIED)))
    (token,) = temp_ids.issue([married], target="database")
    listed.merge(anna, married)
    assert temp_ids.resolve([str(token)], target="database") == [anna]


def test_forgetting_ends_temp_ids(listed: PatientList, temp_ids: TempIds, people: list[str]) -> None:
    (token,) = temp_ids.issue(people[:1], target="database")
    listed.forget(people[0])
    assert refusal(temp_ids, str(token))[0] == "temp-id-refused"


def test_a_new_key_ends_temp_ids(listed: PatientList, temp_ids: TempIds, people: list[str]) -> None:
    (token,) = temp_ids.issue(people[:1], target="database")
    listed.rotate_key()
    assert refusal(temp_ids, str(token))[0] == "temp-id-refused"


def test_neither_database_nor_log_has_the_token_and_the_database_not_for_whom_it_is(
    listed: PatientList, trust: str
) -> None:
    (pid,) = pids(register(listed, ANNA))
    (token,) = TempIds(listed).issue([pid], target="canary-clinic")
    listed.close()
    disk = b"".join(path.read_bytes() for path in Path(trust).glob("patients.db*"))
    assert str(token).encode() not in disk
    assert b"canary-clinic" not in disk
    log = Path(trust, "log.jsonl").read_text()
    assert str(token) not in log
    assert str(pid) not in log


def test_an_administrator_cannot_make_a_token_valid_again_for_another_person(
    listed: PatientList, people: list[str]
) -> None:
    from sqlalchemy import update

    from kohorte.patients.list.tables import TEMP_IDS

    tokens = [str(token) for token in TempIds(listed).issue(people, target="database")]
    with listed.storage.writing() as connection:
        rows = connection.execute(TEMP_IDS.select()).all()
        one, other = rows
        connection.execute(
            update(TEMP_IDS).where(TEMP_IDS.c.token_index == one.token_index).values(details=other.details)
        )
    codes = set()
    for token in tokens:
        try:
            TempIds(listed).resolve([token], target="database")
        except EngineError as error:
            codes.add(error.code)
    assert codes == {"trust-damaged"}


@pytest.mark.parametrize(("target", "minutes", "code"), [
    ("", 15, "temp-id-target"), ("Database", 15, "temp-id-target"), ("x" * 64, 15, "temp-id-target"),
    ("database", 0, "temp-id-minutes"), ("database", 1441, "temp-id-minutes"),
])  # fmt: skip
def test_wrong_options_are_refused(
    listed: PatientList, people: list[str], target: str, minutes: int, code: str
) -> None:
    with pytest.raises(InputError) as refused:
        TempIds(listed).issue(people, target=target, minutes=minutes)
    assert refused.value.code == code


def test_an_administrator_cannot_lead_a_token_to_another_person(listed: PatientList, people: list[str]) -> None:
    from sqlalchemy import update

    from kohorte.patients.list.tables import TEMP_IDS

    (token,) = TempIds(listed).issue(people[:1], target="database")
    with listed.storage.writing() as connection:
        connection.execute(update(TEMP_IDS).values(person=2))
    assert TempIds(listed).resolve([str(token)], target="database") == people[:1]


def test_a_pid_that_nobody_has_gets_no_temp_id(listed: PatientList, people: list[str]) -> None:
    from kohorte.trust.pid import random_pid

    with pytest.raises(InputError) as refused:
        TempIds(listed).issue([people[0], random_pid()], target="database")
    assert refused.value.code == "patients-pid-unknown"
    assert "row 2" in refused.value.message


def test_old_temp_ids_are_removed(listed: PatientList, people: list[str], clock: Clock) -> None:
    from kohorte.patients.list.tables import TEMP_IDS

    temp_ids = TempIds(listed, clock=clock)
    temp_ids.issue(people, target="database")
    clock.time += timedelta(days=2)
    temp_ids.issue(people[:1], target="database")
    with listed.storage.reading() as connection:
        assert len(connection.execute(TEMP_IDS.select()).all()) == 1


@pytest.fixture
def registered(listed: PatientList) -> pl.DataFrame:
    frame = table(ANNA, OTTO).with_columns(pl.Series("diagnosis", ["I21", "E11"]))
    from kohorte.patients.identity import columns_of

    columns = columns_of(frame.columns)
    found = listed.register(frame, columns)
    return table_with_temp_ids(frame, columns, found.rows, listed, "database")


def test_a_registered_table_has_temp_ids_and_no_pids(listed: PatientList, registered: pl.DataFrame) -> None:
    assert registered.columns == ["temp_id", "registered", "diagnosis"]
    assert set(registered["registered"]) == {"registered"}
    known = {str(pid) for pid in pids(register(listed, ANNA, OTTO))}
    assert not known & set(registered["temp_id"])
    resolved = resolved_table(registered, "temp_id", listed, "database")
    assert resolved.columns == ["pid", "registered", "diagnosis"]
    assert set(resolved["pid"]) == known
    with pytest.raises(AccessDenied):
        resolved_table(registered, "temp_id", listed, "database")
    with pytest.raises(InputError) as refused:
        resolved_table(resolved, "temp_id", listed, "database")
    assert refused.value.code == "temp-id-table"


def test_rows_without_a_temp_id_stay_without_a_pid(listed: PatientList, registered: pl.DataFrame) -> None:
    frame = registered.with_columns(temp_id=pl.Series([None, registered["temp_id"][1]]))
    assert resolved_table(frame, "temp_id", listed, "database")["pid"].to_list()[0] is None
