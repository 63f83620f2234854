"""A run that ends while the main thread computes."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from kohorte.errors import ProtocolError
from kohorte.parties.transport.attention import SIGNAL, Attention
from kohorte.parties.transport.channel import RunChannel
from kohorte.parties.transport.inbox import Inbox, Stop
from kohorte.parties.transport.messages import MessageLog

pytestmark = pytest.mark.skipif(
    SIGNAL is None or threading.current_thread() is not threading.main_thread(), reason="needs the main thread"
)


class Nowhere:
    """A link that leads nowhere."""

    def deliver(self, to: str, kind: str, payload: bytes) -> int:
        return len(payload)

    def tell_stop(self, to: str, stop: Stop) -> None:
        pass

    def tell_done(self, to: str) -> None:
        pass

    def close(self) -> None:
        pass


def channel_with(inbox: Inbox, *, active: bool = True) -> RunChannel:
    return RunChannel(
        inbox, Nowhere(), MessageLog(), name="a", peers=("b",), wait=10, attention=Attention(active=active)
    )


def stop_soon(inbox: Inbox) -> None:
    threading.Timer(0.05, lambda: inbox.stop(Stop("b", "columns-missing"))).start()


def compute(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))


@pytest.mark.parametrize("work", [compute, time.sleep])
def test_a_computation_is_interrupted_and_the_reason_is_raised(work: object) -> None:
    inbox = Inbox("a", ["b"])
    began = time.monotonic()
    stop_soon(inbox)
    with pytest.raises(ProtocolError, match="b stopped the run; its reason: columns-missing"), channel_with(inbox):
        work(20)
    assert time.monotonic() - began < 10
    assert signal.getsignal(SIGNAL) is signal.SIG_DFL


def test_a_role_that_waits_for_a_message_is_not_interrupted_but_told() -> None:
    inbox = Inbox("a", ["b"])
    stop_soon(inbox)
    caught: list[BaseException] = []
    with pytest.raises(ProtocolError), channel_with(inbox) as channel:
        _keep_error(lambda: channel.receive("b", "rows"), caught)
    assert [type(error) for error in caught] == [ProtocolError]


def _keep_error(call: object, caught: list[BaseException]) -> None:
    try:
        call()
    except BaseException as error:
        caught.append(error)
        raise


def test_without_being_asked_nothing_is_interrupted() -> None:
    inbox = Inbox("a", ["b"])
    stop_soon(inbox)
    began = time.monotonic()
    with pytest.raises(ProtocolError), channel_with(inbox, active=False):
        time.sleep(0.3)
    assert time.monotonic() - began >= 0.3


def test_ctrl_c_stays_ctrl_c() -> None:
    inbox = Inbox("a", ["b"])
    with pytest.raises(KeyboardInterrupt), channel_with(inbox):
        raise KeyboardInterrupt
    assert inbox.stopped == Stop("a", "interrupted")


def test_a_stop_while_a_message_is_sent_is_not_missed() -> None:
    inbox = Inbox("a", ["b"])
    link = Nowhere()
    link.deliver = lambda *_: inbox.stop(Stop("b", "columns-missing")) or 1  # type: ignore[method-assign]
    channel = RunChannel(inbox, link, MessageLog(), name="a", peers=("b",), attention=Attention(active=True))
    with pytest.raises(ProtocolError, match="b stopped the run"), channel:
        channel.send("b", "rows", b"")


def test_a_signal_that_the_program_uses_itself_is_left_alone() -> None:
    before = signal.signal(SIGNAL, signal.SIG_IGN)
    try:
        inbox = Inbox("a", ["b"])
        with pytest.raises(ProtocolError), channel_with(inbox):
            inbox.stop(Stop("b", "columns-missing"))
        assert signal.getsignal(SIGNAL) is signal.SIG_IGN
    finally:
        signal.signal(SIGNAL, before)
