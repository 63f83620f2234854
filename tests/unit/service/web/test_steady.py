"""Answers come at even times, and nobody takes all turns."""

import asyncio
import threading
import time

import pytest

from kohorte.service.web import steady


def taken(seconds: float, *, error: bool = False) -> float:
    """How long the answer to work of so many seconds takes."""

    def work() -> None:
        time.sleep(seconds)
        if error:
            raise ValueError("no")

    async def run() -> float:
        came = time.monotonic()
        try:
            await steady.asked(1, work)
        except ValueError:
            assert error
        return time.monotonic() - came

    return asyncio.run(run())


@pytest.mark.parametrize("error", [False, True])
def test_work_of_different_length_is_answered_after_the_same_time(error: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steady, "STEP_SECONDS", 0.4)
    times = [taken(seconds, error=error) for seconds in (0.0, 0.05, 0.1)]
    assert all(0.4 <= found < 0.6 for found in times)


def test_the_next_full_step_is_waited_for() -> None:
    assert steady.until_full_step(0.07) == pytest.approx(0.03)
    assert 0 < steady.until_full_step(0.0499) < 0.001


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
        await asyncio.gather(*(steady.asked(1, work) for _ in range(30)))

    asyncio.run(run())
    assert most[0] == steady.OF_ONE_USER < steady.AT_ONCE
