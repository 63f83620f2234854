"""`kohorte serve` as a process: first start, restart, stop, kill."""

from __future__ import annotations

import contextlib
import http.client
import os
import pty
import re
import resource
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from kohorte.cli.main import main
from kohorte.service.accounts import users
from kohorte.service.permissions import Role
from kohorte.service.processes.only_server import only_server
from kohorte.service.processes.opening import opened
from kohorte.service.settings import Settings
from support.postgres import cluster
from support.service import new_user_with
from support.serving import Served, alive, children, family, serving

OTHER = ("127.0.0.2", 0)
PASSWORD = "three sparrows on a wire"
STEWARD = {"email_address": "steward@example.org", "name": "A steward", "institution": "Example hospital"}
processes = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes in /proc")


def refused(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> str:
    """Run the command that is to be refused, and return its code."""
    assert main(["serve", "--folder", str(folder), *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert not folder.exists()
    assert "secret" not in printed.err
    return re.findall(r"\[([a-z-]+)\]", printed.err)[-1]


def ready(served: Served, *, worker: bool = True) -> None:
    """Wait until a worker has been seen."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        health = httpx.get(f"{served.address}/api/v1/health", timeout=60).json()
        if health["worker"] or not worker:
            return
        time.sleep(0.1)
    pytest.fail(served.log.read_text(encoding="utf-8"))


def gone(pids: list[int], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < until:
        time.sleep(0.05)
    return not alive(pids)


@processes
@pytest.mark.slow
def test_the_first_start_leads_to_a_steward_who_can_sign_in(tmp_path: Path) -> None:
    folder = tmp_path / "service"
    with serving(folder) as served:
        assert served.token
        assert stat.S_IMODE((folder / "setup-token").stat().st_mode) == 0o600
        ready(served)
        api = f"{served.address}/api/v1"
        body = {**STEWARD, "token": served.token, "password": PASSWORD}
        assert httpx.post(f"{api}/setup", json=body | {"token": "x" * 43}, timeout=60).status_code == 403
        made = httpx.post(f"{api}/setup", json=body, timeout=60)
        assert made.status_code == 201, made.text
        assert not (folder / "setup-token").exists()
        assert httpx.post(f"{api}/setup", json=body, timeout=60).status_code == 403
        secrets = {"email_address": STEWARD["email_address"], "password": PASSWORD}
        signed_in = httpx.post(f"{api}/login", json=secrets, timeout=60)
        token = signed_in.json()["access_token"]
        me = httpx.get(f"{api}/users/me", headers={"Authorization": f"Bearer {token}"}, timeout=60)
        assert me.json()["privileged_status"] is True
        assert httpx.get(f"{api}/health", timeout=60).json()["status"] == "ok"
    log = served.log.read_text(encoding="utf-8")
    for secret in (served.token, token, PASSWORD, STEWARD["email_address"]):
        assert secret not in log
    with serving(folder, "--workers", "0") as again:
        assert again.token is None
        assert httpx.post(f"{again.address}/api/v1/login", json=secrets, timeout=60).status_code == 200


@processes
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_processes(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path / "service", "--processes", "2") as served:
        ready(served)
        pids = family(served.process.pid)
        assert len(pids) >= 3
        served.process.send_signal(number)
        assert served.process.wait(60) == 0
        assert gone(pids, 30)


@processes
@pytest.mark.slow
def test_when_the_command_is_killed_nothing_is_left_behind(tmp_path: Path) -> None:
    with serving(tmp_path / "service", "--workers", "2") as served:
        ready(served)
        pids = family(served.process.pid)
        assert len(pids) >= 3
        served.process.kill()
        assert gone(pids, 60)


@processes
@pytest.mark.slow
def test_a_second_server_on_the_same_folder_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "service"
    with serving(folder, "--processes", "2", "--workers", "2") as served:
        ready(served)
        command = [sys.executable, "-m", "kohorte.cli.main", "serve", "--folder", str(folder), "--port", "0"]
        second = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (second.returncode, second.stdout) == (2, "")
        assert "[service-running]" in second.stderr
        assert (folder / "setup-token").read_text().strip() == served.token
        ready(served)
        served.process.kill()
        served.process.wait()
        with serving(folder, "--workers", "0") as next_one:
            ready(next_one, worker=False)


def test_a_folder_that_another_server_uses_is_refused_before_the_port(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with only_server(Settings(tmp_path)), socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = ["serve", "--folder", str(tmp_path), "--port", str(taken.getsockname()[1])]
        assert main(command) == 2
    assert "[service-running]" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["serve.lock"]


@processes
@pytest.mark.slow
def test_a_server_or_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    with serving(tmp_path / "service") as served:
        ready(served)
        before = children(served.process.pid)
        everybody = family(served.process.pid)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        assert gone(everybody, 60)
        ready(served)
        assert len(children(served.process.pid)) == len(before) == 2


@processes
@pytest.mark.slow
def test_a_request_with_enormous_headers_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "service", "--workers", "0") as served:
        ready(served, worker=False)
        connection = http.client.HTTPConnection(urlsplit(served.address).netloc, timeout=60)
        connection.request("GET", "/api/v1/health", headers={"X-Large": "x" * 200_000})
        assert connection.getresponse().status == 400
        connection.close()
        answer = httpx.get(f"{served.address}/api/v1/health", timeout=60)
        assert answer.status_code == 200
        assert "server" not in answer.headers


@processes
@pytest.mark.slow
def test_more_halves_of_requests_than_an_address_may_have_do_not_keep_others_out(tmp_path: Path) -> None:
    with serving(tmp_path / "service", "--workers", "0") as served:
        for pid in (served.process.pid, *family(served.process.pid)):  # a server has not begun to serve yet
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (1024, 1024))
        ready(served, worker=False)
        target = urlsplit(served.address)
        halves = [socket.create_connection((target.hostname, target.port), timeout=60) for _ in range(1100)]
        try:
            for half in halves:
                with contextlib.suppress(OSError):  # those beyond the limit are closed at once
                    half.sendall(b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nX-a: ")
            with socket.create_connection((target.hostname, target.port), timeout=60, source_address=OTHER) as other:
                other.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
                assert other.recv(100).startswith(b"HTTP/1.1 200")
        finally:
            for half in halves:
                half.close()
    assert "OSError" not in served.log.read_text(encoding="utf-8")


@processes
@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.2, 1.0])
def test_ctrl_c_soon_after_the_start_ends_everything_without_a_traceback(tmp_path: Path, seconds: float) -> None:
    terminal, inside = pty.openpty()
    command = [sys.executable, "-m", "kohorte.cli.main", "serve", "--folder", str(tmp_path / "service"), "--port", "0"]
    process = subprocess.Popen(
        command, stdin=inside, stdout=inside, stderr=inside, preexec_fn=lambda: os.login_tty(inside)
    )
    os.close(inside)
    text = b""
    while not family(process.pid):  # the address is printed only when a server answers
        time.sleep(0.02)
    time.sleep(seconds)
    pids = family(process.pid)
    os.write(terminal, b"\x03")
    assert process.wait(60) in (0, 130)
    with contextlib.suppress(OSError):  # what Linux says when nobody is left inside
        while part := os.read(terminal, 1 << 16):
            text += part
    os.close(terminal)
    assert b"Traceback" not in text
    assert gone(pids, 30)


@processes
@pytest.mark.slow
def test_a_certificate_makes_the_service_speak_tls(tmp_path: Path) -> None:
    certificate, key = certificate_and_key(tmp_path)
    options = ("--workers", "0", "--tls-certificate", str(certificate), "--tls-key", str(key))
    with serving(tmp_path / "service", *options) as served:
        assert served.address.startswith("https://")
        trusting = ssl.create_default_context(cafile=str(certificate))
        answer = httpx.get(f"{served.address}/api/v1/health", verify=trusting, timeout=60)
        assert answer.headers["strict-transport-security"]


def certificate_and_key(folder: Path) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    arguments = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate))
    subprocess.run([*arguments.split(), *names], check=True, capture_output=True)
    return certificate, key


def test_a_port_in_use_is_refused_before_anything_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert refused(capsys, tmp_path / "service", "--port", port) == "service-port"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_other_machines_are_not_served_in_the_clear(
    tmp_path: Path, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, tmp_path / "service", "--host", host, "--port", "0") == "service-plain-http"


@pytest.mark.parametrize("content", [None, "no certificate", "-----BEGIN CERTIFICATE-----"])
def test_a_certificate_that_cannot_be_read_is_refused(
    tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "certificate.pem"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    options = ("--port", "0", "--tls-certificate", str(path), "--tls-key", str(path))
    assert refused(capsys, tmp_path / "service", *options) == "service-certificate"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--port", "70000"), "service-port"),
        (("--host", "no such host"), "service-host"),
        (("--processes", "0"), "service-processes"),
        (("--workers", "-1"), "service-processes"),
        (("--tls-key", "key.pem"), "service-certificate"),
    ],
)
def test_wrong_options_are_refused(
    tmp_path: Path, options: tuple[str, ...], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, tmp_path / "service", *options) == code


def test_a_missing_library_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kohorte.service.processes.opening.LIBRARIES", ("sqlalchemy", "not_installed_anywhere"))
    assert refused(capsys, tmp_path / "service") == "service-library-missing"


def test_the_address_of_a_database_is_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--migrate-only", "--database", "mysql://user:secret@somewhere/x")
    assert main(["serve", "--folder", str(tmp_path / "service"), *options]) == 2
    printed = capsys.readouterr()
    assert "[service-database-address]" in printed.err
    assert "secret" not in printed.err + printed.out


def test_tables_can_be_made_without_serving(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--folder", str(tmp_path / "service"), "--migrate-only"]) == 0
    assert (tmp_path / "service" / "service.db").is_file()
    assert (tmp_path / "service" / "keys" / "master.key").is_file()
    assert capsys.readouterr().out.endswith("up to date\n")


def test_a_service_whose_approvers_one_person_set_up_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As an older version allowed it: the accounts of both approvers were made by one steward alone."""
    folder = tmp_path / "service"
    start = ["serve", "--folder", str(folder), "--migrate-only"]
    assert main([*start, "--only", "patients"]) == 0
    with opened(folder) as service:
        steward = new_user_with(service, Role.STEWARD).id
        for number in range(2):
            address = f"approver{number}@example.org"
            whole = {"email_address": address, "name": "x", "institution": "", "password": PASSWORD}
            users.create(service, **whole, roles=[Role.APPROVER], by=steward)
    capsys.readouterr()
    assert main([*start, "--only", "patients"]) == 0
    warned = capsys.readouterr().err
    assert "no way back can be approved" in warned
    assert "kohorte user password" in warned
    assert main([*start, "--only", "research"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("postgresql://kohorte:secret@127.0.0.1:1/kohorte", "Connection refused"),
        ("postgresql://kohorte:half@secret@none.invalid/kohorte", "the driver does not say why"),
    ],
)
def test_why_the_database_cannot_be_reached_is_said_without_the_password(
    tmp_path: Path, address: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reason in unreachable(capsys, tmp_path / "service", address)


def test_a_database_or_user_that_is_missing_is_named(
    tmp_path: Path, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    address = cluster(pytestconfig).address("missing")
    assert 'database "missing" does not exist' in unreachable(capsys, tmp_path / "service", address)
    stranger = address.replace("kohorte@", "stranger:secret@")
    assert 'role "stranger" does not exist' in unreachable(capsys, tmp_path / "service", stranger)


def unreachable(capsys: pytest.CaptureFixture[str], folder: Path, address: str) -> str:
    """Try to serve with a database that cannot be used, and return what is printed."""
    assert main(["serve", "--folder", str(folder), "--migrate-only", "--database", address]) == 3
    printed = capsys.readouterr()
    assert "[service-database]" in printed.err
    assert "secret" not in printed.err + printed.out
    assert not folder.exists()
    return printed.err
