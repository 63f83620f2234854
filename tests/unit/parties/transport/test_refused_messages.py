"""Messages that a party of the run should not send: refused with a reason, and the run stops."""

from __future__ import annotations

import ssl
import zlib
from collections.abc import Callable, Iterator

import pytest

from kohorte.errors import ProtocolError
from kohorte.parties.transport.channel import RunChannel
from kohorte.parties.transport.https import Limits
from support.party_network import STUDY, Network, folder_of, network, until
from support.raw_https import answer, chunked, connected, message, request

MOST = 100_000


class Victim:
    """A run in which the certificate of clinic-b is used by somebody who writes requests by hand."""

    def __init__(self, parties: Network, channels: dict[str, RunChannel]) -> None:
        self.parties = parties
        self.channels = channels
        run = parties.servers["clinic-a"]._desk._run
        assert run is not None
        self.run = run
        self.headers = {"Kohorte-Study": STUDY, "Kohorte-Run": run.number}

    def connected(self) -> ssl.SSLSocket:
        return connected(self.parties.servers["clinic-a"].address, folder_of("clinic-b"))

    def ask(self, sent: bytes) -> tuple[int, dict[str, object]]:
        with self.connected() as stream:
            return answer(stream, sent)


@pytest.fixture
def victim() -> Iterator[Victim]:
    with network() as parties:
        terms = parties.terms
        parties.terms = lambda name, /, **changes: terms(name, limits=Limits(message=MOST), **changes)
        yield Victim(parties, parties.start())


def test_a_message_as_it_should_be_is_accepted(victim: Victim) -> None:
    assert victim.ask(message(victim.headers, b"by hand"))[0] == 200
    assert victim.channels["clinic-a"].receive("clinic-b", "rows") == b"by hand"


def body(headers: dict[str, str], packed: bytes, size: int) -> bytes:
    names = {"Kohorte-Sequence": "1", "Kohorte-Kind": "rows", "Kohorte-Size": str(size)}
    return request("/message", {**headers, **names, "Transfer-Encoding": "chunked"}, packed)


def bomb(size: int) -> bytes:
    return zlib.compress(bytes(size), 9)


