"""Who can talk to the port of a party: the parties of its studies, and nobody else."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kohorte.parties.transport.https import PartyServer, port
from kohorte.parties.transport.https.handler import Handler
from support.party_network import NAMES, Network, folder_of, network
from support.raw_https import answer, client_context, connected, request

RUN = "0" * 32


@pytest.fixture
def parties() -> Iterator[Network]:
    with network() as found:
        yield found


@pytest.fixture
def waiting(parties: Network) -> PartyServer:
    parties.wait_in_background("helper")
    return parties.servers["helper"]


def ping() -> bytes:
    return request("/ping", {"Kohorte-Run": RUN})


def no_answer(server: PartyServer, folder: object, version: ssl.TLSVersion | None = None) -> None:
    context = client_context(folder, version)
    with pytest.raises((ssl.SSLError, ConnectionError)), connected(server.address, context=context) as stream:
        answer(stream, ping())


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The connections on which the party reads HTTP."""
    found: list[object] = []
    speak = Handler.handle

    def handle(self: Handler) -> None:
        found.append(self)
        speak(self)

    monkeypatch.setattr(Handler, "handle", handle)
    return found


def test_a_party_of_the_study_gets_an_answer(waiting: PartyServer, read: list[object]) -> None:
    with connected(waiting.address, folder_of("clinic-a")) as stream:
        assert stream.version() == "TLSv1.3"
        assert answer(stream, ping()) == (409, {"state": "unknown", "code": "", "stop": None})
    assert len(read) == 1


def test_a_client_without_a_certificate_ends_in_the_handshake(waiting: PartyServer, read: list[object]) -> None:
    no_answer(waiting, None)
    assert read == []


def test_a_client_with_a_certificate_that_is_not_pinned_ends_in_the_handshake(
    waiting: PartyServer, read: list[object]
) -> None:
    no_answer(waiting, folder_of("stranger"))
    no_answer(waiting, folder_of("clinic-a", 1))  # the same name, another key
    assert read == []


def test_a_party_cannot_connect_to_itself(waiting: PartyServer, read: list[object]) -> None:
    no_answer(waiting, folder_of("helper"))
    assert read == []


def test_a_pinned_certificate_without_its_key_is_useless(
    waiting: PartyServer, read: list[object], tmp_path: Path
) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl on this machine")
    forged = tmp_path / "forged.pem"
    command = [openssl, "req", "-x509", "-key", str(folder_of("stranger").key_file), "-subj", "/CN=clinic-a"]
    subprocess.run([*command, "-days", "9", "-out", str(forged)], check=True, capture_output=True)

    class Forged:
        certificate_file, key_file = forged, folder_of("stranger").key_file

    no_answer(waiting, Forged)
    assert read == []


def test_older_versions_of_tls_are_refused(waiting: PartyServer, read: list[object]) -> None:
    no_answer(waiting, folder_of("clinic-a"), ssl.TLSVersion.TLSv1_2)
    assert read == []


def test_nobody_can_connect_before_the_party_waits_for_a_run(parties: Network, read: list[object]) -> None:
    no_answer(parties.servers["helper"], folder_of("clinic-a"))
    assert read == []


def test_what_is_not_tls_ends_at_once(waiting: PartyServer, read: list[object]) -> None:
    host, _, number = waiting.address.rpartition(":")
    with socket.create_connection((host, int(number)), timeout=5) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            while plain.recv(100):
                pass
    assert read == []


def test_a_session_cannot_be_resumed(waiting: PartyServer) -> None:
    context = client_context(folder_of("clinic-a"))
    with connected(waiting.address, context=context) as stream:
        answer(stream, ping())
        session = stream.session
    with connected(waiting.address, context=context, session=session) as stream:
        answer(stream, ping())
        assert not stream.session_reused


def test_silent_strangers_keep_nobody_out(parties: Network) -> None:
    with contextlib.ExitStack() as stack:
        for server in parties.servers.values():
            host, _, number = server.address.rpartition(":")
            for _ in range(port.MOST_STRANGERS + 6):
                silent = stack.enter_context(socket.create_connection((host, int(number)), timeout=5))
                silent.sendall(b"\x16\x03\x01\x02\x00")  # the beginning of a handshake, and no more
        channels = parties.start()
        channels["clinic-a"].send("helper", "rows", b"through")
        assert channels["helper"].receive("clinic-a", "rows") == b"through"
        for channel in channels.values():
            channel.close()
    connections = [thread for thread in threading.enumerate() if thread.name == "kohorte-connection"]
    assert len(connections) < len(NAMES) * (port.MOST_STRANGERS + 20)


def test_a_stranger_is_dropped_after_the_time_for_a_handshake(
    waiting: PartyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(port, "HANDSHAKE_SECONDS", 0.2)
    host, _, number = waiting.address.rpartition(":")
    began = time.monotonic()
    with socket.create_connection((host, int(number)), timeout=20) as silent:
        assert silent.recv(1) == b""
    assert time.monotonic() - began < 4


def test_a_party_cannot_open_endless_connections(waiting: PartyServer) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(port.MOST_OF_ONE):
            answer(stack.enter_context(connected(waiting.address, folder_of("clinic-a"))), _invite())
        with pytest.raises((ssl.SSLError, ConnectionError)):
            answer(stack.enter_context(connected(waiting.address, folder_of("clinic-a"))), ping())
        with connected(waiting.address, folder_of("clinic-b")) as stream:
            assert answer(stream, ping())[0] == 409


def _invite() -> bytes:
    return request("/invite", {"Kohorte-Run": "1" * 32, "Kohorte-Study": "5" * 64})


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"POST /ping HTTP/1.1\r\n\r\n", 400),
        (request("/ping", {"Kohorte-Run": "x"}), 400),
        (request("/ping", {"Kohorte-Run": RUN, "kohorte-run": RUN}), 400),
        (request("/ping", {"Kohorte-Run": RUN, "Content-Length": "5"}, b"hello"), 400),
        (request("/nowhere", {"Kohorte-Run": RUN}), 409),
        (request("/invite", {"Kohorte-Run": RUN, "Kohorte-Study": "../etc"}), 409),
        (request("/stop", {"Kohorte-Run": RUN, "Kohorte-Code": "Mrs Miller"}), 409),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 501),
        (b"nonsense\r\n\r\n", 400),
        (b"POST /ping HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", 431),
        (b"POST /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_without_repeating_it(
    waiting: PartyServer, sent: bytes, status: int
) -> None:
    with connected(waiting.address, folder_of("clinic-a")) as stream:
        found, body = answer(stream, sent)
    assert found == status
    assert set(body) == {"state", "code", "stop"}
    assert body["code"] in ("party-request", "")
