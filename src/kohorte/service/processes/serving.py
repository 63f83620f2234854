"""Run the processes of a service: servers that share a socket, and workers; a process that dies is restarted."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import re
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from kohorte.errors import EngineError, InputError
from kohorte.service.accounts.certificates import pinned_in
from kohorte.service.processes.lifeline import GRACE_SECONDS
from kohorte.service.settings import DATABASE_VARIABLE, KEY_VARIABLE, METRICS_VARIABLE, Settings
from kohorte.service.storage.database import Database

POLL_SECONDS = 0.1
STABLE_SECONDS = 60.0
LONGEST_WAIT = 30.0
SHARED_METRICS = "PROMETHEUS_MULTIPROC_DIR"
_log = logging.getLogger("kohorte.service")


@dataclass(frozen=True)
class Endpoint:
    """Address and encryption of a service; without TLS only on the same machine or behind a proxy."""

    host: str = "127.0.0.1"
    port: int = 8470
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False
    client_certificates: Path | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError("--port is a number from 0 to 65535", code="service-port")
        if (self.certificate is None) != (self.key is None):
            raise _certificate("--tls-certificate and --tls-key are given together")
        if self.certificate is None and not self.behind_proxy and not _is_loopback(self.host):
            raise InputError(
                "the connection would not be encrypted: give --tls-certificate and --tls-key, or --behind-proxy "
                "if a proxy in front of the service provides TLS",
                code="service-plain-http",
            )
        if self.certificate is not None and self.key is not None:
            _refuse_certificate(self.certificate, self.key)
        if self.client_certificates is not None:
            if self.certificate is None:
                raise InputError(
                    "--client-certificates needs --tls-certificate and --tls-key: certificates are shown in the TLS "
                    "handshake with this service itself",
                    code="service-client-certificates",
                )
            pinned_in(self.client_certificates)

    @contextlib.contextmanager
    def listening(self) -> Iterator[socket.socket]:
        """A socket that listens on this address."""
        family, address = _addresses(self.host, self.port)[0]
        with socket.socket(family, socket.SOCK_STREAM) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listening.bind(address)
                listening.listen(2048)
            except OSError:
                raise InputError(
                    f"port {self.port} cannot be used: it is in use or not permitted; give another --port",
                    code="service-port",
                ) from None
            yield listening

    def address(self, listening: socket.socket) -> str:
        """Return the URL of the service."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'http' if self.certificate is None else 'https'}://{host}:{listening.getsockname()[1]}"


@dataclass
class KeptProcess:
    """A process that is restarted whenever it ends, after a delay that grows with each early end."""

    name: str
    command: Sequence[str]
    environment: dict[str, str] = field(repr=False)
    descriptors: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    next_start: float = 0.0
    early_ends: int = 0

    def look_after(self) -> None:
        """Start the process if it is due."""
        if self.process is not None and self.process.poll() is not None:
            self._note_end(self.process.returncode)
        if self.process is None and time.monotonic() >= self.next_start:
            self.began = time.monotonic()
            self.process = subprocess.Popen(  # noqa: S603 - our own modules
                [sys.executable, "-m", "kohorte.service.processes.lifeline", *self.command],
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=self.descriptors,
            )

    def _note_end(self, code: int) -> None:
        stable = time.monotonic() - self.began > STABLE_SECONDS
        self.early_ends = 0 if stable else self.early_ends + 1
        wait = min(LONGEST_WAIT, 2.0**self.early_ends / 2)
        self.next_start = time.monotonic() + wait
        self._close()
        _log.warning("%s has ended (%d) and starts again in %.0f s", self.name, code, wait)

    def stop(self, number: signal.Signals) -> None:
        """Send a signal to the process if it is running."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def wait(self, until: float) -> None:
        """Wait for the process to end, and kill it after the deadline."""
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
    endpoint: Endpoint,
    listening: socket.socket,
    *,
    processes: int,
    workers: int,
    worker_command: Sequence[str],
    when_ready: Callable[[], object],
) -> None:
    """Run all processes until SIGTERM or SIGINT, then end them within ten seconds.

    `when_ready` is called once, as soon as a server answers.
    """
    with _shared_metrics(processes) as shared, _stop_signals() as came, _pipe() as (news, tells_ready):
        environment = _environment(settings) | shared
        inherited = (listening.fileno(), tells_ready)
        server = [*_server_command(settings, endpoint, listening), "--tell-ready", str(tells_ready)]
        kept = [KeptProcess("a server", server, environment, inherited) for _ in range(processes)]
        kept += [KeptProcess("a worker", worker_command, environment) for _ in range(workers)]
        waits_for = [news]
        try:
            while not came:
                for one in kept:
                    one.look_after()
                if select.select(waits_for, (), (), POLL_SECONDS)[0]:
                    waits_for.clear()
                    when_ready()
        finally:
            for one in kept:
                one.stop(signal.SIGTERM)
            until = time.monotonic() + GRACE_SECONDS
            for one in kept:
                one.wait(until)


def refuse_unreachable_database(settings: Settings) -> None:
    """Refuse a PostgreSQL that cannot be reached, with its reason but without address or password."""
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
    """Return the last reason of the driver, without the address; libpq tries several addresses in turn."""
    reasons = re.findall(r"^(?:.*\bfailed: )?(?:FATAL: +)?(\S.*)$", words.partition("\n\t")[0], flags=re.MULTILINE)
    reason = str(reasons[-1]) if reasons else "unknown"
    return "the driver does not say why" if "@" in reason or (password and str(password) in reason) else reason


def _server_command(settings: Settings, endpoint: Endpoint, listening: socket.socket) -> list[str]:
    command = ["kohorte.service.processes.server_process", "--folder", str(settings.folder)]
    command += ["--socket", str(listening.fileno())]
    command += [word for part in settings.only for word in ("--only", part)]
    if endpoint.certificate is not None and endpoint.key is not None:
        command += ["--certificate", str(endpoint.certificate), "--key", str(endpoint.key)]
    if endpoint.client_certificates is not None:
        command += ["--client-certificates", str(endpoint.client_certificates)]
    return [*command, "--behind-proxy"] if endpoint.behind_proxy else command


def _environment(settings: Settings) -> dict[str, str]:
    """Settings for the processes; passed in the environment, which other users cannot list."""
    named = {
        DATABASE_VARIABLE: settings.database,
        KEY_VARIABLE: str(settings.key_file.absolute()) if settings.key_file else "",
        METRICS_VARIABLE: settings.metrics_token,
    }
    return {**os.environ, **{name: value for name, value in named.items() if value}}


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    """The two ends of a pipe: one to read, and one to write that other processes can inherit."""
    ends = os.pipe()
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


@contextlib.contextmanager
def _shared_metrics(processes: int) -> Iterator[dict[str, str]]:
    """Give several processes a shared folder in which their metrics are summed."""
    if processes == 1:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="kohorte-metrics-") as folder:
        yield {SHARED_METRICS: folder}


@contextlib.contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """A list of the stop signals received; a signal that is ignored (nohup) stays ignored."""
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
            "--tls-certificate and --tls-key: cannot be read, are not PEM, do not match, or need a password"
        ) from None


def _certificate(message: str) -> InputError:
    return InputError(message, code="service-certificate")
