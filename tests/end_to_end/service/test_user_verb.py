"""`kohorte user`: users from the command line."""

import contextlib
import getpass
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from kohorte.errors import AccessDenied
from kohorte.service.accounts import sessions, tokens
from kohorte.service.context import Service
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import audit
from support.service import on_sqlite

STRONG = "three sparrows on a wire"
Act = Callable[..., Any]


class Line(io.StringIO):
    """What stands on standard input."""

    def isatty(self) -> bool:
        return False


@pytest.fixture
def act(run: Any, service: Service, service_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Act:
    """Run `kohorte user` for the service, with a line on standard input."""

    def act_it(action: str, *arguments: str, line: str = STRONG) -> Any:
        monkeypatch.setattr(sys, "stdin", Line(f"{line}\n"))
        if service_settings.database:
            monkeypatch.setenv("KOHORTE_DATABASE", service_settings.database)
        return run("user", action, "--folder", service_settings.folder, *arguments)

    return act_it


def create(act: Act, *more: str, line: str = STRONG) -> Any:
    given = ("Jane@Example.com", "--name", "Jane Doe", "--institution", "Fraunhofer IOSB")
    return act("create", *given, "--password-stdin", *more, line=line)


def test_a_user_is_created_and_can_sign_in(act: Act, service: Service) -> None:
    ran = create(act, "--json")
    assert (ran.code, ran.json["email_address"], ran.json["privileged_status"]) == (0, "jane@example.com", False)
    sessions.sign_in(service, "jane@example.com", STRONG)


@on_sqlite
def test_a_steward_is_created_with_an_option(act: Act) -> None:
    assert create(act, "--steward", "--json").json["privileged_status"] is True


@on_sqlite
def test_roles_are_named_one_by_one_or_refused(act: Act) -> None:
    created = create(act, "--role", "approver", "--role", "data-protection-officer", "--json").json
    assert (created["roles"], created["privileged_status"]) == (["data-protection-officer", "approver"], False)
    assert "data-protection-officer, approver" in act("list").out
    refused = create(act, "--role", "king")
    assert (refused.code, "invalid choice: 'king'" in refused.err) == (2, True)


def test_users_are_listed_for_people_and_for_programs(act: Act) -> None:
    assert act("list").out == "the service has no users yet\n"
    create(act)
    assert [user["name"] for user in act("list", "--json").json["users"]] == ["Jane Doe"]
    shown = act("list").out
    assert "jane@example.com" in shown
    assert "researcher" in shown


def test_disabling_a_user_ends_the_sessions(act: Act, service: Service) -> None:
    create(act)
    pair = sessions.sign_in(service, "jane@example.com", STRONG)
    ran = act("disable", "JANE@example.com")
    assert (ran.code, ran.out) == (0, "user 1 disabled, all sessions ended\n")
    with pytest.raises(AccessDenied):
        tokens.authenticate(service, pair.access_token)
    with pytest.raises(AccessDenied):
        sessions.sign_in(service, "jane@example.com", STRONG)
    assert "disabled" in act("list").out


def test_a_new_password_ends_the_sessions_and_the_old_password(act: Act, service: Service) -> None:
    create(act)
    pair = sessions.sign_in(service, "jane@example.com", STRONG)
    ran = act("password", "jane@example.com", "--password-stdin", line="another good password")
    assert ran.code == 0
    with pytest.raises(AccessDenied):
        tokens.authenticate(service, pair.access_token)
    sessions.sign_in(service, "jane@example.com", "another good password")


def test_what_was_done_by_hand_is_in_the_audit_log_without_an_actor(act: Act, service: Service) -> None:
    create(act)
    act("password", "jane@example.com", "--password-stdin", line="another good password")
    act("disable", "jane@example.com")
    with service.database.reading() as connection:
        entries = connection.execute(select(audit).order_by(audit.c.number)).all()
    assert [entry.action for entry in entries] == ["create-user", "change-user", "change-user"]
    assert all(entry.actor_id is None and entry.object == "user 1" for entry in entries)


@on_sqlite
def test_bad_input_ends_with_two_and_no_user(act: Act) -> None:
    assert (create(act, line="123456").code, create(act, line="").code) == (2, 2)
    assert create(act, line="123456").err == "kohorte: the password needs at least 12 characters [password-weak]\n"
    for email_address in ("no address", ""):
        ran = act("create", email_address, "--name", "x", "--password-stdin")
        assert (ran.code, "user-email-address" in ran.err) == (2, True)
    for action in ("disable", "password"):
        ran = act(action, "nobody@example.org", *(["--password-stdin"] * (action == "password")))
        assert (ran.code, "user-unknown" in ran.err) == (2, True)
    assert act("list", "--json").json == {"users": []}


@on_sqlite
def test_the_same_address_twice_is_refused(act: Act) -> None:
    create(act)
    ran = create(act, "--json")
    assert (ran.code, json.loads(ran.out)["error"]) == (2, "user-conflict")


@on_sqlite
def test_the_last_steward_stays(act: Act) -> None:
    create(act, "--steward")
    ran = act("disable", "jane@example.com")
    assert (ran.code, "last-steward-conflict" in ran.err) == (2, True)


@on_sqlite
def test_without_a_terminal_the_password_has_to_come_from_standard_input(act: Act) -> None:
    ran = act("password", "jane@example.com")
    assert (ran.code, "password-unasked" in ran.err) == (2, True)


@on_sqlite
def test_a_password_that_is_no_utf_8_is_refused(act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = create(act, line="\udcff\udcfe no UTF-8")
    assert (ran.code, "password-encoding" in ran.err) == (2, True)


@on_sqlite
def test_no_option_takes_a_password(run: Any, act: Act) -> None:
    assert act("create", "a@b.c", "--name", "x", "--password", STRONG).code == 2


def test_a_folder_without_a_service_is_refused(run: Any, folder: Path) -> None:
    ran = run("user", "list", "--folder", "nowhere")
    assert ran.code == 2
    assert not list(folder.iterdir())


@on_sqlite
@pytest.mark.parametrize(("second", "code"), [(STRONG, 0), ("something else", 2)])
def test_on_a_terminal_the_password_is_asked_twice(
    act: Act, monkeypatch: pytest.MonkeyPatch, second: str, code: int
) -> None:
    answers = iter([STRONG, second])
    monkeypatch.setattr(getpass, "getpass", lambda _: next(answers))
    monkeypatch.setattr(Line, "isatty", lambda _: True)
    ran = act("create", "jane@example.com", "--name", "Jane Doe")
    assert ran.code == code
    assert ("password-differs" in ran.err) == (code == 2)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@on_sqlite
def test_a_terminal_does_not_show_the_password(service: Service, service_settings: Settings) -> None:
    """For real: a process with a terminal of its own, whose whole screen is read."""
    arguments = ["user", "create", "jane@example.com", "--name", "Jane Doe", "--folder", str(service_settings.folder)]
    screen, terminal = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "kohorte.cli.main", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    ) as process:
        os.close(terminal)
        shown = b""
        for prompt in (b"password: ", b"once more: "):
            while not shown.endswith(prompt):
                shown += os.read(screen, 1024)
            os.write(screen, STRONG.encode() + b"\n")
        with contextlib.suppress(OSError):  # the other side has closed the terminal
            while more := os.read(screen, 1024):
                shown += more
        assert process.wait(60) == 0
    os.close(screen)
    assert b"user 1 created" in shown
    assert STRONG.encode() not in shown


@pytest.mark.slow
@on_sqlite
def test_the_command_works_as_a_process_of_its_own(service: Service, service_settings: Settings) -> None:
    arguments = ["user", "create", "--folder", str(service_settings.folder), "--password-stdin"]
    arguments += ["jane@example.com", "--name", "Jane Doe"]
    ran = subprocess.run(
        [sys.executable, "-m", "kohorte.cli.main", *arguments],
        input=STRONG,
        text=True,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout) == (0, "user 1 created\n")
    sessions.sign_in(service, "jane@example.com", STRONG)
