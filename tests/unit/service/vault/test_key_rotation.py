"""Replacing the master key: everything stays readable at every moment, whatever is killed, and the old key goes."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, insert, select, update

from kohorte.errors import AccessDenied, EngineError, InputError, KohorteError
from kohorte.service.accounts import tokens
from kohorte.service.accounts.sessions import sign_in
from kohorte.service.audit import verify_log
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies as kept_hierarchies
from kohorte.service.key_rotation import SEALED, is_unfinished, rotate
from kohorte.service.keyring import KeyRing
from kohorte.service.projects.ledger import DatabaseLedger
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import accounts, hierarchies, metadata, now
from kohorte.service.vault import Content, Vault
from support.filled_service import DATA, Filled
from support.service import PASSWORD, on_sqlite


def silent(part: str, done: int, of: int) -> None:
    del part, done, of


def turn(service: Service) -> Any:
    return rotate(service, silent, settle_seconds=0.0)


@pytest.fixture
def filled(service: Service) -> Filled:
    return Filled(service)


def refuse_old_key(service: Service, old: bytes) -> None:
    """Nothing of the service opens with the old key alone, or names it."""
    stranger = Vault(service.vault.folder, old)
    for name in service.vault.names():
        for content in Content:
            with pytest.raises(EngineError):
                stranger.read(name, content)
    with service.database.reading() as connection:
        for sealed in SEALED:
            for row in connection.execute(select(sealed.table)).all():
                value = row._asdict()[sealed.column.name]
                assert value.startswith(service.vault.ring.current.id)
                with pytest.raises(EngineError):
                    stranger.unseal(value, label=sealed.label(connection, row))
    for path in service.settings.key_path.parent.iterdir():
        assert old.hex() not in path.read_text()


def test_everything_is_sealed_again_and_the_old_key_is_gone(service: Service, filled: Filled) -> None:
    old, fingerprint = service.vault.ring.current.secret, service.vault.fingerprint
    done = turn(service)
    assert (done.texts, done.rows, done.files, done.damaged) == (6, 7, len(filled.files) + 1, 0)
    assert service.vault.fingerprint != fingerprint
    filled.check(service)
    refuse_old_key(service, old)
    assert service.settings.key_path.stat().st_mode & 0o777 == 0o600
    with Service.opened(service.settings, create=False) as again:
        filled.check(again)


def test_every_sealed_column_of_the_schema_is_known() -> None:
    found = {column for table in metadata.sorted_tables for column in table.c if column.name.startswith("sealed")}
    assert found == {sealed.column for sealed in SEALED}


def test_a_process_that_is_open_goes_on(service: Service, filled: Filled) -> None:
    with Service.opened(service.settings, create=False) as other:
        for _ in range(2):
            turn(other)
            filled.pay(service)
            filled.check(service)
            filled.check(other)
            name = service.vault.write(DATA, Content.REPORT)
            assert other.vault.read(name, Content.REPORT) == DATA
    assert [entry for entry in service.vault.ring.chains if entry.chain == "audit"][-1].first > 1


def test_a_file_that_is_being_written_while_the_key_is_replaced_is_sealed_with_the_new_one(service: Service) -> None:
    with Service.opened(service.settings, create=False) as other, other.vault.writing(Content.UPLOAD) as writer:
        writer.write(DATA)
        turn(service)
    assert service.vault.read(writer.name, Content.UPLOAD) == DATA


def test_the_database_refuses_what_was_sealed_with_the_old_key(service: Service, filled: Filled) -> None:
    late = service.vault.seal("[]", label=kept_hierarchies.hierarchy_label(filled.dataset, "zip_code"))
    turn(service)
    row = {"dataset_id": filled.dataset, "attribute": "zip_code", "sealed": late, "created_at": now()}
    for statement in (insert(hierarchies).values(row), update(hierarchies).values(sealed=late)):
        with pytest.raises(KohorteError), service.database.writing() as connection:
            connection.execute(statement)
    filled.check(service)


def test_sessions_end_with_the_key(service: Service, filled: Filled) -> None:
    pair = sign_in(service, filled.steward.email_address, PASSWORD)
    tokens.authenticate(service, pair.access_token)
    turn(service)
    with pytest.raises(AccessDenied):
        tokens.authenticate(service, pair.access_token)
    sign_in(service, filled.steward.email_address, PASSWORD)


def test_the_audit_log_holds_across_rotations_and_the_old_key_forges_no_later_entry(
    service: Service, filled: Filled
) -> None:
    before = verify_log(service.database, service.log)
    number, _, code = before.head.partition(":")
    old = service.vault.ring.chain_key("audit", 1)
    turn(service)
    turn(service)
    found = verify_log(service.database, service.log, expected=(int(number), code))
    assert found.whole
    assert service.vault.ring.chain_key("audit", 1) == old
    assert service.vault.ring.chain_key("audit", int(number) + 1) != old
    filled.check(service)


def test_an_account_that_was_changed_from_outside_is_not_made_good(service: Service, filled: Filled) -> None:
    with service.database.writing() as connection:
        connection.execute(update(accounts).values(amount="0"))
    turn(service)
    with pytest.raises(EngineError) as caught:
        DatabaseLedger(service, *filled.project).spent()
    assert caught.value.code == "service-row-changed"


def test_a_damaged_file_is_counted_and_stops_nothing(service: Service, filled: Filled) -> None:
    name = service.vault.write(DATA)
    service.vault.path(name).write_bytes(b"damaged")
    assert turn(service).damaged == 1
    filled.check(service)


def test_two_commands_do_not_replace_the_key_at_once(service: Service) -> None:
    def at_once(part: str, done: int, of: int) -> None:
        with pytest.raises(InputError) as caught:
            turn(service)
        assert caught.value.code == "service-key-conflict"
        seen.append(part)

    seen: list[str] = []
    service.vault.write(DATA)
    rotate(service, at_once, settle_seconds=0.0)
    assert seen


def test_a_process_that_only_sees_the_overwritten_key_file_writes_nothing_that_would_be_lost(service: Service) -> None:
    mounted = service.settings.folder / "mounted.key"  # as a container does to which this one file is mounted
    mounted.hardlink_to(service.settings.key_path)
    other = Vault.at(service.vault.folder, mounted)
    turn(service)
    with pytest.raises(EngineError) as caught:
        other.write(DATA)
    assert caught.value.code == "service-key-unreadable"
    assert service.vault.names() == []
    mounted.unlink()
    shutil.copy2(service.settings.key_path, mounted)
    assert service.vault.read(other.write(DATA)) == DATA


def test_somebody_else_than_the_owner_of_the_key_does_not_replace_it(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, owner = service.settings.key_path.read_bytes(), os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(InputError) as caught:
        turn(service)
    assert caught.value.code == "service-key-owner"
    assert service.settings.key_path.read_bytes() == before


def test_what_was_read_before_it_was_sealed_again_can_still_be_unsealed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unseal(_: float) -> None:
        assert service.vault.unseal(sealed, label="a") == b"text"
        pauses.append(is_stale(service.vault.ring))

    def is_stale(ring: KeyRing) -> bool:
        return not sealed.startswith(ring.current.id)

    pauses: list[bool] = []
    sealed = service.vault.seal("text", label="a")
    monkeypatch.setattr("time.sleep", unseal)
    turn(service)
    assert pauses == [True, True]  # after the new key came into use, and before the old one went


def test_files_and_texts_of_versions_before_key_ids_are_read_and_sealed_again(service: Service) -> None:
    name = service.vault.write(DATA)
    path = service.vault.path(name)
    path.write_bytes(b"KOHORTE1" + path.read_bytes()[16:])
    assert service.vault.read(name) == DATA
    sealed = service.vault.seal("text", label="a")[8:]
    assert service.vault.unseal(sealed, label="a") == b"text"
    turn(service)
    assert path.read_bytes().startswith(b"KOHORTE2" + service.vault.ring.current.id)
    assert service.vault.read(name) == DATA


def die_at(settings: Settings, step: int) -> None:
    """Replace the key in a process that is killed at the given step: when something is put on disk or committed."""
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1
        if steps == step:
            os._exit(9)

    def counting(flush: Callable[[int], None]) -> Callable[[int], None]:
        def flushed(descriptor: int) -> None:
            count()
            flush(descriptor)
            count()

        return flushed

    os.fsync = counting(os.fsync)
    event.listen(Engine, "commit", lambda _: count())
    with Service.opened(settings, create=False) as service:
        turn(service)
    os._exit(0)


@pytest.mark.slow
@on_sqlite
def test_a_rotation_that_is_killed_anywhere_goes_on_where_it_was(
    service: Service, filled: Filled, tmp_path: Path
) -> None:
    service.database.close()
    old, step, ends = service.vault.ring.current.secret, 0, []
    context = multiprocessing.get_context("fork")
    while not ends or ends[-1] == 9:
        step += 1
        folder = tmp_path / f"killed-{step}"
        shutil.copytree(service.settings.folder, folder)
        settings = Settings.load(folder, {})
        process = context.Process(target=die_at, args=(settings, step))
        process.start()
        process.join()
        ends.append(process.exitcode)
        with Service.opened(settings, create=True) as opened:
            filled.check(opened)
            if is_unfinished(opened.vault.ring) or ends[-1] == 9:
                turn(opened)
            filled.check(opened)
            refuse_old_key(opened, old)
            assert not is_unfinished(opened.vault.ring)
        shutil.rmtree(folder)
    assert ends[-1] == 0
    assert len(ends) > 30
