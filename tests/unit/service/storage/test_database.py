"""One database or the other: snapshots, transactions, waiting, and what is said when it fails."""

from __future__ import annotations

import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, event, func, insert, select, text, update

from kohorte.errors import EngineError, InputError, InternalError
from kohorte.service.context import Service
from kohorte.service.storage.database import Database
from kohorte.service.storage.schema import login_failures, now, workers
from support.service import on_sqlite

CANARY = "Quastenflosser"


def add_worker(connection: Connection, name: str) -> None:
    connection.execute(insert(workers).values(name=name, seen_at=now()))


def names(database: Database) -> set[str]:
    with database.reading() as connection:
        return set(connection.execute(select(workers.c.name)).scalars())


def test_a_reader_sees_one_state_while_others_write(service: Service) -> None:
    database = service.database
    with database.reading() as connection:
        count = select(func.count()).select_from(workers)
        assert connection.execute(count).scalar_one() == 0
        with database.writing() as other:
            add_worker(other, "one")
        assert connection.execute(count).scalar_one() == 0
        assert connection.execute(select(workers.c.name)).all() == []
    assert names(database) == {"one"}


def test_a_reading_within_a_reading_sees_the_state_of_the_outer_one(service: Service) -> None:
    with service.database.reading() as outer:
        before = outer.execute(select(func.count()).select_from(workers)).scalar_one()
        with service.database.writing() as connection:
            add_worker(connection, "one")
        with service.database.reading() as inner:
            assert inner is outer
            assert inner.execute(select(func.count()).select_from(workers)).scalar_one() == before
    with service.database.reading() as later:
        assert later.execute(select(func.count()).select_from(workers)).scalar_one() == before + 1


def test_a_connection_that_wrote_cannot_write_when_it_reads(service: Service) -> None:
    for name in ("one", "two"):
        with service.database.writing() as connection:
            add_worker(connection, name)
        with pytest.raises(EngineError), service.database.reading() as connection:
            add_worker(connection, "another")
    assert names(service.database) == {"one", "two"}


def test_readers_and_a_writer_do_not_wait_for_each_other(service: Service) -> None:
    with service.database.writing() as connection:
        add_worker(connection, "one")
        with ThreadPoolExecutor() as pool:
            assert pool.submit(names, service.database).result(timeout=60) == set()
    assert names(service.database) == {"one"}


def test_a_transaction_that_raises_leaves_nothing(service: Service) -> None:
    def add_and_fail() -> None:
        with service.database.writing() as connection:
            add_worker(connection, "one")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        add_and_fail()
    assert names(service.database) == set()


def test_a_reader_cannot_write(service: Service) -> None:
    with pytest.raises(EngineError) as caught, service.database.reading() as connection:
        add_worker(connection, "one")
    assert caught.value.code == "service-database"
    with service.database.writing() as connection:  # the connection of the reader, from the pool
        add_worker(connection, "two")
    assert names(service.database) == {"two"}


def test_who_comes_second_with_the_same_key_is_told_so_without_the_key(service: Service) -> None:
    with service.database.writing() as connection:
        add_worker(connection, CANARY)
    with pytest.raises(InputError) as caught, service.database.writing() as connection:
        add_worker(connection, CANARY)
    assert caught.value.code == "service-conflict"
    assert CANARY not in str(caught.value)
    assert caught.value.__suppress_context__


def test_what_is_missing_is_no_conflict(service: Service) -> None:
    with pytest.raises(EngineError) as caught, service.database.writing() as connection:
        connection.execute(insert(workers).values(name="one", seen_at=None))
    assert caught.value.code == "service-database"


def test_the_words_of_the_driver_do_not_come_through(service: Service) -> None:
    with pytest.raises(EngineError) as caught, service.database.reading() as connection:
        connection.execute(text(f"SELECT {CANARY} FROM nowhere"))
    assert caught.value.code == "service-database"
    assert CANARY not in str(caught.value)
    assert "nowhere" not in str(caught.value)


def test_a_transaction_within_a_transaction_is_refused_rather_than_waited_for(service: Service) -> None:
    with (
        pytest.raises(InternalError) as caught,
        service.database.writing() as connection,
        service.database.writing(),
    ):
        add_worker(connection, "one")
    assert caught.value.code == "service-transaction"
    with service.database.writing() as connection:
        add_worker(connection, "two")
    assert names(service.database) == {"two"}


def test_of_many_threads_that_count_none_is_lost(service: Service) -> None:
    database, threads, rounds = service.database, 20, 5
    with database.writing() as connection:
        connection.execute(insert(login_failures).values(address_key="a", failures=0, last_at=now()))

    def count() -> None:
        for _ in range(rounds):
            with database.writing() as connection:
                found = connection.execute(select(login_failures.c.failures).with_for_update()).scalar_one()
                connection.execute(update(login_failures).values(failures=found + 1))

    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(count) for _ in range(threads)]:
            done.result()
    with database.reading() as connection:
        assert connection.execute(select(login_failures.c.failures)).scalar_one() == threads * rounds


