"""The chain of the audit log: every change of it is seen, and whoever appends at once makes one chain."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, insert, select, text

from kohorte.errors import EngineError
from kohorte.service.audit import START, AuditLog, LogCheck, verify_log
from kohorte.service.context import Service
from kohorte.service.storage.schema import audit
from kohorte.service.vault import Vault
from support.opened_at_once import append_at_once
from support.service import on_sqlite

ENTRIES = 6


def append(service: Service, number: int, **details: Any) -> None:
    with service.database.writing() as connection:
        service.log.append(connection, "create-project", f"project {number}", actor=None, **details)


def check(service: Service, expected: tuple[int, str] | None = None) -> LogCheck:
    return verify_log(service.database, service.log, expected=expected)


def head(service: Service) -> tuple[int, str]:
    number, code = check(service).head.split(":")
    return int(number), code


def tamper(service: Service, *statements: str) -> None:
    """Write to the database as somebody who owns it, but not the key."""
    without = (
        ["DROP TRIGGER audit_update", "DROP TRIGGER audit_delete"]
        if service.database.is_sqlite
        else ["ALTER TABLE audit DISABLE TRIGGER USER"]
    )
    with service.database.writing() as connection:
        for statement in [*without, *statements]:
            connection.execute(text(statement))


def without_state_log(service: Service) -> Service:
    """The service of somebody who was able to put state.log back, too."""
    return replace(service, log=AuditLog(service.vault))


@pytest.fixture
def logged(service: Service) -> Service:
    """A service with entries 1 to 6."""
    for number in range(1, ENTRIES + 1):
        append(service, number, rows=number, share=0.1, code="é", nothing=None)
    return service


def test_an_empty_log_is_whole(service: Service) -> None:
    assert check(service) == LogCheck(0, f"0:{START}", None)
    assert check(service, (0, START)).whole
    assert check(service, (0, "1" * 64)).first_wrong == 1


def test_a_log_is_whole_and_so_it_was_before(logged: Service) -> None:
    before = head(logged)
    append(logged, 7)
    found = check(logged, before)
    assert (found.whole, found.entries) == (True, ENTRIES + 1)
    assert found.head.startswith(f"{ENTRIES + 1}:")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("at", "'2020-01-01T00:00:00.000000+00:00'"),
        ("actor_id", "5"),
        ("action", "'delete-project'"),
        ("object", "'project 9'"),
        ("details", "'{\"rows\": 5}'"),
        ("details", "'7'"),
        ("previous", f"'{START}'"),
        ("mac", f"'{START}'"),
        ("number", "40"),
        ("number", "-4"),
    ],
)
def test_a_changed_entry_is_seen(logged: Service, column: str, value: str) -> None:
    tamper(logged, f"UPDATE audit SET {column} = {value} WHERE number = 4")
    found = check(logged)
    assert found.first_wrong == (1 if value == "-4" else 4)
    assert found.entries == found.first_wrong - 1


@on_sqlite
@pytest.mark.parametrize("change", ["details = 'no json'", "at = x'00'", "mac = 4", f"details = '{'[' * 50_000}'"])
def test_what_sqlite_lets_in_is_seen_too(logged: Service, change: str) -> None:
    tamper(logged, f"UPDATE audit SET {change} WHERE number = 4")
    assert check(logged).first_wrong == 4


@on_sqlite
def test_what_cannot_be_read_as_text_is_not_taken_for_whole(logged: Service) -> None:
    tamper(logged, "UPDATE audit SET details = x'ff' WHERE number = 4")
    with pytest.raises(EngineError) as caught:
        check(logged)
    assert caught.value.code == "service-database"


@pytest.mark.parametrize("number", [1, 3, ENTRIES])
def test_a_removed_entry_is_seen(logged: Service, number: int) -> None:
    tamper(logged, f"DELETE FROM audit WHERE number = {number}")
    assert check(logged).first_wrong == number


def test_entries_in_another_order_are_seen(logged: Service) -> None:
    tamper(
        logged,
        "UPDATE audit SET number = 100 WHERE number = 2",
        "UPDATE audit SET number = 2 WHERE number = 3",
        "UPDATE audit SET number = 3 WHERE number = 100",
    )
    assert check(logged).first_wrong == 2


def test_a_log_that_was_emptied_is_seen(logged: Service) -> None:
    tamper(logged, "DELETE FROM audit")
    assert check(logged).first_wrong == 1
    with logged.database.writing() as connection:
        connection.execute(text("DELETE FROM audit_head"))
    assert check(logged).first_wrong == 1


def test_an_entry_of_somebody_without_the_key_is_seen(logged: Service) -> None:
    number, code = head(logged)
    stranger = AuditLog(Vault(logged.vault.folder, b"\1" * 32))
    with logged.database.writing() as connection:
        stranger.append(connection, "create-project", "project 7", actor=None)
    assert check(logged).first_wrong == number + 1
    assert check(logged, (number, code)).first_wrong == number + 1


def test_a_row_that_was_added_behind_the_head_is_seen(logged: Service) -> None:
    with logged.database.writing() as connection:
        last = dict(connection.execute(select(audit).where(audit.c.number == ENTRIES)).mappings().one())
        connection.execute(insert(audit).values({**last, "number": ENTRIES + 1, "previous": last["mac"]}))
    assert check(logged).first_wrong == ENTRIES + 1


def test_a_tail_that_was_cut_off_is_seen_by_whoever_noted_a_head(logged: Service) -> None:
    noted = head(logged)
    with logged.database.reading() as connection:
        kept = connection.execute(select(audit.c.mac).where(audit.c.number == 4)).scalar_one()
    tamper(logged, "DELETE FROM audit WHERE number > 4")
    assert check(logged).first_wrong == 5
    tamper_head = f"UPDATE audit_head SET number = 4, mac = '{kept}'"
    with logged.database.writing() as connection:
        connection.execute(text(tamper_head))
    assert check(logged).whole
    assert check(logged, noted).first_wrong == 5
    with pytest.raises(EngineError) as caught:  # state.log has noted the head, too
        append(logged, 5)
    assert caught.value.code == "service-database-older"
    for number in (5, 6, 7):  # other entries grow over what was cut off
        append(without_state_log(logged), number)
    assert check(logged).whole
    assert check(logged, noted).first_wrong == ENTRIES


def test_an_entry_and_what_it_is_about_happen_together_or_not_at_all(logged: Service) -> None:
    def append_and_fail() -> None:
        with logged.database.writing() as connection:
            logged.log.append(connection, "create-project", "project 7", actor=None)
            raise RuntimeError

    before = head(logged)
    with pytest.raises(RuntimeError):
        append_and_fail()
    assert head(logged) == before
    append(logged, 7)
    assert check(logged).entries == ENTRIES + 1


def test_threads_that_append_at_once_make_one_chain(service: Service) -> None:
    with ThreadPoolExecutor(20) as pool:
        for done in [pool.submit(append, service, number) for number in range(200)]:
            done.result()
    found = check(service)
    assert (found.whole, found.entries) == (True, 200)
    with service.database.reading() as connection:
        assert connection.execute(select(func.count(func.distinct(audit.c.object)))).scalar_one() == 200


@pytest.mark.slow
def test_processes_that_append_at_once_make_one_chain(service: Service) -> None:
    append_at_once(service.settings, processes=4, entries=100)
    found = check(service)
    assert (found.whole, found.entries) == (True, 400)


def test_a_long_log_is_walked_in_pieces(service: Service) -> None:
    with service.database.writing() as connection:
        for number in range(1_100):
            service.log.append(connection, "test", f"object {number}", actor=None)
    assert check(service).entries == 1_100
