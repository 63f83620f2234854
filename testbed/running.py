"""A service that runs: `kohorte serve` as a process of its own, and clients that are signed in."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

PASSWORD = "a password for made-up data"  # noqa: S105 - nothing real is behind it
STEWARD = {"email_address": "john@example.com", "institution": "Fraunhofer IOSB", "name": "John Doe"}
RESEARCHER = {"email_address": "jane@example.com", "institution": "Fraunhofer IOSB", "name": "Jane Doe"}
UNLIMITED = "{largest_epsilon: null, dataset_epsilon: null, dataset_delta: null}"
"""Rules for measurements, which need more queries, and more exact answers, than a house would allow."""
START_SECONDS = 300.0  # only ends a start that hangs
SERVING = "serving on "
SETTINGS = ("KOHORTE_DATABASE", "KOHORTE_KEY_FILE", "KOHORTE_METRICS_TOKEN")


@dataclass
class Running:
    """A server that answers."""

    url: str
    process: subprocess.Popen[str]
    folder: Path
    output: list[str] = field(default_factory=list)

    @property
    def setup_token(self) -> str:
        """The token that the first start writes into a file."""
        return (self.folder / "setup-token").read_text().strip()

    def client(self, headers: dict[str, str] | None = None) -> httpx.Client:
        """A client of the service."""
        return httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=120)

    def set_up(self) -> None:
        """Make the first steward."""
        with self.client() as client:
            body = {**STEWARD, "password": PASSWORD, "token": self.setup_token}
            client.post("/setup", json=body).raise_for_status()

    def signed_in(self, email_address: str = STEWARD["email_address"], password: str = PASSWORD) -> httpx.Client:
        """A client that is signed in."""
        with self.client() as client:
            answer = client.post("/login", json={"email_address": email_address, "password": password})
        answer.raise_for_status()
        return self.client({"Authorization": f"Bearer {answer.json()['access_token']}"})

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End the server, and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=120)


@contextlib.contextmanager
def running(
    folder: Path,
    *,
    database: str | None = None,
    port: int | None = None,
    options: Sequence[str] = (),
    rules: str = "",
    python: str | Path = sys.executable,
) -> Iterator[Running]:
    """Start `kohorte serve` and wait until it answers; `rules` are the rules of the house, as YAML.

    `python` is the interpreter of the environment whose Kohorte is started, by default this one.

    Without a port the server takes a free one and prints it: a port that was free before may be that of another service
    when the server starts. Settings of a service in the environment are not passed on: they would be about another one.
    """
    if rules:
        folder.mkdir(mode=0o700)
        (folder / "service.yaml").write_text(f"rules: {rules}\n")
    command = [str(python), "-m", "kohorte.cli.main", "serve", "--folder", str(folder), "--port", str(port or 0)]
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    environment |= {} if database is None else {"KOHORTE_DATABASE": database}
    with (folder.parent / f"{folder.name}.log").open("a") as log:
        process = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=log, env=environment, text=True, bufsize=1
        )
        service = Running("", process, folder)
        try:
            _wait(service)
            yield service
        finally:
            if process.poll() is None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=20)
                process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _wait(service: Running) -> None:
    """Collect what is printed, which names the address, until the server answers."""
    import threading

    def collect() -> None:
        assert service.process.stdout is not None
        with contextlib.suppress(ValueError):
            for line in service.process.stdout:
                service.output.append(line)

    threading.Thread(target=collect, daemon=True).start()
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up and service.process.poll() is None:
        service.url = next((line.split()[2] for line in tuple(service.output) if line.startswith(SERVING)), "")
        with contextlib.suppress(httpx.TransportError):  # also where the address is not known yet
            health: dict[str, Any] = httpx.get(f"{service.url}/api/v1/health", timeout=60).json()
            if health.get("database") and health.get("worker"):
                return
        time.sleep(0.05)
    raise RuntimeError("the service did not start")


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