def test_a_second_connection_waits_for_a_writer(service: Service) -> None:
    other = Database(service.settings.database_address)
    begun, seen = threading.Event(), []

    def second() -> None:
        begun.wait()
        with other.writing() as connection:
            connection.execute(update(login_failures).values(failures=login_failures.c.failures + 1))
            seen.append(connection.execute(select(login_failures.c.failures)).scalar_one())

    with service.database.writing() as connection:
        connection.execute(insert(login_failures).values(address_key="a", failures=1, last_at=now()))
    thread = threading.Thread(target=second)
    thread.start()
    with service.database.writing() as connection:
        connection.execute(update(login_failures).values(failures=5))
        begun.set()
        thread.join(timeout=0.2)
        assert seen == []
    thread.join()
    other.close()
    assert seen == [6]


@on_sqlite
def test_a_file_that_somebody_else_locks_for_too_long_is_an_error_of_the_database(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kohorte.service.storage.database.WAIT_SECONDS", 0)
    database = Database(service.settings.database_address)
    other = sqlite3.connect(service.settings.folder / "service.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(EngineError) as caught, database.writing() as connection:
        add_worker(connection, "one")
    assert caught.value.code == "service-database"
    assert "SQLITE_BUSY" in str(caught.value)
    assert "locked" not in str(caught.value)
    other.execute("ROLLBACK")
    other.close()
    with database.writing() as connection:
        add_worker(connection, "two")
    assert names(database) == {"two"}
    database.close()


def test_what_a_driver_raises_in_a_listener_is_an_error_of_the_database(service: Service) -> None:
    def fail(connection: Connection) -> None:
        raise psycopg.OperationalError(CANARY)

    event.listen(service.database.engine, "begin", fail)
    with pytest.raises(EngineError) as caught, service.database.writing() as connection:
        add_worker(connection, "one")
    event.remove(service.database.engine, "begin", fail)
    assert caught.value.code == "service-database"
    assert CANARY not in str(caught.value)
    assert names(service.database) == set()


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_writer_sees_what_others_wrote_whatever_the_default_of_the_server_is(address: str) -> None:
    shown = text("SHOW transaction_isolation")
    before = Database(address)
    with before.writing() as connection:
        name = connection.execute(text("SELECT current_database()")).scalar_one()
        connection.execute(text(f"ALTER DATABASE {name} SET default_transaction_isolation = 'repeatable read'"))
    before.close()
    database = Database(address)
    for _ in range(2):  # also with a connection that was a reader's
        with database.writing() as connection:
            assert connection.execute(shown).scalar_one() == "read committed"
        with database.reading() as connection:
            assert connection.execute(shown).scalar_one() == "repeatable read"
    database.close()


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_connection_that_broke_while_it_was_idle_is_replaced(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kohorte.service.storage.database.IDLE_SECONDS", 0.0)
    assert names(service.database) == set()
    with service.database.writing() as connection:
        add_worker(connection, "one")
    other = Database(service.settings.database_address)
    with other.writing() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    other.close()
    assert names(service.database) == {"one"}


def test_a_new_file_that_somebody_writes_to_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE first (name)")
        ending = threading.Timer(0.2, other.execute, ["COMMIT"])
        ending.start()
        with Database(f"sqlite:///{file}").reading() as connection:
            assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
        ending.join()


def test_sqlite_waits_for_the_disk_and_is_for_the_owner_alone(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'a.db'}")
    database.make_file()
    with database.writing() as connection:
        connection.execute(text("CREATE TABLE a (b INTEGER)"))
        settings = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    database.close()
    assert settings == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 60_000}
    assert modes == {"a.db": 0o600, "a.db-shm": 0o600, "a.db-wal": 0o600}


@pytest.mark.parametrize("address", ["", "x", "sqlite://", "sqlite:///:memory:", "mysql://a@b/c", "postgresql://[::/c"])
def test_an_address_of_another_kind_is_refused(address: str) -> None:
    with pytest.raises(InputError) as caught:
        Database(address)
    assert caught.value.code == "service-database-address"


def test_a_password_is_not_shown(tmp_path: Path) -> None:
    database = Database(f"postgresql://someone:{CANARY}@localhost:1/none")
    assert CANARY not in repr(database)
    with pytest.raises(EngineError) as caught, database.reading() as connection:
        connection.execute(text("SELECT 1"))
    assert CANARY not in str(caught.value)


def test_a_database_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Database(f"sqlite:///{tmp_path / 'no' / 'folder.db'}").make_file()
    assert caught.value.code == "service-database-address"
