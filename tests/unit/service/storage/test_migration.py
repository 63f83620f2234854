"""Migrations make exactly the tables of the schema, once, and refuse what they do not know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Column, Connection, DateTime, MetaData, Table, delete, insert, text, update

from kohorte.errors import EngineError, InputError
from kohorte.service.accounts import users
from kohorte.service.audit import verify_log
from kohorte.service.context import Service
from kohorte.service.jobs.queue import Kind, Subject, claim, enqueue
from kohorte.service.settings import Settings
from kohorte.service.storage.database import Database
from kohorte.service.storage.migration import configuration, migrate, refuse_other_version
from kohorte.service.storage.schema import Moment, answered, audit, jobs, metadata, now, spent
from kohorte.service.vault import Vault
from support.opened_at_once import append_at_once
from support.service import on_sqlite

OLD_USER = {
    "email_address": "1@example.org",
    "name": "x",
    "institution": "x",
    "password_hash": "kept",
    "created_at": now(),
}
EXAMPLES: dict[type, Any] = {str: "x", int: 1, bool: True, bytes: b"", float: 1.0, object: {"x": 1}}


def example(column: Column[Any]) -> Any:
    return now() if isinstance(column.type, Moment) else EXAMPLES[column.type.python_type]


@contextmanager
def at_first_version(address: str) -> Iterator[Connection]:
    """A connection to a database whose tables the first step made."""
    database = Database(address)
    database.make_file()
    config = configuration()
    with database.writing() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    with database.writing() as connection:
        yield connection
    database.close()


def old_table(connection: Connection, name: str) -> Table:
    return Table(name, MetaData(), autoload_with=connection)


def example_of(column: Column[Any]) -> Any:
    """A value for a column as the database describes it."""
    return now() if isinstance(column.type, DateTime) else EXAMPLES[column.type.python_type]


def one_row(table: Table) -> dict[str, Any]:
    return {column.name: example(column) for column in table.columns}


@pytest.fixture
def filled(service: Service) -> Service:
    """A service with one row in every table."""
    with service.database.writing() as connection:
        for table in metadata.sorted_tables:
            if table.name not in ("audit_head", "master_key", "spent_head"):
                connection.execute(insert(table).values(one_row(table)))
    return service


def test_the_steps_make_the_tables_of_the_schema_and_nothing_else(address: str) -> None:
    database = Database(address)
    migrate(database)
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []
    database.close()


def test_accounts_of_the_first_version_keep_what_they_may(service_settings: Settings, address: str) -> None:
    settings = replace(service_settings, database=address)
    with at_first_version(address) as connection:
        for number, privileged in ((1, True), (2, False), (3, True)):
            user = {**OLD_USER, "id": number, "email_address": f"{number}@example.org", "privileged": privileged}
            connection.execute(insert(old_table(connection, "users")).values(user))
        disabled = {"moment": now(), "number": 3}
        connection.execute(text("UPDATE users SET disabled_at = :moment WHERE id = :number"), disabled)
    with Service.opened(settings, create=True) as service:
        found, total = users.listed(service, limit=10, page=1)
    shown = [users.user_to_dict(row) for row in found]
    assert total == 3
    assert [user["roles"] for user in shown] == [["steward"], ["researcher"], ["steward"]]
    assert [user["privileged_status"] for user in shown] == [True, False, True]
    assert [user["disabled"] for user in shown] == [False, False, True]
    assert {row.password_hash for row in found} == {"kept"}


def test_jobs_of_the_first_version_go_on_and_numbers_are_not_used_again(
    service_settings: Settings, address: str
) -> None:
    settings = replace(service_settings, database=address)
    settings.folder.mkdir()
    vault = Vault.at(settings.vault_folder, settings.key_path, create=True)
    with at_first_version(address) as connection:
        connection.execute(insert(old_table(connection, "users")).values({**OLD_USER, "id": 1, "privileged": True}))
        connection.execute(text("INSERT INTO master_key VALUES (1, :mark)"), {"mark": vault.fingerprint})
        for name in ("datasets", "projects", "jobs"):
            table = old_table(connection, name)
            row = {
                column.name: example_of(column)
                for column in table.columns
                if not (column.nullable or column.primary_key)
            }
            connection.execute(insert(table).values(row))
        request = vault.seal('{"plan": 4}', label="job anonymize of dataset 1, project 1")
        change = {"kind": "anonymize", "state": "queued", "project_id": 1, "cancel_requested": False, "attempt": 0}
        connection.execute(update(table).values(**change, sealed_request=request))
    with Service.opened(settings, create=True) as service:
        taken = claim(service, "worker")
        assert taken is not None
        assert (taken.job_id, taken.subject, taken.dataset_id, taken.request) == (1, ("project", 1), 1, {"plan": 4})
        with service.database.writing() as connection:
            connection.execute(delete(jobs))
            number = enqueue(service, connection, Kind.RISK, Subject("dataset", 1), actor_id=1, request={})
    assert number == 2


def test_migrating_again_changes_nothing(service: Service) -> None:
    migrate(service.database)
    refuse_other_version(service.database)


def test_a_database_of_a_newer_version_is_refused_and_not_touched(service: Service) -> None:
    with service.database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for create in (True, False):
        with pytest.raises(InputError) as caught, Service.opened(service.settings, create=create):
            pass
        assert caught.value.code == "service-version"
        assert "newer" in str(caught.value)
    with service.database.reading() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "9999"


def test_an_empty_database_is_no_service(address: str) -> None:
    database = Database(address)
    with pytest.raises(InputError) as caught:
        refuse_other_version(database)
    database.close()
    assert caught.value.code == "service-missing"


def test_asking_for_a_service_that_is_not_there_leaves_no_file(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError) as caught, Service.opened(Settings.load(folder, {}), create=False):
            pass
        assert caught.value.code == "service-missing"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("table", [audit, spent, answered], ids=str)
@pytest.mark.parametrize("change", [update, delete])
def test_the_database_refuses_to_change_or_remove_a_row(filled: Service, table: Table, change: Any) -> None:
    column = next(iter(table.primary_key.columns))
    statement = change(table).values({column.name: column}) if change is update else change(table)
    with pytest.raises(EngineError) as caught, filled.database.writing() as connection:
        connection.execute(statement)
    assert caught.value.code == "service-database"


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
@pytest.mark.parametrize("table", [audit, spent, answered], ids=str)
def test_postgresql_refuses_to_empty_a_table(filled: Service, table: Table) -> None:
    with pytest.raises(EngineError), filled.database.writing() as connection:
        connection.execute(text(f"TRUNCATE {table.name} CASCADE"))


@on_sqlite
@pytest.mark.parametrize("table", [audit, spent, answered], ids=str)
def test_sqlite_refuses_to_replace_a_row(filled: Service, table: Table) -> None:
    with pytest.raises(EngineError), filled.database.writing() as connection:
        connection.execute(insert(table).prefix_with("OR REPLACE").values(one_row(table)))


@pytest.mark.slow
def test_processes_that_start_at_once_make_one_service(address: str, backend: str, tmp_path: Path) -> None:
    database = "" if backend == "sqlite" else address
    settings = Settings.load(tmp_path / "new", {}, database=database)
    append_at_once(settings, processes=4, entries=25)
    with Service.opened(settings, create=False) as service:
        found = verify_log(service.database, service.log)
    assert (found.whole, found.entries) == (True, 100)
