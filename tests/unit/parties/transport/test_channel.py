"""Channels in memory: what roles and their tests rely on."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from kohorte.errors import InputError, InternalError, ProtocolError
from kohorte.parties.transport.channel import Channel
from kohorte.parties.transport.local import LocalChannels

NAMES = ("clinic-a", "clinic-b", "helper")


@pytest.fixture
def channels() -> LocalChannels:
    return LocalChannels(NAMES, wait=5)


def test_a_message_arrives_as_it_was_sent(channels: LocalChannels) -> None:
    channels["clinic-a"].send("helper", "rows", b"\x00\xffrows")
    assert channels["helper"].receive("clinic-a", "rows") == b"\x00\xffrows"


def test_messages_of_each_sender_arrive_in_their_order(channels: LocalChannels) -> None:
    for number in range(5):
        channels["clinic-a"].send("helper", "rows", b"a%d" % number)
        channels["clinic-b"].send("helper", "rows", b"b%d" % number)
    helper = channels["helper"]
    assert [helper.receive("clinic-b", "rows") for _ in range(5)] == [b"b0", b"b1", b"b2", b"b3", b"b4"]
    assert [helper.receive("clinic-a", "rows") for _ in range(5)] == [b"a0", b"a1", b"a2", b"a3", b"a4"]


def test_a_channel_knows_the_others(channels: LocalChannels) -> None:
    assert channels["clinic-b"].name == "clinic-b"
    assert channels["clinic-b"].peers == ("clinic-a", "helper")


def test_a_receiver_waits_for_a_message(channels: LocalChannels) -> None:
    later = threading.Timer(0.05, lambda: channels["clinic-a"].send("helper", "rows", b"late"))
    later.start()
    assert channels["helper"].receive("clinic-a", "rows") == b"late"
    later.join()


def test_a_message_of_another_kind_is_refused(channels: LocalChannels) -> None:
    channels["clinic-a"].send("helper", "keys", b"secret value")
    with pytest.raises(ProtocolError, match="clinic-a sent 'keys' where 'rows' was expected") as raised:
        channels["helper"].receive("clinic-a", "rows")
    assert raised.value.code == "party-kind"
    assert "secret" not in str(raised.value)


def test_a_message_that_nobody_asked_for_stops_the_run_at_the_end(channels: LocalChannels) -> None:
    channels["clinic-a"].send("clinic-b", "rows", b"once")
    channels["clinic-a"].send("clinic-b", "rows", b"twice")
    with (
        pytest.raises(ProtocolError, match="clinic-a sent 'rows', which nobody asked for"),
        channels["clinic-b"] as own,
    ):
        own.receive("clinic-a", "rows")
    with pytest.raises(ProtocolError, match="its reason: party-surplus"):
        channels["clinic-a"].check()


def test_waiting_ends_with_an_error_that_names_sender_and_kind() -> None:
    channels = LocalChannels(NAMES, wait=0.05)
    with pytest.raises(ProtocolError, match="clinic-b answers, but has not sent 'rows'") as raised:
        channels["helper"].receive("clinic-b", "rows")
    assert raised.value.code == "party-timeout"


def test_an_exception_in_the_block_of_a_channel_stops_all_others(channels: LocalChannels) -> None:
    channels["clinic-a"].phase = "encrypt"
    with pytest.raises(ZeroDivisionError), channels["clinic-a"]:
        raise ZeroDivisionError("a cell value")
    for name in ("clinic-b", "helper"):
        with pytest.raises(ProtocolError, match="clinic-a stopped the run in the phase encrypt") as raised:
            channels[name].receive("clinic-a", "rows")
        assert raised.value.code == "party-stopped"
        assert "cell value" not in str(raised.value)


def test_the_others_learn_the_code_of_an_error_and_not_its_message(channels: LocalChannels) -> None:
    with pytest.raises(InputError), channels["clinic-a"]:
        raise InputError("columns: Mrs Miller", code="columns-missing")
    with pytest.raises(ProtocolError, match="its reason: columns-missing") as raised:
        channels["helper"].check()
    assert "Miller" not in str(raised.value)


def test_an_interrupt_is_told_as_such(channels: LocalChannels) -> None:
    with pytest.raises(KeyboardInterrupt), channels["clinic-a"]:
        raise KeyboardInterrupt
    with pytest.raises(ProtocolError, match="clinic-a stopped the run; its reason: it was interrupted there"):
        channels["helper"].send("clinic-b", "rows", b"")


def test_a_stop_ends_the_waiting_of_others_at_once(channels: LocalChannels) -> None:
    later = threading.Timer(0.05, lambda: channels["clinic-a"].stop("columns-missing"))
    later.start()
    started = time.monotonic()
    with pytest.raises(ProtocolError, match="clinic-a stopped the run"):
        channels["helper"].receive("clinic-b", "rows")
    assert time.monotonic() - started < 4
    later.join()


def test_the_first_stop_is_passed_on_as_it_was(channels: LocalChannels) -> None:
    channels["clinic-a"].stop("columns-missing")
    with pytest.raises(ProtocolError), channels["clinic-b"] as channel:
        channel.receive("clinic-a", "rows")
    with pytest.raises(ProtocolError, match="clinic-a stopped the run; its reason: columns-missing"):
        channels["helper"].check()


def test_messages_of_a_party_that_has_done_its_part_can_still_be_received(channels: LocalChannels) -> None:
    with channels["clinic-a"] as channel:
        channel.send("helper", "rows", b"last")
    assert channels["helper"].receive("clinic-a", "rows") == b"last"
    with pytest.raises(ProtocolError, match="clinic-a has ended its part of the run without sending 'keys'") as raised:
        channels["helper"].receive("clinic-a", "keys")
    assert raised.value.code == "party-finished"
    channels["helper"].send("clinic-b", "rows", b"the others go on")
    assert channels["clinic-b"].receive("helper", "rows") == b"the others go on"


def test_a_closed_channel_an_unknown_party_and_a_strange_kind_are_mistakes_of_the_program(
    channels: LocalChannels,
) -> None:
    channel = channels["clinic-a"]
    with pytest.raises(InternalError, match="'clinic-c' is no other party"):
        channel.send("clinic-c", "rows", b"")
    with pytest.raises(InternalError, match="'clinic-a' is no other party"):
        channel.receive("clinic-a", "rows")
    for kind in ("", "Rows", "a/b", "-a", "a\n", "x" * 41):
        with pytest.raises(InternalError, match="small letters"):
            channel.send("helper", kind, b"")
    channel.close()
    channel.close()
    with pytest.raises(InternalError, match="closed"):
        channel.send("helper", "rows", b"")


def test_every_message_is_counted_with_sender_receiver_kind_size_and_time(channels: LocalChannels) -> None:
    channels["clinic-a"].phase = "encrypt"
    channels["clinic-a"].send("helper", "rows", b"12345")
    channels["helper"].receive("clinic-a", "rows")
    channels["helper"].send("clinic-a", "verdict", b"1")
    [sent] = channels["clinic-a"].messages
    assert (sent.sender, sent.receiver, sent.kind, sent.size, sent.phase) == (
        "clinic-a",
        "helper",
        "rows",
        5,
        "encrypt",
    )
    assert [message.kind for message in channels["helper"].messages] == ["rows", "verdict"]
    assert [(message.sender, message.kind) for message in channels.messages] == [
        ("clinic-a", "rows"),
        ("helper", "verdict"),
    ]
    assert 0 <= channels.messages[0].seconds <= channels.messages[1].seconds < 60


def test_every_payload_is_recorded_as_it_was_sent_if_asked(tmp_path: Path) -> None:
    folder = tmp_path / "messages"
    channels = LocalChannels(NAMES, record=folder)
    channels["clinic-a"].send("helper", "rows", b"first")
    channels["helper"].send("clinic-b", "all-rows", b"second")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "0001-clinic-a-to-helper-rows.bin": b"first",
        "0002-helper-to-clinic-b-all-rows.bin": b"second",
    }
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_a_recording_does_not_replace_another(tmp_path: Path) -> None:
    LocalChannels(NAMES, record=tmp_path)["clinic-a"].send("helper", "rows", b"first")
    with pytest.raises(Exception, match="could not be recorded") as raised:
        LocalChannels(NAMES, record=tmp_path)["clinic-a"].send("helper", "rows", b"other")
    assert getattr(raised.value, "code", "") == "party-record"


def test_roles_run_in_threads_and_return_their_results(channels: LocalChannels) -> None:
    def clinic(channel: Channel) -> bytes:
        channel.send("helper", "rows", channel.name.encode())
        return channel.receive("helper", "all-rows")

    def helper(channel: Channel) -> bytes:
        rows = b"+".join(channel.receive(peer, "rows") for peer in channel.peers)
        for peer in channel.peers:
            channel.send(peer, "all-rows", rows)
        return rows

    found = channels.run({"clinic-a": clinic, "clinic-b": clinic, "helper": helper})
    assert set(found.values()) == {b"clinic-a+clinic-b"}


@pytest.mark.parametrize("failing", NAMES)
def test_the_error_of_the_role_that_failed_is_raised_and_not_those_of_the_others(
    channels: LocalChannels, failing: str
) -> None:
    def role(channel: Channel) -> bytes:
        if channel.name == failing:
            raise InputError("no column 'age'", code="columns-missing")
        return channel.receive(failing, "rows")

    with pytest.raises(InputError, match="no column 'age'"):
        channels.run(dict.fromkeys(NAMES, role))
