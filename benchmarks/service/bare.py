"""The limit of answers: a server that checks a token and writes one row, which is on disk when it answers.

`python -m benchmarks.service.bare FOLDER [DATABASE]` serves beside a service, in its database and with its HTTP, and
prints its address. Rows of requests that wait are written together, as payments for queries are.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import uvicorn
from anyio import CapacityLimiter, to_thread
from sqlalchemy import Column, Integer, MetaData, String, Table, insert
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from kohorte.service.accounts.tokens import authenticate
from kohorte.service.context import Service
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import now
from kohorte.service.storage.together import Take, Together
from kohorte.service.web.connections.slow_clients import SlowClientProtocol
from kohorte.service.web.execution.constant_time import AT_ONCE

ROWS = Table("bare", MetaData(), Column("id", Integer, primary_key=True), Column("at", String(32), nullable=False))
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"2")]


class Bare:
    """The application."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._together = Together(self._written)
        self._limiter: CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            return
        await receive()
        self._limiter = self._limiter or CapacityLimiter(AT_ONCE)
        _, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        await to_thread.run_sync(self._answered, token, limiter=self._limiter)
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await send({"type": "http.response.body", "body": b"{}"})

    def _answered(self, token: str) -> None:
        authenticate(self._service, token)
        self._together({"at": now().isoformat()})

    def _written(self, first: dict[str, str], take: Take[dict[str, str]]) -> Sequence[None]:
        del first
        with self._service.database.writing() as connection:
            rows = take()
            connection.execute(insert(ROWS), list(rows))
        return [None] * len(rows)


@contextlib.contextmanager
def beside(folder: Path, database: str | None) -> Iterator[str]:
    """Start the server beside the service of a folder; the value is its address."""
    command = [sys.executable, "-m", "benchmarks.service.bare", str(folder), *([database] if database else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def main(folder: str, database: str | None = None) -> None:
    """Serve until the process is ended."""
    settings = Settings.load(Path(folder), {}, database=database)
    with Service.opened(settings, create=False) as service, socket.socket() as listening:
        with service.database.writing() as connection:
            ROWS.create(connection, checkfirst=True)
        listening.bind(("127.0.0.1", 0))
        listening.listen(2048)
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        config = uvicorn.Config(Bare(service), http=SlowClientProtocol, ws="none", lifespan="off", log_config=None)
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
