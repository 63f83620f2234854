"""Serving with several processes: those that answer share a socket, workers do the jobs, and what dies is restarted."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from kohorte.errors import EngineError, InputError
from kohorte.service.lifeline import GRACE_SECONDS
from kohorte.service.settings import DATABASE_VARIABLE, KEY_VARIABLE, METRICS_VARIABLE, Settings
from kohorte.service.storage.database import Database

POLL_SECONDS = 0.1
STEADY_SECONDS = 60.0
LONGEST_WAIT = 30.0
SHARED_FIGURES = "PROMETHEUS_MULTIPROC_DIR"
_log = logging.getLogger("kohorte.service")


@dataclass(frozen=True)
class Place:
    """Where a service is reached, and how: in the clear only from the same machine, or behind a proxy."""

    host: str = "127.0.0.1"
    port: int = 8470
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError("--port is a number from 0 to 65535", code="service-port")
        if (self.certificate is None) != (self.key is None):
            raise _certificate("--tls-certificate and --tls-key are given together")
        if self.certificate is None and not self.behind_proxy and not _is_loopback(self.host):
            raise InputError(
                "other machines could listen in: give --tls-certificate and --tls-key, or --behind-proxy "
                "if a proxy in front of the service speaks TLS",
                code="service-plain-http",
            )
        if self.certificate is not None and self.key is not None:
            _refuse_certificate(self.certificate, self.key)

    @contextlib.contextmanager
    def listening(self) -> Iterator[socket.socket]:
        """A socket that takes requests here."""
        family, address = _addresses(self.host, self.port)[0]
        with socket.socket(family, socket.SOCK_STREAM) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listening.bind(address)
                listening.listen(2048)
            except OSError:
                raise InputError(
                    f"port {self.port} cannot be used: it is taken, or not allowed; give another --port",
                    code="service-port",
                ) from None
            yield listening

    def address(self, listening: socket.socket) -> str:
        """Return the address that a browser needs."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'http' if self.certificate is None else 'https'}://{host}:{listening.getsockname()[1]}"


@dataclass
class Kept:
    """A process that is started again whenever it has ended, after a while that grows with each early end."""

    name: str
    command: Sequence[str]
    environment: dict[str, str] = field(repr=False)
    descriptors: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    next_start: float = 0.0
    early_ends: int = 0

    def look_after(self) -> None:
        """Start the process if it is time to."""
        if self.process is not None and self.process.poll() is not None:
            self._note_end(self.process.returncode)
        if self.process is None and time.monotonic() >= self.next_start:
            self.began = time.monotonic()
            self.process = subprocess.Popen(  # noqa: S603 - our own modules
                [sys.executable, "-m", "kohorte.service.lifeline", *self.command],
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=self.descriptors,
            )

    def _note_end(self, code: int) -> None:
        steady = time.monotonic() - self.began > STEADY_SECONDS
        self.early_ends = 0 if steady else self.early_ends + 1
        wait = min(LONGEST_WAIT, 2.0**self.early_ends / 2)
        self.next_start = time.monotonic() + wait
        self._close()
        _log.warning("%s has ended (%d) and starts again in %.0f s", self.name, code, wait)

    def stop(self, number: signal.Signals) -> None:
        """Send a signal to the process, if it still lives."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def wait(self, until: float) -> None:
        """Wait for the process to end, and make it end when the time is over."""
        if self.process is None:
            return
        try:
            self.process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._close()

    def _close(self) -> None:
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()
        self.process = None


def keep_running(
    settings: Settings,
    place: Place,
    listening: socket.socket,
    *,
    processes: int,
    workers: int,
    worker_command: Sequence[str],
) -> None:
    """Run everything until SIGTERM or SIGINT; then all ends within ten seconds."""
    with _figures(processes) as shared, _stop_signals() as came:
        environment = _environment(settings) | shared
        server = _server_command(settings, place, listening)
        kept = [Kept("a server", server, environment, (listening.fileno(),)) for _ in range(processes)]
        kept += [Kept("a worker", worker_command, environment) for _ in range(workers)]
        try:
            while not came:
                for one in kept:
                    one.look_after()
                time.sleep(POLL_SECONDS)
        finally:
            for one in kept:
                one.stop(signal.SIGTERM)
            until = time.monotonic() + GRACE_SECONDS
            for one in kept:
                one.wait(until)


def refuse_unreachable_database(settings: Settings) -> None:
    """Say why PostgreSQL cannot be used, in its own words; never where exactly it is, nor a password."""
    database = Database(settings.database_address)
    if database.is_sqlite:
        return
    try:
        database.engine.connect().close()
    except SQLAlchemyError as error:
        reason = _reason(str(getattr(error, "orig", None) or type(error).__name__), database.engine.url.password)
        raise EngineError(f"PostgreSQL cannot be used: {reason}", code="service-database") from None
    finally:
        database.close()


def _reason(words: str, password: object) -> str:
    """Return the last reason that a driver gives, without the address; libpq tries several addresses in turn."""
    reasons = re.findall(r"^(?:.*\bfailed: )?(?:FATAL: +)?(\S.*)$", words.partition("\n\t")[0], flags=re.MULTILINE)
    reason = str(reasons[-1]) if reasons else "unknown"
    return "the driver does not say why" if "@" in reason or (password and str(password) in reason) else reason


def _server_command(settings: Settings, place: Place, listening: socket.socket) -> list[str]:
    command = ["kohorte.service.server_process", "--folder", str(settings.folder), "--socket", str(listening.fileno())]
    if place.certificate is not None and place.key is not None:
        command += ["--certificate", str(place.certificate), "--key", str(place.key)]
    return [*command, "--behind-proxy"] if place.behind_proxy else command


def _environment(settings: Settings) -> dict[str, str]:
    """What the processes need to know and others must not see: the environment is not in the list of processes."""
    named = {
        DATABASE_VARIABLE: settings.database,
        KEY_VARIABLE: str(settings.key_file.absolute()) if settings.key_file else "",
        METRICS_VARIABLE: settings.metrics_token,
    }
    return {**os.environ, **{name: value for name, value in named.items() if value}}


@contextlib.contextmanager
def _figures(processes: int) -> Iterator[dict[str, str]]:
    """Give several processes a folder in which they add up their figures."""
    if processes == 1:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="kohorte-figures-") as folder:
        yield {SHARED_FIGURES: folder}


@contextlib.contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """A list that signals to stop are put into; one that is ignored (nohup) stays ignored."""
    came: list[int] = []
    all_numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    numbers = [number for number in all_numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in numbers}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _addresses(host: str, port: int) -> list[tuple[int, tuple[str, int]]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise InputError(f"--host {host}: there is no such address here", code="service-host") from None
    return [(family, (str(address[0]), port)) for family, _, _, _, address in found]


def _is_loopback(host: str) -> bool:
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for _, (address, _) in _addresses(host, 0))


def _refuse_certificate(certificate: Path, key: Path) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=lambda: b"")
    except (OSError, ValueError):
        raise _certificate(
            "--tls-certificate and --tls-key: cannot be read, are not PEM, do not fit each other, or need a password"
        ) from None


def _certificate(message: str) -> InputError:
    return InputError(message, code="service-certificate")
