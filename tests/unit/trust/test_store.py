"""The database of a room, in SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, func, insert, select

from kohorte import InputError
from kohorte.errors import EngineError
from kohorte.trust.store import ENVIRONMENT, Room, Store

TABLES = MetaData()
NAMES = Table("names", TABLES, Column("number", Integer, primary_key=True), Column("name", String, nullable=False))
ROOM = Room("tested", 1, TABLES)


def count(store: Store) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(NAMES)).scalar_one())


@pytest.fixture
def store(tmp_path: Path, database: str) -> Store:
    return Store(tmp_path, ROOM)


def test_what_one_transaction_writes_another_store_reads(store: Store, tmp_path: Path) -> None:
    with store.writing() as connection:
        connection.execute(insert(NAMES), [{"number": number, "name": "x"} for number in range(3)])
    assert count(store) == count(Store(tmp_path, ROOM)) == 3


def test_a_transaction_that_fails_changes_nothing(store: Store) -> None:
    with pytest.raises(EngineError), store.writing() as connection:
        connection.execute(insert(NAMES), [{"number": 1, "name": "x"}, {"number": 1, "name": "y"}])
    assert count(store) == 0


def test_errors_of_the_driver_show_no_value(store: Store) -> None:
    with store.writing() as connection:
        connection.execute(insert(NAMES), {"number": 1, "name": "Musterfrau"})
    with pytest.raises(EngineError) as caught, store.writing() as connection:
        connection.execute(insert(NAMES), {"number": 1, "name": "Musterfrau"})
    assert caught.value.code == "trust-database"
    assert "Musterfrau" not in caught.value.message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_several_processes_may_make_the_tables_at_the_same_time(tmp_path: Path, database: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: Store(tmp_path, ROOM), range(8)))
    assert [count(store) for store in stores] == [0] * 8


def test_a_database_of_another_version_is_refused(store: Store, tmp_path: Path) -> None:
    assert count(store) == 0
    with pytest.raises(InputError, match="has version 1, this program needs 2") as caught:
        Store(tmp_path, replace(ROOM, version=2))
    assert caught.value.code == "trust-database-version"


def test_a_database_that_lacks_only_tables_gets_them(store: Store, tmp_path: Path) -> None:
    with store.writing() as connection:
        connection.execute(insert(NAMES), {"number": 1, "name": "x"})
    more = MetaData()
    for table in (NAMES, Table("colours", MetaData(), Column("number", Integer, primary_key=True))):
        table.to_metadata(more)
    grown = replace(ROOM, version=2, tables=more, upgrades={1: ()})
    for _ in range(2):
        with Store(tmp_path, grown).reading() as connection:
            assert connection.execute(select(func.count()).select_from(more.tables["colours"])).scalar_one() == 0
    with pytest.raises(InputError, match="has version 2, this program needs 1"):
        Store(tmp_path, ROOM)
    with Store(tmp_path, grown).reading() as connection:
        assert connection.execute(select(func.count()).select_from(NAMES)).scalar_one() == 1


def test_the_file_can_be_read_by_its_owner_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    store = Store(tmp_path, ROOM)
    with store.writing() as connection:
        connection.execute(insert(NAMES), {"number": 1, "name": "x"})
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes["tested.db"] == 0o600
    assert set(modes.values()) == {0o600}
    (tmp_path / "tested.db").chmod(0o644)
    with pytest.raises(InputError) as caught:
        Store(tmp_path, ROOM)
    assert caught.value.code == "trust-mode"


@pytest.mark.parametrize("address", ["nonsense", "mysql://x@y/z", "sqlite:///x.db", "postgresql://x:secret@:z/y"])
def test_a_wrong_address_is_refused_without_showing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(ENVIRONMENT, address)
    with pytest.raises(InputError, match=ENVIRONMENT) as caught:
        Store(tmp_path, ROOM)
    assert caught.value.code == "trust-database-address"
    assert address not in caught.value.message


def test_a_server_that_does_not_answer_is_an_error_without_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT, f"postgresql://x:secret@/y?host={tmp_path}")
    with pytest.raises(EngineError) as caught:
        Store(tmp_path, ROOM)
    assert caught.value.code == "trust-database"
    assert "secret" not in caught.value.message


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    path = tmp_path / "tested.db"
    path.write_text("this is not a database, it is a text of some length\n" * 100)
    path.chmod(0o600)
    with pytest.raises(EngineError) as caught:
        Store(tmp_path, ROOM)
    assert caught.value.code == "trust-database"


def test_opening_a_store_leaves_the_locks_of_other_connections_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    path = Store._made(tmp_path / "room.db")
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    Store._made(path)
    other = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
    ran = subprocess.run([sys.executable, "-c", other, str(path)], capture_output=True, text=True, check=False)
    held.close()
    assert "database is locked" in ran.stderr
