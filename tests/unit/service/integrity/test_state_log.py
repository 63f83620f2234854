"""state.log: older rows and older databases are noticed, a crash is not taken for an attack, and there is a way out."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url, select

from kohorte.errors import EngineError, InputError
from kohorte.service.access import Actor, user_for
from kohorte.service.accounts import users
from kohorte.service.approvals import requests
from kohorte.service.backup import make_backup, restore
from kohorte.service.context import How, Service
from kohorte.service.integrity.marking import confirm
from kohorte.service.integrity.state_log import StateLog
from kohorte.service.integrity.verification import verify, wrong_rows
from kohorte.service.key_rotation import SEALED
from kohorte.service.settings import Settings
from kohorte.service.storage import schema
from support.attacker import Attacker
from support.postgres import cluster
from support.service import STEWARD, new_user


@pytest.fixture
def steward(service: Service) -> Actor:
    return Actor(new_user(service, privileged=True).id, STEWARD)


def rename(service: Service, actor: Actor, name: str) -> None:
    users.change(service, actor, actor.user_id, users.Changes(name=name))


def name_of(service: Service, actor: Actor) -> str:
    return str(users.shown(service, actor, actor.user_id).name)


def refusal(settings: Settings, *, create: bool = False) -> str:
    with pytest.raises(EngineError) as caught, Service.opened(settings, create=create):
        pass
    return caught.value.code


@contextmanager
def older_database(service: Service, config: pytest.Config, change: Any) -> Iterator[Settings]:
    """Copy the database, change something, and yield settings with the older copy in place of the newer database."""
    settings = service.settings
    if service.database.is_sqlite:
        path, copy = settings.folder / "service.db", settings.folder / "older.db"
        with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(copy)) as new:
            old.backup(new)
        change()
        service.database.close()
        for left in settings.folder.glob("service.db*"):
            left.unlink()
        copy.rename(path)
        yield settings
        return
    service.database.close()
    with cluster(config).database(str(make_url(settings.database).database)) as address:
        change()
        yield replace(settings, database=address)


def test_a_whole_older_database_is_refused_at_the_start(
    service: Service, steward: Actor, pytestconfig: pytest.Config
) -> None:
    with older_database(service, pytestconfig, lambda: rename(service, steward, "later")) as settings:
        for create in (True, False):
            assert refusal(settings, create=create) == "service-database-older"
        with Service.opened(settings, create=False, how=How.LENIENT) as opened:
            found = verify(opened.database, opened.log, opened.guard, SEALED)
            assert not found.whole
            assert "older than state.log" in str(found.state)
            assert [(row.table, row.problem) for row in found.rows] == [("users", "older")]


def test_an_older_database_is_noticed_even_if_only_the_audit_log_went_on(
    service: Service, steward: Actor, pytestconfig: pytest.Config
) -> None:
    def download() -> None:
        with service.database.writing() as connection:
            service.log.append(connection, "download-csv", "project 1", actor=steward.user_id)

    with older_database(service, pytestconfig, download) as settings:
        assert refusal(settings) == "service-database-older"


@pytest.mark.parametrize("with_state_log", [True, False])
def test_the_documented_restore_is_the_way_out_and_later_rows_do_not_come_back(
    service: Service, steward: Actor, tmp_path: Path, pytestconfig: pytest.Config, with_state_log: bool
) -> None:
    make_backup(service, tmp_path / "backup")
    rename(service, steward, "later")
    later = Attacker(service).rows(schema.users)
    folder = tmp_path / "new"
    (folder / "keys").mkdir(parents=True)
    shutil.copy2(service.settings.key_path, folder / "keys" / "master.key")
    for log in (service.settings.spent_log, *([service.settings.state_log] if with_state_log else [])):
        shutil.copy2(log, folder / log.name)
    with cluster(pytestconfig).database() as address:
        settings = Settings.load(folder, {}, database="" if service.database.is_sqlite else address)
        restore(settings, tmp_path / "backup")
        with Service.opened(settings, create=False) as again:
            assert name_of(again, steward) == "A steward"
            assert verify(again.database, again.log, again.guard, SEALED).whole
            Attacker(again).put_back(schema.users, later)
            with pytest.raises(EngineError) as caught:
                name_of(again, steward)
            assert caught.value.code == "service-row-changed"


def test_a_row_that_was_forged_in_a_backup_stays_refused(
    service: Service, steward: Actor, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    Attacker(service).run("UPDATE users SET name = 'forged'")
    make_backup(service, tmp_path / "backup")
    folder = tmp_path / "new"
    (folder / "keys").mkdir(parents=True)
    shutil.copy2(service.settings.key_path, folder / "keys" / "master.key")
    shutil.copy2(service.settings.spent_log, folder)
    with cluster(pytestconfig).database() as address:
        settings = Settings.load(folder, {}, database="" if service.database.is_sqlite else address)
        restore(settings, tmp_path / "backup")
        with Service.opened(settings, create=False) as again:
            assert [(row.table, row.problem) for row in wrong_rows(again.database, again.guard)] == [
                ("users", "changed")
            ]


def test_another_process_notices_an_older_row_at_once(service: Service, steward: Actor) -> None:
    with Service.opened(service.settings, create=False) as other:
        old = Attacker(service).rows(schema.users)
        rename(other, steward, "later")
        assert name_of(service, steward) == "later"
        Attacker(service).put_back(schema.users, old)
        for one in (service, other):
            with pytest.raises(EngineError) as caught:
                name_of(one, steward)
            assert caught.value.code == "service-row-changed"


def test_without_state_log_the_service_does_not_start_until_somebody_confirms(service: Service, steward: Actor) -> None:
    service.settings.state_log.unlink()
    for create in (True, False):
        assert refusal(service.settings, create=create) == "service-state-log"
    with pytest.raises(EngineError):
        name_of(service, steward)
    old = Attacker(service).rows(schema.users)
    with Service.opened(service.settings, create=False, how=How.LENIENT) as lenient:
        assert not verify(lenient.database, lenient.log, lenient.guard, SEALED).whole
        for reason in ("", " ", "x" * 501):
            with pytest.raises(InputError) as caught:
                confirm(lenient.database, lenient.guard, lenient.log, reason=reason)
            assert caught.value.code == "service-reason"
        assert confirm(lenient.database, lenient.guard, lenient.log, reason="the disk was lost") == 1
    with Service.opened(service.settings, create=False) as again:
        assert verify(again.database, again.log, again.guard, SEALED).whole
        Attacker(again).put_back(schema.users, old)
        assert [row.problem for row in wrong_rows(again.database, again.guard)] == ["older"]


def test_rows_that_somebody_has_confirmed_are_used_again(service: Service, steward: Actor) -> None:
    Attacker(service).run("UPDATE users SET name = 'corrected by hand'")
    with Service.opened(service.settings, create=False, how=How.LENIENT) as lenient:
        confirm(lenient.database, lenient.guard, lenient.log, reason="corrected by hand")
    assert name_of(service, steward) == "corrected by hand"
    with service.database.reading() as connection:
        last = connection.execute(select(schema.audit).order_by(schema.audit.c.number.desc()).limit(1)).one()
    assert (last.action, last.details) == ("confirm-rows", {"reason": "corrected by hand", "rows": 1})


@pytest.mark.parametrize("harm", ["truncated", "emptied", "changed", "replaced"])
def test_a_state_log_that_was_harmed_is_refused(service: Service, steward: Actor, harm: str) -> None:
    path = service.settings.state_log
    older = path.read_bytes()
    rename(service, steward, "b")
    rename(service, steward, "c")
    lines = path.read_bytes().splitlines(keepends=True)
    harmed = {
        "truncated": b"".join(lines[:-2]),
        "emptied": b"",
        "changed": b"".join(lines).replace(b'"users 1": ', b'"users 1": 1'),
        "replaced": older,
    }
    path.write_bytes(harmed[harm])
    assert refusal(service.settings) == "service-state-log"
    with pytest.raises(EngineError) as caught:
        name_of(service, steward)
    assert caught.value.code == "service-state-log"


def test_a_process_that_dies_before_it_writes_the_line_is_not_taken_for_an_attack(
    service: Service, steward: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(StateLog, "append", lambda *_: None)
        rename(service, steward, "later")
    with service.settings.state_log.open("ab") as file:
        file.write(b'{"number": 9, "ki')  # and one that dies while it writes
    with Service.opened(service.settings, create=False) as again:
        assert name_of(again, steward) == "later"
        rename(again, steward, "latest")
        assert verify(again.database, again.log, again.guard, SEALED).whole
    assert name_of(service, steward) == "latest"


def test_entries_of_the_audit_log_do_not_make_the_file_longer(service: Service, steward: Actor) -> None:
    sizes = set()
    for number in range(20, 60):
        with service.database.writing() as connection:
            service.log.append(connection, "login", f"user {number}", actor=None)
        sizes.add(len(service.settings.state_log.read_bytes().splitlines()))
    assert sizes == {len(service.guard.state_log.floors.all()) + 2}  # the first line, one per row, and the head


def test_a_trial_that_is_rolled_back_leaves_no_trace(service: Service, steward: Actor) -> None:
    careful = replace(service, settings=replace(service.settings, two_people=("change_user",)))
    other = new_user(service, privileged=False)
    new_user(service, privileged=True)  # who could confirm it
    before = service.guard.state_log.floors.all()
    requests.perform(careful, steward, "change_user", other.id, {"roles": ["steward"]})
    after = service.guard.state_log.floors.all()
    assert {name for name in after if after[name] != before.get(name)} == {"approvals 1"}
    assert verify(service.database, service.log, service.guard, SEALED).whole


def test_readers_and_writers_at_once_raise_no_false_alarm(service: Service, steward: Actor) -> None:
    stop = threading.Event()

    def read(opened: Service) -> int:
        count = 0
        while not stop.is_set():
            name_of(opened, steward)
            count += 1
        return count

    def slow_read() -> None:
        with service.database.reading() as connection:
            user_for(service, connection, steward, steward.user_id)
            rename_elsewhere()
            user_for(service, connection, steward, steward.user_id)  # the state of the beginning: older, not forged

    def rename_elsewhere() -> None:
        with ThreadPoolExecutor(1) as one:
            one.submit(rename, service, steward, "elsewhere").result()

    with Service.opened(service.settings, create=False) as other, ThreadPoolExecutor(4) as pool:
        reading = [pool.submit(read, opened) for opened in (service, other) for _ in range(2)]
        for number in range(30):
            rename((service, other)[number % 2], steward, f"name {number}")
        slow_read()
        stop.set()
        assert all(done.result() > 0 for done in reading)
    assert wrong_rows(service.database, service.guard) == ()


def test_many_changes_make_one_line_each_and_are_read_again(service: Service, steward: Actor) -> None:
    for number in range(25):
        rename(service, steward, f"name {number}")
    fresh = StateLog(service.settings.state_log, service.vault)
    fresh.refresh()
    assert fresh.floors.all() == service.guard.state_log.floors.all()
    assert fresh.number == service.guard.state_log.number == 27
    fresh.seal_again()
    assert len(service.settings.state_log.read_bytes().splitlines()) == 1
    rename(service, steward, "after the file was replaced")
    fresh.refresh()
    assert fresh.number == service.guard.state_log.number == 29


def test_who_opens_the_service_while_others_write_takes_that_for_no_truncated_file(
    service: Service, steward: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Service.opened(service.settings, create=False) as opening:
        begin, names = opening.guard.begin, iter(range(100))

        def begin_and_let_others_write() -> int:
            number = begin()
            for _ in range(2):
                rename(service, steward, f"Name {next(names)}")
            return number

        monkeypatch.setattr(opening.guard, "begin", begin_and_let_others_write)
        opening.guard.refuse_older_database()
        assert next(names) > 2
