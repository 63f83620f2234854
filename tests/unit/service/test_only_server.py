"""One server at a time: refused while another one runs, possible as soon as that one has ended, however it ended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kohorte.errors import EngineError, InputError
from kohorte.service.processes import only_server as module
from kohorte.service.processes.only_server import only_server
from kohorte.service.settings import Settings

HOLD = """
import sys
from pathlib import Path
from kohorte.service.processes.only_server import only_server
from kohorte.service.settings import Settings
with only_server(Settings.load(Path(sys.argv[1]))):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def settings(service_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    service_settings.folder.mkdir()
    return service_settings


@contextmanager
def another(settings: Settings) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the locks."""
    environment = {**os.environ, "KOHORTE_DATABASE": settings.database_address}
    command = [sys.executable, "-c", HOLD, str(settings.folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_server_on_the_folder_is_refused_until_the_first_was_killed(settings: Settings) -> None:
    with another(settings) as process:
        with (
            pytest.raises(InputError, match="another server is running on this folder") as caught,
            only_server(settings),
        ):
            pass
        assert caught.value.code == "service-running"
        process.kill()
        process.wait()
        with only_server(settings):
            pass


def test_two_folders_with_databases_of_their_own_do_not_hinder_each_other(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    with only_server(Settings(tmp_path / "one")), only_server(Settings(tmp_path / "other")):
        pass


def test_a_second_folder_on_the_same_postgresql_is_refused(
    settings: Settings, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.0)
    other = replace(settings, folder=tmp_path / "other")
    other.folder.mkdir()
    with only_server(settings):
        if backend == "sqlite":  # each folder has its own database
            with only_server(other):
                return
        with (
            pytest.raises(InputError, match="another server is running on this database") as caught,
            only_server(other),
        ):
            pass
        assert caught.value.code == "service-running"
    with only_server(other):
        pass


def test_a_folder_that_cannot_be_locked_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught, only_server(Settings(tmp_path / "missing")):
        pass
    assert caught.value.code == "service-lock-failed"
