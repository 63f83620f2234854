"""Work that threads bring one by one and that is done together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from kohorte.service.storage.together import Take, Together


class Desk:
    """Doubles numbers; the first turn begins when it is let, so that others come meanwhile."""

    def __init__(self, *, most: int = 64) -> None:
        self.groups: list[list[int]] = []
        self.begins, self.ends = threading.Event(), threading.Event()
        self.is_under_way = threading.Event()
        self.begins.set()
        self.ends.set()
        self.fails: Callable[[Sequence[int]], bool] = lambda _: False
        self.doubled = Together(self._do, most=most)

    def _do(self, first: int, take: Take[int]) -> list[int]:
        self.is_under_way.set()
        assert self.begins.wait(60)
        group = list(take())
        assert group[0] == first
        self.groups.append(group)
        assert self.ends.wait(60)
        if self.fails(group):
            raise ValueError(group)
        return [2 * number for number in group]

    def waiting(self, number: int) -> None:
        """Wait until so many wait."""
        while len(self.doubled._waiting) < number:
            threading.Event().wait(0.001)


@pytest.fixture
def pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(20)


def begun(desk: Desk, pool: ThreadPoolExecutor, numbers: range) -> list[Future[int]]:
    """Let threads come one after the other."""
    found = []
    for place, number in enumerate(numbers, start=1):
        found.append(pool.submit(desk.doubled, number))
        desk.waiting(place)
    return found


def test_who_comes_before_a_turn_begins_is_part_of_it(pool: ThreadPoolExecutor) -> None:
    desk = Desk()
    desk.begins.clear()
    found = begun(desk, pool, range(5))
    desk.begins.set()
    assert [one.result(60) for one in found] == [0, 2, 4, 6, 8]
    assert desk.groups == [[0, 1, 2, 3, 4]]


def test_who_comes_later_is_part_of_the_next_turn(pool: ThreadPoolExecutor) -> None:
    desk = Desk()
    desk.ends.clear()
    first = pool.submit(desk.doubled, 1)
    while not desk.groups:
        threading.Event().wait(0.001)
    desk.begins.clear()
    others = begun(desk, pool, range(2, 5))
    desk.begins.set()
    desk.ends.set()
    assert [one.result(60) for one in (first, *others)] == [2, 4, 6, 8]
    assert desk.groups == [[1], [2, 3, 4]]


def test_a_turn_has_a_limit_and_the_rest_is_done_next(pool: ThreadPoolExecutor) -> None:
    desk = Desk(most=2)
    desk.begins.clear()
    found = begun(desk, pool, range(5))
    desk.begins.set()
    assert [one.result(60) for one in found] == [0, 2, 4, 6, 8]
    assert desk.groups == [[0, 1], [2, 3], [4]]


def test_an_error_is_that_of_its_turn_alone(pool: ThreadPoolExecutor) -> None:
    desk = Desk(most=2)
    desk.fails = lambda group: 0 in group
    desk.begins.clear()
    found = begun(desk, pool, range(4))
    desk.begins.set()
    for one in found[:2]:
        with pytest.raises(ValueError, match=r"\[0, 1\]"):
            one.result(60)
    assert [one.result(60) for one in found[2:]] == [4, 6]


def test_a_turn_that_fails_before_it_begins_keeps_nobody_waiting(pool: ThreadPoolExecutor) -> None:
    calls: list[int] = []

    def fails_first(first: int, take: Take[int]) -> list[int]:
        calls.append(first)
        if len(calls) == 1:
            raise OSError("no lock")
        return [number + 1 for number in take()]

    added = Together(fails_first)
    with pytest.raises(OSError, match="no lock"):
        added(1)
    assert added(2) == 3


def test_hundreds_of_orders_of_many_threads_each_get_their_result(pool: ThreadPoolExecutor) -> None:
    desk = Desk(most=7)
    assert list(pool.map(desk.doubled, range(500))) == [2 * number for number in range(500)]
    assert sorted(number for group in desk.groups for number in group) == list(range(500))
