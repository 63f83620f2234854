"""Open a service, wait for a line on standard input, and append entries: run as several processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from kohorte.service.context import Service
from kohorte.service.settings import Settings


def append_at_once(settings: Settings, *, processes: int, entries: int) -> None:
    """Let processes open the service of these settings at the same time, make it if need be, and append."""
    environment = {**os.environ, "KOHORTE_DATABASE": settings.database_address}
    command = [sys.executable, __file__, str(settings.folder), str(entries)]
    started = [
        subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(processes)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    failed = [error for error in (process.communicate()[1] for process in started) if error]
    assert not failed, failed[0]


def _append(folder: Path, entries: int) -> None:
    settings = Settings.load(folder)
    print("ready", flush=True)
    sys.stdin.readline()
    with Service.opened(settings, create=True) as service:
        for number in range(entries):
            with service.database.writing() as connection:
                service.log.append(connection, "test", f"process {os.getpid()}", actor=None, number=number)


if __name__ == "__main__":
    _append(Path(sys.argv[1]), int(sys.argv[2]))
