"""Clients that let the server wait, or are too many: real sockets, and a server with short timeouts."""

from __future__ import annotations

import logging
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest
import uvicorn
from starlette.types import Message, Receive, Scope, Send

from kohorte.service.web.connections import connection_limits, slow_clients
from kohorte.service.web.connections.connection_limits import LimitedListener, most_connections
from kohorte.service.web.connections.slow_clients import SlowClientProtocol

SHORT = 1.0
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /%s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n"
Connect = Callable[[], socket.socket]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the number of bytes that were sent; at /large with much, at /early before the body has come."""
    if scope["type"] != "http":
        return
    size = 0
    message: Message = {}
    while scope["path"] != "/early" and message.get("more_body", True):
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size += len(message["body"])
    body = b"x" * 50_000_000 if scope["path"] == "/large" else b"%d" % size
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def served(*, most: int = 100, most_per_address: int | None = 50) -> Iterator[Connect]:
    """Run a server in a thread, and give a function that connects to it."""
    with socket.create_server(("127.0.0.1", 0)) as plain, ExitStack() as clients:
        address = plain.getsockname()
        listening = LimitedListener(plain.detach(), most=most, most_per_address=most_per_address)
        configuration = uvicorn.Config(
            application,
            http=SlowClientProtocol,
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(configuration)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield lambda: clients.enter_context(closing(socket.create_connection(address, timeout=60)))
        finally:
            server.should_exit = True
            thread.join(20)
            listening.close()


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    for name in ("HEADER_SECONDS", "BODY_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(slow_clients, name, SHORT)
    with served() as connecting:
        yield connecting


def everything(connection: socket.socket) -> bytes:
    """Return all that comes until the server closes the connection."""
    text = b""
    try:
        while part := connection.recv(1 << 16):
            text += part
    except ConnectionResetError:
        pass
    return text


def answer(connection: socket.socket) -> bytes:
    """Return the next short answer."""
    text = b""
    while not text.partition(b"\r\n\r\n")[2] and (part := connection.recv(1000)):
        text += part
    return text


def is_closed(connection: socket.socket) -> bool:
    try:
        connection.settimeout(60)
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def drip(connection: socket.socket, part: bytes, seconds: float) -> bool:
    """Send a part again and again for a while; return whether the server closed the connection meanwhile."""
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            connection.sendall(part)
            time.sleep(0.05)
    except OSError:
        return True
    return False


@pytest.mark.parametrize("begun", [b"", b"P", b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nX-a: "])
def test_a_request_that_is_not_ended_is_closed(connect: Connect, begun: bytes) -> None:
    connection = connect()
    connection.sendall(begun)
    began = time.monotonic()
    assert is_closed(connection)
    assert time.monotonic() - began > SHORT / 2


def test_more_headers_do_not_win_more_time(connect: Connect) -> None:
    connection = connect()
    connection.sendall(GET[:-2])
    assert drip(connection, b"X-a: 1\r\n", 20 * SHORT)


@pytest.mark.slow
def test_a_further_request_has_its_own_time(connect: Connect) -> None:
    connection = connect()
    for _ in range(3):
        connection.sendall(GET)
        assert answer(connection).startswith(b"HTTP/1.1 200")
        time.sleep(0.6 * SHORT)
    connection.sendall(GET[:20])
    time.sleep(0.5 * SHORT)
    connection.sendall(GET[20:])
    assert answer(connection).startswith(b"HTTP/1.1 200")
    connection.sendall(GET[:20])
    assert is_closed(connection)


def test_a_body_that_stalls_is_closed(connect: Connect) -> None:
    connection = connect()
    connection.sendall(POST % (b"", b"Content-Length: 100") + b"half")
    assert everything(connection) == b""


@pytest.mark.slow
def test_a_slow_upload_that_keeps_sending_is_taken(connect: Connect) -> None:
    connection = connect()
    connection.sendall(POST % (b"", b"Content-Length: 20"))
    for _ in range(20):
        connection.sendall(b"x")
        time.sleep(SHORT / 10)
    assert answer(connection).endswith(b"\r\n\r\n20")


def test_what_is_sent_on_after_the_answer_is_not_taken_for_ever(connect: Connect) -> None:
    connection = connect()
    connection.sendall(POST % (b"early", b"Content-Length: 1000000"))
    assert answer(connection).startswith(b"HTTP/1.1 200")
    assert drip(connection, b"x", 20 * SHORT)


@pytest.mark.slow
def test_an_answer_that_nobody_takes_is_given_up(connect: Connect) -> None:
    connection = connect()
    connection.sendall(GET.replace(b"/ ", b"/large "))
    time.sleep(3 * SHORT)
    assert len(everything(connection)) < 50_000_000


def test_an_answer_that_is_taken_slowly_is_whole(connect: Connect) -> None:
    connection = connect()
    connection.sendall(GET.replace(b"/ ", b"/large ").replace(b"Host", b"Connection: close\r\nHost"))
    size = 0
    while part := connection.recv(4_000_000):
        size += len(part)
        time.sleep(SHORT / 20)
    assert size > 50_000_000


@pytest.mark.parametrize(
    "lengths",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4",
        b"Content-Length: 4\r\nContent-Length: 5",
        b"Content-Length: 4, 5",
    ],
)
def test_a_request_with_two_lengths_is_refused_and_closed(connect: Connect, lengths: bytes) -> None:
    connection = connect()
    connection.sendall(POST % (b"", lengths) + b"0\r\n\r\n" + GET)
    text = everything(connection)
    assert text.startswith(b"HTTP/1.1 400")
    assert text.count(b"HTTP/1.1") == 1


def test_nonsense_after_the_answer_closes_without_a_failure(connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    connection = connect()
    connection.sendall(POST % (b"early", b"Transfer-Encoding: chunked"))
    assert answer(connection).startswith(b"HTTP/1.1 200")
    connection.sendall(b"no chunk\r\n\r\n")
    assert is_closed(connection)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_an_address_has_so_many_connections_and_gets_new_ones_for_closed_ones() -> None:
    with served(most_per_address=3) as connecting:
        first = [connecting() for _ in range(3)]
        assert all(answers(one) for one in first)
        assert is_closed(connecting())
        first[0].close()
        assert eventually(lambda: answers(connecting()))


def test_behind_a_proxy_only_the_number_in_all_counts() -> None:
    with served(most=5, most_per_address=None) as connecting:
        assert all(answers(connecting()) for _ in range(5))
        assert is_closed(connecting())


@pytest.mark.slow
def test_files_that_run_out_are_logged_once_a_second(caplog: pytest.LogCaptureFixture) -> None:
    with served(most=10_000, most_per_address=None) as connecting, ExitStack() as clients:
        address = connecting().getpeername()
        assert answers(connecting())
        waiting = [clients.enter_context(socket.socket()) for _ in range(40)]
        with few_files(max(one.fileno() for one in waiting) + 5):
            for one in waiting:
                one.connect(address)
            time.sleep(1.5)
        assert 1 <= len(caplog.records) <= 3
        assert eventually(lambda: answers(connecting()))


@contextmanager
def few_files(most: int) -> Iterator[None]:
    """Let this process open no more files than it has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_limit_of_files_is_raised_and_some_are_kept_back(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[int, int]] = []
    monkeypatch.setattr(connection_limits.resource, "setrlimit", lambda _, limits: found.append(limits))
    expected = {(1024, 524_288): 65_024, (1024, 1024): 512, (1024, resource.RLIM_INFINITY): 65_024}
    for limits, most in expected.items():
        monkeypatch.setattr(connection_limits.resource, "getrlimit", lambda _, limits=limits: limits)
        assert most_connections() == most
    assert found == [(65_536, 524_288), (65_536, resource.RLIM_INFINITY)]


def answers(connection: socket.socket) -> bool:
    try:
        connection.sendall(GET)
        return answer(connection).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def eventually(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + 60
    while not (held := holds()) and time.monotonic() < until:
        time.sleep(0.05)
    return held
