"""One server process: answers requests on a socket that it inherits."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import sys
from functools import partial
from pathlib import Path
from types import TracebackType

import uvicorn

from kohorte.errors import KohorteError
from kohorte.service.context import Service
from kohorte.service.exchange.parcels import pinned
from kohorte.service.parts import Part
from kohorte.service.settings import Settings
from kohorte.service.web.app import create_app
from kohorte.service.web.client_certificates import context_with
from kohorte.service.web.connections.connection_limits import MOST_PER_ADDRESS, LimitedListener, most_connections
from kohorte.service.web.connections.slow_clients import SlowClientProtocol

IDLE_SECONDS = 15
STOP_SECONDS = 5
WAITING_CONNECTIONS = 2048


class WithoutMessages(logging.Formatter):
    """Logs only the type of an exception; its message could quote data."""

    def formatException(  # noqa: N802 - the name of the base class
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        """Return the type."""
        return ei[0].__name__ if ei[0] is not None else ""


def main() -> int:
    """Serve until SIGTERM or SIGINT, and return the exit code."""
    options = _options()
    log_to_standard_error()
    try:
        serve(options)
    except KohorteError as error:
        logging.getLogger("kohorte.service").error("%s (%s)", error.message, error.code)
        return error.exit_code
    return 0


def serve(options: argparse.Namespace) -> None:
    """Answer requests on the socket."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _ignore)  # uvicorn takes over while it runs, and sends the signal again when it has ended
    settings = Settings.load(
        options.folder,
        behind_proxy=options.behind_proxy or None,
        only=tuple(options.only) if options.only else None,
    )
    per_address = None if settings.behind_proxy else MOST_PER_ADDRESS  # all come from the proxy then
    with (
        Service.opened(settings, create=False) as service,
        LimitedListener(options.socket, most=most_connections(), most_per_address=per_address) as listening,
    ):
        config = configuration(service, options.certificate, options.key, options.client_certificates)
        Server(config, tell_ready=options.tell_ready).run(sockets=[listening])


class Server(uvicorn.Server):
    """A server that writes a byte to a pipe of its parent as soon as it answers."""

    def __init__(self, config: uvicorn.Config, *, tell_ready: int | None) -> None:
        super().__init__(config)
        self._tell_ready = tell_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer."""
        await super().startup(sockets)
        if self.started and self._tell_ready is not None:
            os.write(self._tell_ready, b"!")
            os.close(self._tell_ready)


def configuration(
    service: Service, certificate: Path | None, key: Path | None, client_certificates: Path | None = None
) -> uvicorn.Config:
    """Return the configuration of uvicorn: our own log, no trust in headers, small headers, no WebSockets, limits."""
    with_peers = certificate is not None and Part.EXCHANGE in service.settings.parts
    book = partial(pinned, service.settings) if with_peers else None
    asks = client_certificates is not None or with_peers
    return uvicorn.Config(
        create_app(service),
        http=SlowClientProtocol,
        ws="none",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
        backlog=WAITING_CONNECTIONS,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        ssl_context_factory=context_with(client_certificates, book) if asks else None,
    )


def log_to_standard_error() -> None:
    """Send warnings and the request log to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(WithoutMessages("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(WithoutMessages("%(message)s"))
    requests = logging.getLogger("kohorte.requests")
    requests.setLevel(logging.INFO)
    requests.addHandler(lines)
    requests.propagate = False


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--socket", type=int, required=True)
    parser.add_argument("--tell-ready", type=int)
    parser.add_argument("--only", action="append")
    parser.add_argument("--certificate", type=Path)
    parser.add_argument("--key", type=Path)
    parser.add_argument("--client-certificates", type=Path)
    parser.add_argument("--behind-proxy", action="store_true")
    return parser.parse_args()


def _ignore(number: int, frame: object) -> None:
    del number, frame


if __name__ == "__main__":
    sys.exit(main())
