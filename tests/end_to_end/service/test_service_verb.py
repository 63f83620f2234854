"""`kohorte service`: the key, backups and the log of spendings, from the command line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from kohorte.service.context import Service
from support.attacker import Attacker
from support.filled_service import Filled
from support.service import Person, on_sqlite, signed_in

Run = Callable[..., Any]


@pytest.fixture
def verb(service: Service, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the verb on the service."""
    monkeypatch.setenv("KOHORTE_DATABASE", service.settings.database_address)
    return lambda *arguments: run("service", *arguments, "--folder", service.settings.folder)


@pytest.mark.slow
def test_the_key_is_replaced_while_the_service_answers(
    service: Service, client: TestClient, steward: Person, verb: Run
) -> None:
    assert client.get("/api/v1/users/me", headers=steward.headers).status_code == 200
    before = verb("status", "--json").json
    ran = verb("rotate-key", "--json")
    assert ran.code == 0
    assert {**ran.json, "key": ""} == {"key": "", "texts": 0, "rows": 1, "files": 0, "damaged": 0}
    after = verb("status", "--json").json
    assert after == {**before, "key": ran.json["key"]}
    assert after["key"] != before["key"]
    assert client.get("/api/v1/users/me", headers=steward.headers).status_code == 401
    headers = signed_in(client, steward.email_address)
    assert client.get("/api/v1/users/me", headers=headers).status_code == 200
    assert verb("rotate-key").out.startswith("the key is now ")


def test_a_backup_is_made_and_its_head_printed(service: Service, verb: Run, tmp_path: Path) -> None:
    Filled(service)
    ran = verb("backup", "--output", tmp_path / "backup")
    assert ran.code == 0
    assert "without key" in ran.out
    assert "audit head " in ran.out
    again = verb("backup", "--output", tmp_path / "backup")
    assert again.code == 2
    assert "[backup-output]" in again.err


@on_sqlite
def test_a_restore_without_the_log_ends_with_exit_code_1_until_somebody_confirms(
    service: Service, run: Run, tmp_path: Path
) -> None:
    Filled(service)
    assert run("service", "backup", "--folder", service.settings.folder, "--output", tmp_path / "backup").code == 0
    folder = tmp_path / "new"
    (folder / "keys").mkdir(parents=True)
    shutil.copy2(service.settings.key_path, folder / "keys")
    ran = run("service", "restore", "--folder", folder, "--from", tmp_path / "backup")
    assert ran.code == 1
    assert "QUERIES ARE REFUSED: spent.log is missing" in ran.out
    assert run("service", "status", "--folder", folder).code == 1
    assert run("service", "confirm-spent", "--folder", folder, "--reason", " ").code == 2
    assert run("service", "confirm-spent", "--folder", folder, "--reason", "lost with the disk").code == 0
    assert run("service", "status", "--folder", folder, "--json").json["spent_log"]["problem"] is None
    assert run("audit", "verify", "--folder", folder).code == 0


def test_a_lost_state_log_is_told_and_confirmed(service: Service, steward: Person, verb: Run) -> None:
    Attacker(service).run("UPDATE users SET name = 'x'")
    service.settings.state_log.unlink()
    ran = verb("status")
    assert ran.code == 1
    assert "THE SERVICE DOES NOT START: state.log is missing" in ran.out
    assert "[service-state-log]" in verb("rotate-key").err
    assert verb("confirm-rows", "--reason", " ").code == 2
    ran = verb("confirm-rows", "--reason", "lost with the disk")
    assert ran.code == 0
    wrong = f"accepted although it was not as the service wrote it: users {steward.user_id} (changed)\n"
    assert ran.out == f"{wrong}1 rows are accepted as they are; a new state.log begins\n"
    assert verb("confirm-rows", "--reason", "again", "--json").json == {"rows": 1, "wrong": []}
    assert verb("status", "--json").json["state_log"] is None
