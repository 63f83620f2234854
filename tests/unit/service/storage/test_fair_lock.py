"""A lock that threads get in the order of their arrival."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from kohorte.service.storage.fair_lock import FairLock


def test_who_waits_longest_is_next() -> None:
    lock, order = FairLock(), []
    threads = []

    def take(number: int) -> None:
        with lock:
            order.append(number)

    with lock:
        for number in range(20):
            threads.append(threading.Thread(target=take, args=(number,)))
            threads[-1].start()
            while len(lock._waiting) <= number:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == list(range(20))


def test_only_one_has_its_turn_at_a_time() -> None:
    lock, inside, most = FairLock(), [0], [0]

    def take() -> None:
        for _ in range(200):
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0)
                inside[0] -= 1

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_an_error_gives_the_turn_back() -> None:
    lock = FairLock()
    with pytest.raises(ValueError, match="no"), lock:
        raise ValueError("no")
    with lock:
        pass


class Interrupted(Exception):
    """What a signal raises in whoever waits."""


@contextmanager
def interrupted(before: Callable[[], object]) -> Iterator[None]:
    """Interrupt what this thread waits for in a moment; `before` is called just before that."""

    def handle(number: int, frame: FrameType | None) -> None:
        before()
        raise Interrupted

    handler = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(Interrupted):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


def is_free(lock: FairLock) -> bool:
    def take() -> None:
        with lock:
            pass

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    thread.join(2)
    return not thread.is_alive()


def test_who_stops_waiting_is_not_waited_for() -> None:
    lock = FairLock()
    with lock:
        with interrupted(lambda: None), lock:
            raise AssertionError("out of turn")
        assert not lock._waiting
    assert is_free(lock)


def test_a_turn_that_came_while_somebody_stopped_waiting_is_handed_on() -> None:
    lock = FairLock()
    lock.__enter__()
    with interrupted(lambda: lock.__exit__(None, None, None)), lock:
        raise AssertionError("interrupted before")
    assert is_free(lock)
