"""A PostgreSQL for tests and measurements, from Debian's packages, which nothing else uses.

A small shell process watches over the server: when its standard input ends, because `stop` closed it or because
its process was killed, it ends the server and removes the folder.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg

ROLE = "kohorte"
SECONDS_TO_START = 60
MEMORY = Path("/dev/shm")  # noqa: S108 - the folder in it has a name that cannot be guessed
MEMORY_NEEDED = 2 << 30
TEMPLATE = "migrated"
WATCH = """
folder=$1; shift
"$@" >"$folder/log" 2>&1 &
server=$!
cat >/dev/null
kill -QUIT "$server"
wait "$server"
rm -rf "$folder"
"""


class Cluster:
    """A running server that listens on a Unix socket only."""

    def __init__(self, programs: Path, *, fsync: bool = False) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kohorte-postgresql-", dir=None if fsync else _memory()))
        self._numbers = itertools.count(1)
        self._owner = _owner()
        if self._owner:
            shutil.chown(self.folder, **self._owner)
        self._programs, self._fsync = programs, fsync
        self._create()
        self._watch = self._start()
        atexit.register(self.stop)
        self._wait()

    def address(self, database: str) -> str:
        """Return the address of a database, as the service's settings take it."""
        return f"postgresql://{ROLE}@/{database}?host={self.folder}"

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run one statement outside a transaction."""
        with psycopg.connect(host=str(self.folder), user=ROLE, dbname=database, autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[arg-type, unused-ignore]

    @contextlib.contextmanager
    def database(self, template: str = "template0") -> Iterator[str]:
        """Make a database and return its address; it is removed afterwards."""
        name = f"test_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self.address(name)
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    @functools.cached_property
    def migrated(self) -> str:
        """The name of a template with the tables of the service."""
        from kohorte.service.storage.database import Database
        from kohorte.service.storage.migration import migrate

        self.execute(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0")
        database = Database(self.address(TEMPLATE))
        migrate(database)
        database.close()
        return TEMPLATE

    def stop(self) -> None:
        """End the server and remove its folder; once is enough."""
        if self._watch.stdin and not self._watch.stdin.closed:
            self._watch.stdin.close()
            self._watch.wait(timeout=SECONDS_TO_START)
        shutil.rmtree(self.folder, ignore_errors=True)

    def restart(self, between: Callable[[], None]) -> None:
        """End the server, call a function, and start the server again with the same databases."""
        ending = [str(self._programs / "pg_ctl"), "-D", self._data, "-m", "fast", "stop"]
        subprocess.run(ending, check=True, capture_output=True, cwd=self.folder, **self._owner_of_process)
        self._watch.kill()  # it would remove the folder
        assert self._watch.stdin
        self._watch.stdin.close()
        self._watch.wait(timeout=SECONDS_TO_START)
        between()
        self._watch = self._start()
        self._wait()

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def _create(self) -> None:
        creation = [
            str(self._programs / "initdb"),
            "-D",
            self._data,
            "-U",
            ROLE,
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]
        subprocess.run(creation, check=True, capture_output=True, cwd=self.folder, **self._owner_of_process)

    def _start(self) -> subprocess.Popen[bytes]:
        durable = "on" if self._fsync else "off"
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "max_connections": "300",
            "shared_buffers": "64MB",
            "fsync": durable,
            "full_page_writes": durable,
        }
        server = [
            str(self._programs / "postgres"),
            "-D",
            self._data,
            *(f"--{name}={value}" for name, value in settings.items()),
        ]
        return subprocess.Popen(
            ["/bin/sh", "-c", WATCH, "watch", str(self.folder), *server],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            start_new_session=True,
            **self._owner_of_process,
        )

    @property
    def _owner_of_process(self) -> dict[str, Any]:
        return {**self._owner, "extra_groups": []} if self._owner else {}

    def _wait(self) -> None:
        end = time.monotonic() + SECONDS_TO_START
        while True:
            try:
                return self.execute("SELECT 1")
            except psycopg.OperationalError:
                if time.monotonic() > end:
                    log = (self.folder / "log").read_text(errors="replace")
                    self.stop()
                    raise RuntimeError(f"PostgreSQL did not start:\n{log}") from None
                time.sleep(0.05)


def _memory() -> Path | None:
    """A folder in memory, if there is one with enough room: to copy a database there is several times faster."""
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_NEEDED else None


def _owner() -> dict[str, str]:
    """As whom the server runs: it refuses root."""
    if os.geteuid() != 0:
        return {}
    with contextlib.suppress(KeyError):
        found = pwd.getpwnam("postgres")
        return {"user": found.pw_name, "group": "postgres"}
    return {"user": "nobody", "group": "nogroup"}


def programs() -> Path | None:
    """Return the folder of initdb and postgres, the newest of Debian's, or None."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    on_path = shutil.which("initdb")
    found = debian[-1] if debian else Path(on_path).resolve() if on_path else None
    return found.parent if found and (found.parent / "postgres").exists() else None
