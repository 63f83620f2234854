"""The process that does the work: says what happened, never in the words of a library, and dies with its worker."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.errors import EngineError, InputError
from kohorte.service.jobs import child
from kohorte.service.jobs.child import Channel, Stopped, perform
from kohorte.service.jobs.process import Child, ChildDied
from kohorte.service.jobs.queue import Kind
from kohorte.service.jobs.tasks import Done, Task, Work
from kohorte.service.settings import Settings
from kohorte.service.vault import Content, Vault
from support.jobs import CSV

ORDER = {"order": "1.1.a", "kind": "ingest", "request": {}, "table_file": None, "most_cells": 10}


class Deaf(Channel):
    """A channel without a thread."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.written = io.BytesIO()
        self._answers = self.written
        self._stop = threading.Event()
        self._files: list[str] = []
        self._order = "1.1.a"


@pytest.fixture
def channel(tmp_path: Path) -> Deaf:
    return Deaf(Vault(tmp_path / "files", b"k" * 32))


def does(monkeypatch: pytest.MonkeyPatch, work: Callable[[Work], Done]) -> None:
    """Let jobs that ingest do something else."""
    monkeypatch.setattr(child, "TASKS", {Kind.INGEST: Task(Kind.INGEST, work)})


def test_an_unexpected_error_is_told_without_its_words(channel: Deaf, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(work: Work) -> Done:
        raise RuntimeError("canary")

    does(monkeypatch, fail)
    told = perform(channel, ORDER)
    assert (told["state"], told["problem"]["code"], told["problem"]["status"]) == ("failed", "internal", 500)
    assert "RuntimeError in test_child.py" in told["location"]
    assert "canary" not in json.dumps(told)


def test_a_panic_of_a_library_is_an_outcome_too(channel: Deaf, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(work: Work) -> Done:
        raise pl.exceptions.PanicException("canary")

    does(monkeypatch, fail)
    assert perform(channel, ORDER)["problem"]["code"] == "internal"


def test_a_figure_that_is_none_fails_the_job_and_not_the_process(
    channel: Deaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    does(monkeypatch, lambda _: Done({"risk": float("nan")}, {}))
    assert perform(channel, ORDER)["problem"]["code"] == "internal"


def test_an_error_of_the_package_keeps_its_code_and_words(channel: Deaf, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(work: Work) -> Done:
        raise InputError("row 3 is short", code="csv-ragged")

    does(monkeypatch, fail)
    told = perform(channel, ORDER)
    assert (told["problem"]["code"], told["problem"]["detail"]) == ("csv-ragged", "row 3 is short")


def test_a_job_that_shall_stop_stops_at_its_next_word_and_leaves_no_file(
    channel: Deaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def go_on(work: Work) -> Done:
        work.lock(b"content", Content.TABLE)
        channel._stop.set()
        work.reporter.progress(0.5, "half")
        raise AssertionError("went on")

    does(monkeypatch, go_on)
    told = perform(channel, ORDER)
    assert told == {"state": "cancelled"}
    channel.end(told)
    assert list(channel.vault.folder.iterdir()) == []
    with pytest.raises(Stopped):
        channel.file("0" * 32)


def test_a_file_is_named_before_it_is_written(channel: Deaf) -> None:
    work = Work({}, None, 10, channel.vault, channel)
    name = work.lock(b"content", Content.TABLE)
    assert json.loads(channel.written.getvalue().splitlines()[0]) == {"order": "1.1.a", "file": name}


@pytest.fixture
def started(tmp_path: Path) -> Any:
    settings = Settings.load(tmp_path / "service", {})
    vault = Vault.at(settings.vault_folder, settings.key_path, create=True)
    process = Child(settings)
    process.start()
    yield process, vault
    process.kill()


def test_a_process_is_ready_and_does_one_job_after_the_other(started: tuple[Child, Vault]) -> None:
    process, vault = started
    assert process.receive(20) == {"order": "", "ready": True}
    for name in ("1.1.a", "2.1.b"):
        request = {"file": vault.write(CSV, Content.UPLOAD), "file_name": "x.csv"}
        process.send({"order": name, "kind": "ingest", "request": request, "table_file": None, "most_cells": 1000})
        while "outcome" not in (answer := process.receive(20) or {}):
            assert set(answer) in ({"order", "progress", "message"}, {"order", "file"})
            assert answer["order"] == name
        assert answer["order"] == name
        assert answer["outcome"]["values"]["rows"] == 200
    assert process.resident() > 1 << 20
    assert process.receive(0.01) is None
    pid = process.pid
    process.kill()
    process.kill()
    assert pid is not None
    assert process.pid is None
    with pytest.raises(ChildDied):
        process.send({})


def test_the_process_sees_no_address_of_the_database_and_no_key(
    started: tuple[Child, Vault], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KOHORTE_DATABASE", "postgresql://canary@host/name")
    process = Child(Settings.load(tmp_path / "service", {}))
    process.start()
    try:
        assert process.receive(20) == {"order": "", "ready": True}
        key = (tmp_path / "service" / "keys" / "master.key").read_text().strip()
        seen = Path(f"/proc/{process.pid}/environ").read_bytes() + Path(f"/proc/{process.pid}/cmdline").read_bytes()
        assert b"canary" not in seen
        assert key.encode() not in seen
    finally:
        process.kill()


def test_the_process_ends_when_its_worker_is_gone(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path / "service", {})
    Vault.at(settings.vault_folder, settings.key_path, create=True)
    first = {"folder": str(settings.vault_folder), "key_file": str(settings.key_path)}
    command = [sys.executable, "-m", "kohorte.service.jobs.child"]
    said = json.dumps(first).encode() + b"\n"
    done = subprocess.run(command, input=said, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert list(settings.vault_folder.iterdir()) == []


BUSY = """
from kohorte.service.jobs import child
from kohorte.service.jobs.queue import Kind
from kohorte.service.jobs.tasks import Task

def calculate(work):
    work.reporter.file("0" * 32)
    (work.vault.folder / f".{'0' * 32}.tmp").write_bytes(b"half")
    work.reporter.progress(0.5, "in the middle")
    until = time.monotonic() + 60
    while time.monotonic() < until:
        {what}

child.TASKS = {Kind.INGEST: Task(Kind.INGEST, calculate)}
child.main()
"""
CALCULATIONS = {
    "python": "sum(range(10**5))",
    "polars": "import polars as pl; pl.int_range(3 * 10**7, eager=True).shuffle(1).sort().sum()",
}


@pytest.mark.slow
@pytest.mark.parametrize("ending", [b"", b'{"order": "half a li'], ids=["whole", "half"])
@pytest.mark.parametrize("what", CALCULATIONS.values(), ids=CALCULATIONS)
def test_the_process_ends_in_the_middle_of_a_calculation_when_its_worker_is_gone(
    tmp_path: Path, what: str, ending: bytes
) -> None:
    settings = Settings.load(tmp_path / "service", {})
    Vault.at(settings.vault_folder, settings.key_path, create=True)
    first = {"folder": str(settings.vault_folder), "key_file": str(settings.key_path)}
    script = BUSY.replace("{what}", what)
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in (first, ORDER)))
        process.stdin.flush()
        while b"in the middle" not in process.stdout.readline():
            assert process.poll() is None
        process.stdin.write(ending)
        process.stdin.close()
        try:
            assert process.wait(10) == 1
        finally:
            process.kill()
    assert list(settings.vault_folder.iterdir()) == []


def test_a_file_that_cannot_be_removed_does_not_keep_the_process(
    channel: Deaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(vault: Vault, name: str) -> None:
        raise EngineError("no", code="service-file")

    class Exited(Exception):
        pass

    def leave(code: int) -> None:
        raise Exited

    monkeypatch.setattr(child, "remove", fail)
    monkeypatch.setattr("os._exit", leave)
    channel.file("0" * 32)
    with pytest.raises(Exited):
        channel._read(io.BytesIO(b""))
