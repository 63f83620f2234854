"""TLS 1.3 in which both sides show a certificate and compare the other's with pinned fingerprints.

The comparison happens inside the handshake (decision 0036): a connection of anybody else ends there, before a byte of
HTTP is read. The ssl module of the standard library cannot do this for a certificate that it has not seen before.
"""

from __future__ import annotations

import contextlib
import io
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from kohorte.errors import InputError
from kohorte.parties.transport.certificates import fingerprint
from kohorte.parties.transport.folder import PartyFolder

try:
    from OpenSSL import SSL, crypto
except ImportError:
    raise InputError(
        "runs with other parties need the library pyOpenSSL; install kohorte[parties]", code="party-library-missing"
    ) from None

Accepts = Callable[[str], bool]
"""Whether a fingerprint is pinned."""

SELF_SIGNED = 18  # X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: what OpenSSL says about every certificate of a party
LINGER_SECONDS = 1.0
PIECE = 1 << 16


class WrongCertificate(ConnectionError):
    """The other side shows a certificate that is not pinned; the argument is its fingerprint."""


class CertificateRefused(ConnectionError):
    """The other side does not accept the certificate of this party."""


def tls_context(folder: PartyFolder) -> SSL.Context:
    """Return a context with the key of a party, for both ends of a connection: TLS 1.3, certificates required.

    Sessions are never resumed, so that every connection proves the certificate again.
    """
    context = SSL.Context(SSL.TLS_METHOD)
    context.set_min_proto_version(SSL.TLS1_3_VERSION)
    context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
    context.set_options(SSL.OP_NO_TICKET)
    context.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, _is_pinned)
    try:
        context.use_certificate_file(str(folder.certificate_file))
        context.use_privatekey_file(str(folder.key_file))
        context.check_privatekey()
    except SSL.Error:
        raise InputError(f"{folder.path}: the key or the certificate cannot be used", code="party-key") from None
    return context


def _is_pinned(connection: SSL.Connection, certificate: crypto.X509, error: int, depth: int, _: int) -> bool:
    """Accept the certificate of the other side only if its fingerprint is pinned and its dates are valid.

    The certificate is not parsed: it can come from anybody. An exception must not leave this function, because
    pyOpenSSL would raise it in the next operation of any connection.
    """
    try:
        check: _Check = connection.get_app_data()
        shown = fingerprint(crypto.dump_certificate(crypto.FILETYPE_ASN1, certificate))
        return check.judge(shown, is_sound=depth == 0 and error in (0, SELF_SIGNED))
    except Exception:  # noqa: BLE001 - refused, whatever it was
        return False


class _Check:
    """The question that a handshake asks about the other's certificate, and the fingerprint that it saw."""

    def __init__(self, accepts: Accepts) -> None:
        self._accepts = accepts
        self.seen = ""
        self.accepted = False

    def judge(self, shown: str, *, is_sound: bool) -> bool:
        """Accept a certificate that is pinned and sound; OpenSSL may ask several times, and the last answer counts."""
        self.seen = shown
        self.accepted = is_sound and self._accepts(shown)
        return self.accepted


