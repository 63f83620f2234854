"""`kohorte audit` on the log of a service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from kohorte.service.context import Service
from support.attacker import Attacker
from support.service import Person, on_sqlite

Run = Callable[..., Any]


@pytest.fixture
def audit(service: Service, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the verb on the service."""
    monkeypatch.setenv("KOHORTE_DATABASE", service.settings.database_address)
    return lambda *arguments: run("audit", *arguments, "--folder", service.settings.folder)


@pytest.fixture
def logged(service: Service) -> Service:
    """A service with three entries."""
    for number in (1, 2, 3):
        with service.database.writing() as connection:
            service.log.append(connection, "create-project", f"project {number}", actor=None, rows=number, limit=None)
    return service


def cut_off_last(service: Service) -> None:
    """Take the last entry away as somebody would who owns the database."""
    sqlite = service.database.is_sqlite
    with service.database.writing() as connection:
        connection.execute(text("DROP TRIGGER audit_delete" if sqlite else "DROP TRIGGER audit_stays ON audit"))
        connection.execute(text("DELETE FROM audit WHERE number = 3"))
        connection.execute(
            text("UPDATE audit_head SET number = 2, mac = (SELECT mac FROM audit WHERE number = 2)"),
        )


def test_an_empty_log_is_whole(audit: Run) -> None:
    ran = audit("verify")
    assert ran.code == 0
    assert ran.out == f"the log is whole: 0 entries\nhead 0:{'0' * 64}\n"
    assert audit("show").out == "the log is empty\n"
    assert audit("show", "--json").json == {"entries": [], "total": 0}


def test_verify_prints_the_head_and_checks_one_noted_before(logged: Service, audit: Run) -> None:
    noted = audit("verify", "--json").json
    assert noted == {
        "whole": True,
        "entries": 3,
        "head": noted["head"],
        "first_wrong": None,
        "accounts_fit": True,
        "wrong_rows": [],
        "state_log": None,
    }
    with logged.database.writing() as connection:
        logged.log.append(connection, "create-project", "project 4", actor=None)
    ran = audit("verify", "--head", noted["head"])
    assert ran.code == 0
    assert ran.out.startswith("the log is whole: 4 entries\nhead 4:")
    cut_off_last_of_four = audit("verify", "--head", "4:" + "0" * 64)
    assert cut_off_last_of_four.code == 1
    assert cut_off_last_of_four.out == "THE LOG IS NOT WHOLE: entry 4 was changed, added or removed\n"


def test_a_log_that_was_cut_off_ends_with_exit_code_1(logged: Service, audit: Run) -> None:
    head = audit("verify", "--json").json["head"]
    cut_off_last(logged)
    ran = audit("verify")
    assert ran.code == 1
    assert "STATE.LOG AND DATABASE DO NOT FIT: the database is older than state.log" in ran.out
    ran = audit("verify", "--head", head, "--json")
    assert ran.code == 1
    told = {"whole": False, "entries": 2, "first_wrong": 3, "accounts_fit": True, "wrong_rows": []}
    assert {name: ran.json[name] for name in told} == told
    assert audit("show").code == 0


def test_rows_that_were_changed_are_named(service: Service, steward: Person, audit: Run) -> None:
    Attacker(service).run("UPDATE users SET institution = 'x'")
    ran = audit("verify")
    assert ran.code == 1
    assert f"NOT AS THE SERVICE WROTE IT: users {steward.user_id} (changed)\n" in ran.out
    wrong = [{"table": "users", "id": str(steward.user_id), "problem": "changed"}]
    assert audit("verify", "--json").json["wrong_rows"] == wrong


def test_show_prints_the_last_entries_the_newest_first(logged: Service, audit: Run) -> None:
    ran = audit("show", "--limit", 2)
    lines = ran.out.splitlines()
    assert lines[0].split() == ["number", "at", "actor", "action", "object", "details"]
    assert [line.split()[0] for line in lines[1:]] == ["3", "2"]
    assert lines[1].endswith("create-project  project 3  rows=3, limit=")
    found = audit("show", "--limit", 2, "--json").json
    assert found["total"] == 3
    assert [entry["number"] for entry in found["entries"]] == [3, 2]
    assert found["entries"][0] | {"at": ""} == {
        "number": 3,
        "at": "",
        "actor_id": None,
        "action": "create-project",
        "object": "project 3",
        "details": {"rows": 3, "limit": None},
    }


@on_sqlite
@pytest.mark.parametrize("head", ["", "3", "3:abc", "-1:" + "0" * 64, "3:" + "G" * 64, "3:" + "0" * 64 + "\n"])
def test_a_head_that_is_none_is_refused(audit: Run, head: str) -> None:
    ran = audit("verify", f"--head={head}", "--json")
    assert ran.code == 2
    assert ran.json["error"] == "audit-head"


@on_sqlite
@pytest.mark.parametrize("limit", [0, -1, 10**9])
def test_a_limit_out_of_bounds_is_refused(audit: Run, limit: int) -> None:
    assert audit("show", "--limit", limit, "--json").json["error"] == "audit-limit"


def test_a_folder_without_a_service_is_refused(tmp_path: Path, run: Run) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        ran = run("audit", "verify", "--folder", folder, "--json")
        assert (ran.code, ran.json["error"]) == (2, "service-missing")
    assert list(tmp_path.iterdir()) == []


def test_a_log_with_another_key_is_refused(logged: Service, audit: Run) -> None:
    path = logged.settings.key_path
    path.write_text("00" * 32)
    ran = audit("verify", "--json")
    assert (ran.code, ran.json["error"]) == (2, "service-key")
