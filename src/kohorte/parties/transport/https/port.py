"""The open port of a party: accepts connections, and lets only pinned certificates speak."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

from OpenSSL import SSL

from kohorte.errors import InputError
from kohorte.parties.transport.https.terms import endpoint
from kohorte.parties.transport.https.tls import Accepts, TlsStream

HANDSHAKE_SECONDS = 5.0
MOST_STRANGERS = 64
MOST_OF_ONE = 16
POLL_SECONDS = 0.2
CLOSE_SECONDS = 2.0


class Port:
    """Listens on an address and calls `speak` in a thread of its own for each connection with a pinned certificate.

    A connection has five seconds to show its certificate. At most 64 connections do so at a time: the oldest one gives
    way to a new one, so that strangers that stay silent keep nobody out.
    """

    def __init__(
        self, address: str, context: SSL.Context, accepts: Accepts, speak: Callable[[TlsStream], object]
    ) -> None:
        self._context = context
        self._accepts = accepts
        self._speak = speak
        self._lock = threading.Lock()
        self._strangers: dict[socket.socket, None] = {}
        self._streams: dict[TlsStream, threading.Thread] = {}
        self._closed = False
        self._listening = _listening(address)
        self._thread = threading.Thread(target=self._accept, name="kohorte-port", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """The address that the port listens on."""
        host, port = self._listening.getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def close(self) -> None:
        """Stop listening and end all connections."""
        self._closed = True
        _shut(self._listening)  # wakes up the thread on most systems; elsewhere it looks by itself
        self._thread.join()
        self._listening.close()
        with self._lock:
            for stranger in self._strangers:
                _shut(stranger)
            open_streams = dict(self._streams)
        for stream in open_streams:
            stream.abort()
        until = time.monotonic() + CLOSE_SECONDS
        for thread in open_streams.values():
            if thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))

    def _accept(self) -> None:
        self._listening.settimeout(POLL_SECONDS)
        while not self._closed:
            try:
                plain, _ = self._listening.accept()
            except TimeoutError:
                continue
            except OSError:  # too many open files, or a connection that ended before it was accepted
                if not self._closed:
                    time.sleep(POLL_SECONDS)
                continue
            self._admit(plain)
            threading.Thread(target=self._serve, args=(plain,), name="kohorte-connection", daemon=True).start()

    def _admit(self, plain: socket.socket) -> None:
        """Make room for a new connection: the oldest one that has not shown its certificate ends."""
        with self._lock:
            if len(self._strangers) >= MOST_STRANGERS:
                oldest = next(iter(self._strangers))
                del self._strangers[oldest]
                _shut(oldest)
            self._strangers[plain] = None

    def _serve(self, plain: socket.socket) -> None:
        try:
            stream = TlsStream(self._context, plain, self._accepts, seconds=HANDSHAKE_SECONDS, server=True)
        except OSError:
            return
        finally:
            with self._lock:
                self._strangers.pop(plain, None)
        try:
            if self._keep(stream):
                self._speak(stream)
        except (OSError, EOFError):
            pass  # the other side is gone; whether that matters is for the watch to say
        finally:
            with self._lock:
                self._streams.pop(stream, None)
            stream.close()

    def _keep(self, stream: TlsStream) -> bool:
        """Whether a connection may stay: not too many of the same party."""
        with self._lock:
            if self._closed or sum(other.peer == stream.peer for other in self._streams) >= MOST_OF_ONE:
                return False
            self._streams[stream] = threading.current_thread()
            return True


def _shut(plain: socket.socket) -> None:
    with contextlib.suppress(OSError):
        plain.shutdown(socket.SHUT_RDWR)


def _listening(address: str) -> socket.socket:
    host, port = endpoint(address)
    try:
        if not host and socket.has_dualstack_ipv6():
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=128)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError:
        raise InputError(
            f"{address}: cannot wait for other parties there: the port is in use or not allowed, or the address does "
            "not belong to this machine",
            code="party-port",
        ) from None
