"""A lock that is given in turn."""

import threading
import time

import pytest

from kohorte.service.storage.turns import Turns


def test_who_waits_longest_is_next() -> None:
    turns, order = Turns(), []
    threads = []

    def take(number: int) -> None:
        with turns:
            order.append(number)

    with turns:
        for number in range(20):
            threads.append(threading.Thread(target=take, args=(number,)))
            threads[-1].start()
            while len(turns._waiting) <= number:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == list(range(20))


def test_only_one_has_its_turn_at_a_time() -> None:
    turns, inside, most = Turns(), [0], [0]

    def take() -> None:
        for _ in range(200):
            with turns:
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
    turns = Turns()
    with pytest.raises(ValueError, match="no"), turns:
        raise ValueError("no")
    with turns:
        pass
