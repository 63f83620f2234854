"""Answers come at even times, and nobody takes all turns."""

import asyncio
import threading
import time

import pytest

from kohorte.service.web.execution import constant_time


class Clock:
    """A clock that only work and waiting move, so that the speed of the machine does not count."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def taken(clock: Clock, seconds: float, *, error: bool = False, step: float | None = None) -> float:
    """How long the answer to work of so many seconds takes; with a step, to work about people."""

    def work() -> None:
        clock.now += seconds
        if error:
            raise ValueError("no")

    async def run() -> float:
        came = clock.now
        try:
            await (constant_time.run_query(1, work) if step is None else constant_time.run_discreetly(step, work))
        except ValueError:
            assert error
        return clock.now - came

    return asyncio.run(run())


@pytest.mark.parametrize("error", [False, True])
def test_work_of_different_length_is_answered_after_the_same_time(error: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(constant_time, "STEP_SECONDS", 0.4)
    monkeypatch.setattr(constant_time, "time", clock)
    monkeypatch.setattr(constant_time.asyncio, "sleep", clock.sleep)
    assert [taken(clock, seconds, error=error) for seconds in (0.0, 0.05, 0.1)] == pytest.approx([0.4] * 3)
    assert taken(clock, 0.5, error=error) == pytest.approx(0.8)


@pytest.mark.parametrize("error", [False, True])
def test_known_and_new_people_are_answered_after_the_same_time(error: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(constant_time, "time", clock)
    monkeypatch.setattr(constant_time.asyncio, "sleep", clock.sleep)
    assert [taken(clock, one, error=error, step=0.5) for one in (0.01, 0.09, 0.4)] == pytest.approx([0.5] * 3)
    assert taken(clock, 0.6, error=error, step=0.5) == pytest.approx(1.0)


def test_the_next_full_step_is_waited_for() -> None:
    assert constant_time.until_full_step(0.07) == pytest.approx(0.03)
    assert 0 < constant_time.until_full_step(0.0499) < 0.001


def test_one_user_leaves_turns_for_others() -> None:
    under_way, most, lock = [0], [0], threading.Lock()

    def work() -> None:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(0.02)
        with lock:
            under_way[0] -= 1

    async def run() -> None:
        await asyncio.gather(*(constant_time.run_query(1, work) for _ in range(2 * constant_time.OF_ONE_USER)))

    asyncio.run(run())
    assert most[0] == constant_time.OF_ONE_USER < constant_time.AT_ONCE
