"""Forgotten people stay forgotten: older databases, rows that are put back, exchanged rows, and killed processes."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from sqlalchemy import delete, insert, select, update

from kohorte.errors import EngineError, InputError
from kohorte.patients.consents.register import Consents
from kohorte.patients.list import storage
from kohorte.patients.list.tables import BLOCKS, METADATA, PEOPLE, RECORDS
from kohorte.patients.patient_list import PatientList
from kohorte.patients.temp_ids import TempIds
from kohorte.trust.store import ties

COLUMNS = {"first_names": "first", "last_name": "last", "birth_date": "born"}


def registered(patients: PatientList, *names: str) -> list[str]:
    table = pl.DataFrame(
        [{"first": name, "last": f"{name}sen", "born": f"19{len(name)}1-0{len(name)}-12"} for name in names]
    )
    return [str(row.pid) for row in patients.register(table, COLUMNS).rows]


def older(patients: PatientList, change: Callable[[], object]) -> Callable[[], None]:
    """Copy the database, make a change, and return what puts the copy back."""
    tables = [*METADATA.sorted_tables, ties]
    store = patients.storage._store
    with store.reading() as connection:
        rows = {table: [row._asdict() for row in connection.execute(select(table))] for table in tables}
    change()

    def put_back() -> None:
        with store.writing() as connection:
            for table in tables:
                connection.execute(delete(table))
                if rows[table]:
                    connection.execute(insert(table), rows[table])

    return put_back


def opened(patients: PatientList) -> PatientList:
    return PatientList(patients.folder, actor="tester")


def test_an_older_database_does_not_bring_forgotten_people_back(anywhere: PatientList) -> None:
    anna, bruno = registered(anywhere, "Anna", "Brunhild")

    def change() -> None:
        anywhere.forget(anna)
        registered(anywhere, "Cleo-Marie")

    older(anywhere, change)()
    with pytest.raises(EngineError) as caught:
        opened(anywhere)
    assert caught.value.code == "trust-database-older"
    for use in (lambda: registered(anywhere, "Dora"), lambda: anywhere.forget(bruno)):  # opened before
        with pytest.raises(EngineError) as caught:
            use()
        assert caught.value.code == "trust-database-older"
    assert PatientList.complete(anywhere.folder) == 1
    patients = opened(anywhere)
    assert patients.described([anna, bruno])[0] is None
    assert patients.described([anna, bruno])[1] is not None
    with pytest.raises(InputError) as refused:
        patients.history(anna)
    assert refused.value.code == "patients-pid-forgotten"
    patients.close()


def test_a_forgetting_that_was_killed_before_the_database_had_it_is_ended_by_the_next_process(
    anywhere: PatientList, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bruno = registered(anywhere, "Anna", "Brunhild")

    class Killed(BaseException):
        """Stands for a signal that cannot be caught."""

    def killed(*_: object) -> int:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("kohorte.patients.patient_list.forget", killed)
        with pytest.raises(Killed):
            anywhere.forget(anna)
    patients = opened(anywhere)
    assert [one is None for one in patients.described([anna, bruno])] == [True, False]
    patients.close()


def test_rows_of_a_forgotten_person_that_are_put_back_are_refused(anywhere: PatientList) -> None:
    anna, bruno = registered(anywhere, "Anna", "Brunhild")
    put_back = older(anywhere, lambda: anywhere.forget(anna))
    store = anywhere.storage._store
    with store.reading() as connection:
        newest = [row._asdict() for row in connection.execute(select(ties))]
    put_back()
    with store.writing() as connection:
        connection.execute(delete(ties))
        connection.execute(insert(ties), newest)
    patients = opened(anywhere)
    assert patients.history(bruno).pid == bruno
    for use in (
        lambda: patients.described([anna]),
        lambda: patients.history(anna),
        lambda: registered(patients, "Anna"),
        lambda: TempIds(patients).issue([anna], target="database"),
        lambda: Consents(patients).covered(None, "research"),
    ):
        with pytest.raises(EngineError) as caught:
            use()
        assert caught.value.code == "trust-forgotten-back"
    assert PatientList.complete(anywhere.folder) == 1
    assert patients.described([anna]) == [None]
    patients.close()


def test_records_of_a_forgotten_person_that_are_put_back_without_the_pid_are_refused(anywhere: PatientList) -> None:
    anna, bruno = registered(anywhere, "Anna", "Brunhild")
    store = anywhere.storage._store
    with store.reading() as connection:
        copies = {
            table: [row._asdict() for row in connection.execute(select(table).where(column == 1))]
            for table, column in ((RECORDS, RECORDS.c.person), (BLOCKS, BLOCKS.c.record))
        }
    anywhere.forget(anna)
    with store.writing() as connection:
        for table, rows in copies.items():
            connection.execute(insert(table), rows)
    for use in (
        lambda: registered(anywhere, "Anna"),
        lambda: anywhere.encoded(anywhere.storage._key_file.read().current),
        anywhere.verify,
    ):
        with pytest.raises(EngineError) as caught:
            use()
        assert caught.value.code == "patients-record-of-nobody"
    PatientList.complete(anywhere.folder)
    anywhere.verify()
    with store.reading() as connection:
        assert connection.scalars(select(RECORDS.c.person)).all() == [2]
        assert set(connection.scalars(select(BLOCKS.c.record))) == {2}
    assert registered(anywhere, "Brunhild") == [bruno]


def test_exchanged_indexes_of_pids_are_refused(anywhere: PatientList) -> None:
    anna, bruno = registered(anywhere, "Anna", "Brunhild")
    with anywhere.storage._store.writing() as connection:
        rows = connection.execute(select(PEOPLE.c.id, PEOPLE.c.pid_index).order_by(PEOPLE.c.id)).all()
        for number, index in ((1, b"-"), (2, rows[0].pid_index), (1, rows[1].pid_index)):
            connection.execute(update(PEOPLE).where(PEOPLE.c.id == number).values(pid_index=index))
    for use in (lambda: anywhere.described([anna]), lambda: anywhere.forget(bruno)):
        with pytest.raises(EngineError) as caught:
            use()
        assert caught.value.code == "trust-damaged"


def test_somebody_who_was_joined_with_a_forgotten_person_in_an_older_database_stays(listed: PatientList) -> None:
    anna, bruno = registered(listed, "Anna", "Brunhild")
    listed.merge(anna, bruno)

    def change() -> None:
        listed.split(anna, [2])
        listed.forget(anna)

    older(listed, change)()
    assert PatientList.complete(listed.folder) == 1
    patients = opened(listed)
    found = patients.described([anna, bruno])
    assert found[0] is None
    assert found[1] is not None
    assert found[1].last_name == "Brunhildsen"
    patients.close()


def test_temp_ids_of_an_older_database_end_when_it_is_accepted(listed: PatientList) -> None:
    [anna] = registered(listed, "Anna")
    [token] = TempIds(listed).issue([anna], target="database")

    def change() -> None:
        TempIds(listed).resolve([str(token)], target="database")
        registered(listed, "Brunhild")

    older(listed, change)()
    PatientList.complete(listed.folder)
    patients = opened(listed)
    with pytest.raises(Exception, match="not valid"):
        TempIds(patients).resolve([str(token)], target="database")
    patients.close()


def test_an_emptied_database_is_refused(listed: PatientList) -> None:
    registered(listed, "Anna")
    with listed.storage._store.writing() as connection:
        for table in (*METADATA.sorted_tables, ties):
            connection.execute(delete(table))
    with pytest.raises(EngineError) as caught:
        storage.Storage(listed.folder)
    assert caught.value.code == "trust-database-older"