class TlsStream:
    """A TLS connection with the methods of a socket that http.client and http.server use.

    Every operation ends within the time-out, with TimeoutError. One thread reads and writes; another may call `abort`.
    """

    def __init__(
        self, context: SSL.Context, plain: socket.socket, accepts: Accepts, *, seconds: float, server: bool
    ) -> None:
        """Shake hands within so many seconds, or raise; the socket is closed then."""
        self._socket = plain
        self._seconds = seconds
        self._readers = 0
        self._closing = False
        self._check = _Check(accepts)
        plain.setblocking(False)
        with contextlib.suppress(OSError):
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._tls = SSL.Connection(context, plain)
        self._tls.set_app_data(self._check)
        (self._tls.set_accept_state if server else self._tls.set_connect_state)()
        try:
            self._retry(self._tls.do_handshake)
            if not self._check.accepted:  # a resumed session would not have asked
                raise ConnectionAbortedError
        except (OSError, EOFError) as error:
            self._close_refused(server=server)
            raise (error if isinstance(error, OSError) else ConnectionResetError()) from None

    @property
    def peer(self) -> str:
        """The fingerprint of the other side's certificate."""
        return self._check.seen

    def settimeout(self, seconds: float) -> None:
        """Set how long an operation may take."""
        self._seconds = seconds

    def recv_into(self, buffer: memoryview) -> int:
        """Read at least one byte into the buffer and return how many; 0 at the end."""
        try:
            return int(self._retry(self._tls.recv_into, buffer))
        except EOFError:
            return 0

    def sendall(self, data: bytes) -> None:
        """Write all bytes."""
        rest = memoryview(data).cast("B")
        while rest:
            piece = bytes(rest[:PIECE])
            try:
                rest = rest[self._retry(self._tls.send, piece) :]
            except EOFError:
                raise ConnectionResetError from None

    def makefile(self, mode: str, *_: object) -> io.BufferedReader:
        """Return a buffered reader; as with sockets, `close` takes effect when the reader is closed, too."""
        if mode != "rb":
            raise ValueError(mode)
        self._readers += 1
        return io.BufferedReader(_Reader(self), PIECE)

    def abort(self) -> None:
        """End the connection at once, also from another thread, which wakes up the one that uses it."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def linger(self) -> None:
        """Write no more, and throw away what still arrives until the other side closes, for at most a second.

        A socket that is closed with unread bytes resets the connection, and the other side may lose what was written.
        """
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
            until = time.monotonic() + LINGER_SECONDS
            while self._wait(selectors.EVENT_READ, until) and self._socket.recv(PIECE):
                pass

    def close(self) -> None:
        """Say goodbye and close the connection, as soon as nobody reads from it any more."""
        self._closing = True
        if self._readers:
            return
        with contextlib.suppress(SSL.Error, OSError):
            self._tls.shutdown()
        self.abort()
        self._socket.close()

    def reader_closed(self) -> None:
        """Note that a reader was closed."""
        self._readers -= 1
        if self._closing:
            self.close()

    def _close_refused(self, *, server: bool) -> None:
        """Close after a failed handshake; a server first lets the client read why it was refused."""
        if server and self._check.seen and not self._check.accepted:
            self.linger()
        self._socket.close()

    def _retry(self, operation: Callable[..., Any], *arguments: object) -> Any:
        until = time.monotonic() + self._seconds
        while True:
            with self._translated():
                try:
                    return operation(*arguments)
                except SSL.WantReadError:
                    event = selectors.EVENT_READ
                except SSL.WantWriteError:
                    event = selectors.EVENT_WRITE
            if not self._wait(event, until):
                raise TimeoutError

    def _wait(self, event: int, until: float) -> bool:
        with selectors.DefaultSelector() as selector:
            try:
                selector.register(self._socket, event)
            except ValueError:  # the socket was closed
                raise ConnectionAbortedError from None
            return bool(selector.select(max(0.0, until - time.monotonic())))

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn errors of OpenSSL into those of sockets."""
        try:
            yield
        except SSL.ZeroReturnError:
            raise EOFError from None
        except SSL.SysCallError as error:
            raise (EOFError if error.args[0] == -1 else ConnectionResetError) from None
        except SSL.Error as error:
            raise self._failure(error) from None

    def _failure(self, error: SSL.Error) -> ConnectionError:
        reasons = " ".join(str(reason) for *_, reason in (error.args[0] if error.args else ()))
        if "alert" in reasons and ("cert" in reasons or "unknown ca" in reasons):
            return CertificateRefused()
        if self._check.seen and not self._check.accepted:
            return WrongCertificate(self._check.seen)
        return ConnectionAbortedError()


class _Reader(io.RawIOBase):
    def __init__(self, stream: TlsStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._stream.recv_into(buffer)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._stream.reader_closed()
