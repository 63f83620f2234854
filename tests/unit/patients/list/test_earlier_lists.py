"""Lists of earlier versions, whose rows were sealed without their places."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, select, text, update

from kohorte.errors import EngineError
from kohorte.patients.list import storage
from kohorte.patients.list.storage import SEALED_WITH
from kohorte.patients.list.tables import CASES, COUNTERS, EVENTS, PEOPLE, RECORDS, SETTINGS
from kohorte.patients.patient_list import PatientList
from kohorte.trust.log import Log
from kohorte.trust.records.facts import CASES_MARKED, HISTORY_MARKED, PLACEMENTS_SEALED
from kohorte.trust.sealing import Sealer
from kohorte.trust.store import ties
from support.identities import ANNA, MARRIED, OTTO, pids, register


def made_earlier(listed: PatientList) -> tuple[str, str, str]:
    """Let the database be as the version before wrote it: Anna, Anna after her marriage (joined), and Otto."""
    anna, married, otto = (str(pid) for pid in pids(register(listed, ANNA, MARRIED, OTTO)))
    listed.merge(anna, married)
    secrets, key = listed.storage.secrets, listed.storage._key_file.read().current
    records, people = Sealer(key, "patients records"), Sealer(key, "patients people")
    with listed.storage._store.writing() as connection:
        for row in connection.execute(select(RECORDS)).all():
            plain = secrets._identities.unseal(
                row.identity, row=b"%d of %d from %d at %d" % (row.id, row.person, row.home, row.placed)
            )
            change = update(RECORDS).where(RECORDS.c.id == row.id)
            connection.execute(change.values(identity=records.seal(plain, row=b"%d" % row.id)))
        for row in connection.execute(select(PEOPLE)).all():
            sealed = people.seal(secrets.pid(row).encode(), row=b"%d" % row.id)
            connection.execute(update(PEOPLE).where(PEOPLE.c.id == row.id).values(pid=sealed))
        noted = connection.execute(select(SETTINGS.c.value).where(SETTINGS.c.name == SEALED_WITH)).scalar_one()
        earlier = b" ".join(bytes(noted).split()[:3])
        connection.execute(update(SETTINGS).where(SETTINGS.c.name == SEALED_WITH).values(value=earlier))
        for table in (RECORDS, PEOPLE):
            connection.execute(text(f"ALTER TABLE {table.name} DROP COLUMN placed"))
        without_marks(listed, connection, version=2)
    listed.close()
    return anna, married, otto


def without_marks(listed: PatientList, connection: Connection, *, version: int) -> None:
    """Let cases and history, or from version 4 on the history alone, be as a version before the marks wrote them."""
    for name, since in (("cases", 4), ("events", 5)):
        if version < since:
            connection.execute(delete(COUNTERS).where(COUNTERS.c.name == name))
            connection.execute(text(f"ALTER TABLE patients_{name} DROP COLUMN mark"))
    connection.execute(text(f"UPDATE trust_versions SET version = {version} WHERE room = 'patients'"))
    sealer = listed.folder.sealer("ties")
    sealed = connection.execute(select(ties.c.sealed).where(ties.c.name == "patients")).scalar_one()
    state = json.loads(sealer.unseal(sealed, row=b"patients"))
    del state["marked"]
    if version < 4:
        del state["decided"]
    again = sealer.seal(json.dumps(state).encode(), row=b"patients")
    connection.execute(update(ties).where(ties.c.name == "patients").values(sealed=again))


class Killed(BaseException):
    """The end of a process."""


def killed(*_: object, **__: object) -> None:
    raise Killed


def opened(listed: PatientList) -> PatientList:
    return PatientList(listed.folder, actor="tester")


def names(patients: PatientList, *wanted: str) -> list[str | None]:
    return [None if one is None else one.last_name for one in patients.described(wanted)]


def sealings(listed: PatientList, action: str = PLACEMENTS_SEALED) -> int:
    return sum(entry["action"] == action for entry in listed.folder.log.entries())


def test_a_list_of_an_earlier_version_is_sealed_with_its_places_when_it_is_opened(anywhere: PatientList) -> None:
    anna, married, otto = made_earlier(anywhere)
    patients = opened(anywhere)
    assert names(patients, anna, married, otto) == ["Bauer", "Bauer", "Zwickel"]
    assert pids(register(patients, MARRIED, OTTO)) == [anna, otto]
    assert patients.split(anna, [2]) == (anna, married)
    with patients.storage._store.writing() as connection:
        connection.execute(update(RECORDS).where(RECORDS.c.id == 2).values(person=1))
    with pytest.raises(EngineError) as caught:
        names(patients, anna)
    assert caught.value.code == "trust-damaged"
    opened(anywhere).close()
    patients.close()
    assert sealings(anywhere) == 1


def copied(connection: Connection) -> dict[Any, list[dict[str, Any]]]:
    return {
        table: [dict(row) for row in connection.execute(select(table)).mappings()]
        for table in (PEOPLE, RECORDS, SETTINGS)
    }


def test_rows_of_the_earlier_version_cannot_be_put_back_to_be_sealed_elsewhere(anywhere: PatientList) -> None:
    """Otherwise the administrator would put the old rows back, move a record, and let the program seal it there."""
    made_earlier(anywhere)
    store = anywhere.folder.store(storage.ROOM)  # adds the columns, and seals nothing
    with store.reading() as connection:
        before = copied(connection)
    opened(anywhere).close()
    with store.writing() as connection:
        for table, rows in before.items():
            connection.execute(delete(table))
            connection.execute(insert(table), rows)
        connection.execute(update(RECORDS).values(person=1))
    store.close()
    with pytest.raises(EngineError) as caught:
        opened(anywhere)
    assert caught.value.code == "trust-database-older"


def test_a_process_that_is_killed_before_the_log_has_it_leaves_it_to_the_next(
    listed: PatientList, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, _, _ = made_earlier(listed)
    with monkeypatch.context() as patch:
        patch.setattr(Log, "append", killed)
        with pytest.raises(Killed):
            opened(listed)
    assert sealings(listed) == 0
    patients = opened(listed)
    assert names(patients, anna) == ["Bauer"]
    patients.close()
    assert sealings(listed) == 1


def test_an_earlier_backup_is_accepted_if_a_person_confirms_it(anywhere: PatientList) -> None:
    anna, married, otto = made_earlier(anywhere)
    store = anywhere.folder.store(storage.ROOM)
    with store.reading() as connection:
        before = copied(connection)
    patients = opened(anywhere)
    patients.split(anna, [2])
    patients.close()
    with store.writing() as connection:
        for table, rows in before.items():
            connection.execute(delete(table))
            connection.execute(insert(table), rows)
    store.close()
    PatientList.complete(anywhere.folder)
    patients = opened(anywhere)
    assert names(patients, anna, married, otto) == ["Bauer", "Bauer", "Zwickel"]
    patients.close()


def test_cases_of_an_earlier_version_are_marked_once(anywhere: PatientList) -> None:
    """Open and decided ones; afterwards they cannot be changed, and new ones do not take their numbers."""
    register(anywhere, ANNA, MARRIED)
    anywhere.decide(1, same=False)
    register(anywhere, ANNA | {"nachname": "Zorn", "kvnr": ""})
    with anywhere.storage._store.writing() as connection:
        without_marks(anywhere, connection, version=3)
    anywhere.close()
    for _ in range(2):
        patients = opened(anywhere)
        patients.verify()
        assert sorted(case.number for case in patients.cases()) == [2, 3]
        patients.close()
    assert sealings(anywhere, CASES_MARKED) == 1
    patients = opened(anywhere)
    register(patients, OTTO, OTTO | {"nachname": "Zorn", "kvnr": ""})
    assert max(case.number for case in patients.cases()) == 4
    with patients.storage._store.writing() as connection:
        connection.execute(update(CASES).where(CASES.c.state == "different").values(actor="somebody else"))
    with pytest.raises(EngineError) as caught:
        patients.verify()
    assert caught.value.code == "patients-case-forged"
    patients.close()


def test_the_history_of_an_earlier_version_is_marked_once(anywhere: PatientList) -> None:
    anna, married = (str(pid) for pid in pids(register(anywhere, ANNA, MARRIED)))
    before = anywhere.history(anna).events
    with anywhere.storage._store.writing() as connection:
        without_marks(anywhere, connection, version=4)
    anywhere.close()
    for _ in range(2):
        patients = opened(anywhere)
        patients.verify()
        assert patients.history(anna).events == before
        patients.close()
    assert (sealings(anywhere, HISTORY_MARKED), sealings(anywhere, CASES_MARKED)) == (1, 0)
    patients = opened(anywhere)
    patients.merge(anna, married)
    assert len(patients.history(anna).events) == 4
    with patients.storage._store.writing() as connection:
        connection.execute(update(EVENTS).values(mark=None))
    patients.close()
    with pytest.raises(EngineError) as caught:
        opened(anywhere).history(anna)
    assert caught.value.code == "patients-history-forged"


@pytest.mark.parametrize("version", [3, 4])
def test_an_earlier_database_is_not_marked_again(listed: PatientList, version: int) -> None:
    """Otherwise an administrator would put it back, decide a case in it, and let the program mark the decision."""
    register(listed, ANNA, MARRIED)
    with listed.storage._store.writing() as connection:
        without_marks(listed, connection, version=version)
    listed.close()
    database = listed.folder.path / "patients.db"
    before = database.read_bytes()
    opened(listed).close()
    database.write_bytes(before)
    with pytest.raises(EngineError) as caught:
        opened(listed)
    assert caught.value.code == "trust-database-older"