Make = Callable[[dict[str, str]], bytes]
REFUSED: dict[str, tuple[str, Make]] = {
    "another study": ("party-study", lambda head: message({**head, "Kohorte-Study": "6" * 64}, b"x")),
    "no study": ("party-study", lambda head: message({**head, "Kohorte-Study": ""}, b"x")),
    "skipped": ("party-sequence", lambda head: message(head, b"x", Kohorte_Sequence="2")),
    "from the start": ("party-sequence", lambda head: message(head, b"x", Kohorte_Sequence="0")),
    "no number": ("party-request", lambda head: message(head, b"x", Kohorte_Sequence="one")),
    "negative": ("party-request", lambda head: message(head, b"x", Kohorte_Sequence="-1")),
    "strange digits": ("party-request", lambda head: message(head, b"x", Kohorte_Size="\u00b2")),
    "endless number": ("party-request", lambda head: message(head, b"x", Kohorte_Size="9" * 5000)),
    "strange kind": ("party-kind", lambda head: message(head, b"x", Kohorte_Kind="../rows")),
    "too large, as announced": ("party-size", lambda head: message(head, b"x", Kohorte_Size=str(MOST + 1))),
    "larger than announced": ("party-size", lambda head: body(head, chunked([zlib.compress(bytes(200))]), 100)),
    "bomb": ("party-size", lambda head: body(head, chunked([bomb(50_000_000)]), MOST)),
    "more bytes than needed": ("party-size", lambda head: body(head, chunked([bytes(5000)] * 2), 10)),
    "smaller than announced": ("party-compression", lambda head: body(head, chunked([zlib.compress(b"x")]), 2)),
    "not compressed": ("party-compression", lambda head: body(head, chunked([b"plain text here"]), 15)),
    "cut off": ("party-compression", lambda head: body(head, chunked([zlib.compress(bytes(99))[:-3]]), 99)),
    "wrong checksum": ("party-compression", lambda head: body(head, chunked([zlib.compress(b"x")[:-1] + b"?"]), 1)),
    "more after the end": ("party-compression", lambda head: body(head, chunked([zlib.compress(b"x") + b"y"]), 1)),
    "a piece after the end": ("party-compression", lambda head: body(head, chunked([zlib.compress(b"x"), b"y"]), 1)),
    "wrong chunk": ("party-compression", lambda head: body(head, b"zz\r\n", 1)),
    "negative chunk": ("party-compression", lambda head: body(head, b"-5\r\nhello\r\n0\r\n\r\n", 5)),
    "huge chunk": ("party-size", lambda head: body(head, b"7fffffff\r\nhello", 5)),
    "endless chunk length": ("party-compression", lambda head: body(head, b"0" * 50 + b"1\r\nx\r\n0\r\n\r\n", 1)),
    "no line end": ("party-compression", lambda head: body(head, b"3\r\nabcde", 3)),
    "trailer": ("party-compression", lambda head: body(head, chunked([zlib.compress(b"x")])[:-2] + b"X: y\r\n\r\n", 1)),
    "no chunks": ("party-request", lambda head: request("/message", {**head, "Kohorte-Sequence": "1"}, b"")),
    "two lengths": ("party-request", lambda head: message({**head, "Content-Length": "3"}, b"x")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_message_against_the_rules_stops_the_run_at_all_parties(victim: Victim, name: str) -> None:
    code, make = REFUSED[name]
    status, body = victim.ask(make(victim.headers))
    assert (status, body["state"]) == (409, "stopped")
    assert body["stop"] == {"by": "clinic-a", "code": code, "phase": "", "lost": None}
    with pytest.raises(ProtocolError) as own, victim.channels["clinic-a"] as channel:
        channel.receive("clinic-b", "rows")
    assert own.value.code == code
    assert "clinic-b" in str(own.value)
    with pytest.raises(ProtocolError, match=f"clinic-a stopped the run; its reason: {code}"):
        victim.channels["helper"].receive("clinic-b", "rows")


def test_a_repeated_message_stops_the_run(victim: Victim) -> None:
    assert victim.ask(message(victim.headers, b"x"))[0] == 200
    assert victim.ask(message(victim.headers, b"x"))[1]["state"] == "stopped"
    with pytest.raises(ProtocolError, match="clinic-b sent message 1 where message 2 was expected") as caught:
        victim.channels["clinic-a"].check()
    assert caught.value.code == "party-sequence"


def test_two_messages_of_one_sender_at_the_same_time_stop_the_run(victim: Victim) -> None:
    sent = message(victim.headers, b"x")
    with victim.connected() as first:
        first.sendall(sent[:-10])
        until(lambda: "clinic-b" in victim.run._arriving)
        assert victim.ask(message(victim.headers, b"x", Kohorte_Sequence="1"))[1]["state"] == "stopped"


def test_an_oversized_message_is_refused_before_its_body_is_read(victim: Victim) -> None:
    head = body(victim.headers, b"", MOST + 1)
    status, found = victim.ask(head)
    assert (status, found["stop"]["code"]) == (409, "party-size")


def test_a_message_of_an_unknown_run_is_refused_and_the_run_goes_on(victim: Victim) -> None:
    other = {**victim.headers, "Kohorte-Run": "0" * 32}
    assert victim.ask(message(other, b"x")) == (409, {"state": "unknown", "code": "", "stop": None})
    stop = {"Kohorte-By": "clinic-b", "Kohorte-Code": "failed", "Kohorte-Phase": ""}
    assert victim.ask(request("/stop", {**other, **stop}))[0] == 409
    victim.channels["clinic-a"].check()


def test_a_connection_that_breaks_in_a_message_does_not_count_as_a_message(victim: Victim) -> None:
    sent = message(victim.headers, b"x")
    with victim.connected() as stream:
        stream.sendall(sent[:-10])
        until(lambda: "clinic-b" in victim.run._arriving)
    until(lambda: "clinic-b" not in victim.run._arriving)
    assert victim.ask(sent)[0] == 200


def test_a_stop_in_the_name_of_nobody_counts_as_one_of_the_party_that_sent_it(victim: Victim) -> None:
    stop = {"Kohorte-By": "somebody", "Kohorte-Code": "columns-missing", "Kohorte-Phase": "encrypt"}
    victim.ask(request("/stop", {**victim.headers, **stop}))
    with pytest.raises(
        ProtocolError, match="clinic-b stopped the run in the phase encrypt; its reason: columns-missing"
    ):
        victim.channels["clinic-a"].check()


@pytest.mark.parametrize("field", ["Kohorte-By", "Kohorte-Code", "Kohorte-Phase", "Kohorte-Lost"])
def test_a_stop_cannot_smuggle_a_text_into_the_messages_of_others(victim: Victim, field: str) -> None:
    stop = {"Kohorte-By": "clinic-b", "Kohorte-Code": "failed", "Kohorte-Phase": "", field: "Mrs Miller has flu"}
    assert victim.ask(request("/stop", {**victim.headers, **stop}))[1]["code"] == "party-request"
    victim.channels["clinic-a"].check()


def test_only_the_party_that_asked_can_begin_the_run() -> None:
    with network() as parties:
        parties.wait_in_background("helper")
        address, head = parties.servers["helper"].address, {"Kohorte-Study": STUDY, "Kohorte-Run": "1" * 32}
        with connected(address, folder_of("clinic-a")) as stream:
            assert answer(stream, request("/invite", head))[1]["state"] in ("asked", "agreed")
        with connected(address, folder_of("clinic-b")) as stream:
            assert answer(stream, request("/begin", head))[1]["state"] in ("asked", "agreed")
        with connected(address, folder_of("clinic-b")) as stream:
            assert answer(stream, request("/invite", head))[1] == {
                "state": "refused",
                "code": "party-busy",
                "stop": None,
            }
