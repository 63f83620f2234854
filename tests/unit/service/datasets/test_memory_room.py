"""The memory of a server process: work on whole tables shares a number of bytes, and kept tables have another."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import polars as pl
import pytest
from fastapi.testclient import TestClient

import kohorte as ko
from kohorte.errors import InputError
from kohorte.plans import proposal
from kohorte.release import PreparedTable
from kohorte.service.context import Service
from kohorte.service.datasets.memory_room import TRYING, MemoryRoom
from kohorte.service.datasets.table_cache import TableCache
from kohorte.service.permissions import Role
from support.projects import store_dataset
from support.screens import enter, words
from support.service import on_sqlite


def test_work_waits_until_there_is_room_and_never_takes_more() -> None:
    room, most, lock, seen = MemoryRoom(10 * TRYING), 0, threading.Lock(), threading.Event()

    def work(cells: int) -> None:
        nonlocal most
        with room.taking(cells):
            with lock:
                most = max(most, room.taken)
            seen.wait(0.005)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, [4, 6, 3, 10, 5, 1, 9, 2] * 3))
    assert 6 * TRYING <= most <= 10 * TRYING
    assert room.taken == 0


def test_work_within_work_does_not_wait_for_itself_and_what_fails_gives_its_room_back() -> None:
    room = MemoryRoom(10 * TRYING)
    with room.taking(10), room.taking(10):
        assert room.taken == 10 * TRYING
    with pytest.raises(ZeroDivisionError), room.taking(10):
        _ = 1 / 0
    assert room.taken == 0


def test_a_table_that_can_never_fit_is_refused_at_once_with_the_setting() -> None:
    with pytest.raises(InputError, match=r"11 cells.*preview_memory") as caught, MemoryRoom(10 * TRYING).taking(11):
        pass
    assert caught.value.code == "preview-too-large"


def test_counted_nodes_are_forgotten_before_a_table_is_dropped_and_releases_stay_the_same() -> None:
    frame = ko.cohort(400, seed=1)
    plan = proposal.propose(frame).plan
    assert plan is not None
    first, second = PreparedTable(frame), PreparedTable(frame.reverse())
    expected = first.anonymize(plan)
    second.anonymize(plan)
    bare = PreparedTable(frame).held_bytes
    cache = TableCache(
        first.held_bytes + second.held_bytes - 1, lambda one: one.held_bytes, PreparedTable.forget_counted
    )
    for name, table in (("a", first), ("b", second)):
        cache.get((name, ""), lambda table=table: table)  # type: ignore[misc]
    before = second.held_bytes
    assert cache.bytes < before + first.held_bytes + 1
    assert bare < first.held_bytes  # still encoded
    assert cache.get(("a", ""), lambda: pytest.fail("the table was dropped")) is first
    assert second.held_bytes == before  # the one used last keeps all
    again = first.anonymize(plan)
    assert (again.cost, again.levels) == (expected.cost, expected.levels)


@on_sqlite
def test_a_page_of_a_table_that_is_too_large_to_look_at_says_so(service: Service, client: TestClient) -> None:
    row = enter(service, client, Role.STEWARD)
    number = store_dataset(service, pl.DataFrame({"age": ["1", "2"] * 60}), row.id)
    client.app.state.service = replace(service, settings=replace(service.settings, preview_memory=100))  # type: ignore[attr-defined]
    page = client.get(f"/app/datasets/{number}")
    assert page.status_code == 200
    assert "120 cells" in words(page)
    assert "preview-too-large" in page.text
