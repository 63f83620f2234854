"""Tables kept in memory: few loads, few bytes, nothing of what is gone."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

from kohorte.dp import QueryMetadata, typed_table
from kohorte.dp.schema.typed import TypedTable
from kohorte.errors import InputError
from kohorte.service.datasets.table_cache import TableCache

METADATA = QueryMetadata("t", {"age": {"datatype": "int"}}, {"epsilon": 1})  # type: ignore[arg-type, dict-item]


def table(rows: int = 1000) -> TypedTable:
    return typed_table(pl.DataFrame({"age": range(rows)}), METADATA)


SIZE = table().frame.estimated_size()


def test_a_table_is_loaded_once_however_many_ask_at_once() -> None:
    cache, loads = TableCache(10 * SIZE), []

    def load() -> TypedTable:
        loads.append(1)
        time.sleep(0.05)
        return table()

    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda _: cache.get(("a", "m"), load), range(40)))
    assert len(loads) == 1
    assert all(one is found[0] for one in found)


def test_tables_that_were_not_used_for_longest_go_first() -> None:
    cache = TableCache(2 * SIZE)
    for name in ("a", "b"):
        cache.get((name, "m"), table)
    cache.get(("a", "m"), _refuse)
    cache.get(("c", "m"), table)
    assert cache.bytes == 2 * SIZE
    cache.get(("a", "m"), _refuse)
    with pytest.raises(InputError):
        cache.get(("b", "m"), _refuse)


def test_a_table_that_is_too_large_to_keep_is_still_given() -> None:
    cache = TableCache(SIZE - 1)
    assert cache.get(("a", "m"), table).frame.height == 1000
    assert cache.bytes == 0


def test_a_load_that_fails_is_tried_again() -> None:
    cache = TableCache(SIZE)
    with pytest.raises(InputError):
        cache.get(("a", "m"), _refuse)
    assert cache.get(("a", "m"), table).frame.height == 1000


def test_a_forgotten_table_is_not_kept_even_if_it_was_being_loaded() -> None:
    cache, begun, go_on = TableCache(10 * SIZE), threading.Event(), threading.Event()

    def slow() -> TypedTable:
        begun.set()
        go_on.wait(10)
        return table()

    cache.get(("a", "n"), table)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cache.get, ("a", "m"), slow)
        begun.wait(10)
        cache.forget("a")
        go_on.set()
        assert waiting.result().frame.height == 1000
    assert cache.bytes == 0


def _refuse() -> TypedTable:
    raise InputError("it should not be loaded", code="query-table")
