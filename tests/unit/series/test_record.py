"""The record of the rows: read back as written, compared with later tables as a multiset."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.series.memory.fingerprints import Recognised
from kohorte.series.memory.record import Comparison, Record, refuse_changes

KEY = b"k" * 32


def seen(rows: list[tuple[str, str]], *, identified: bool = False) -> Recognised:
    frame = pl.DataFrame(rows, schema={"id": pl.String, "value": pl.String}, orient="row")
    return Recognised.of(frame, ["id", "value"], identified_by="id" if identified else None, key=KEY)


def record(rows: list[tuple[str, str]], arrivals: list[int], *, identified: bool = False) -> Record:
    numbers = np.array(arrivals, dtype=np.int64)
    return Record.from_bytes(Record(seen(rows, identified=identified), numbers).to_bytes())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.integers(0, 3)), max_size=8), st.booleans())
def test_a_record_is_read_back_as_it_was_written(rows: list[tuple[str, str, int]], identified: bool) -> None:
    if identified:
        rows = [(f"{number}", value, arrival) for number, (_, value, arrival) in enumerate(rows)]
    known = seen([row[:2] for row in rows], identified=identified)
    numbers = np.array([row[2] for row in rows], dtype=np.int64)
    written = Record(known, numbers)
    again = Record.from_bytes(written.to_bytes())
    assert again.to_bytes() == written.to_bytes()

    def as_rows(one: Record) -> Counter[tuple[object, ...]]:
        identities = one.recognised.identities
        kinds = [()] * len(one) if identities is None else [tuple(row) for row in identities.tolist()]
        columns = (one.recognised.contents.tolist(), one.arrivals.tolist())
        return Counter((tuple(a), b, c) for a, b, c in zip(*columns, kinds, strict=True))

    assert as_rows(again) == as_rows(written)


PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xy")), max_size=8)


@given(PAIRS, PAIRS)
def test_without_identity_rows_are_compared_as_a_multiset(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    found = record(before, [1] * len(before)).compare(seen(after))
    lost = Counter(before) - Counter(after)
    assert found.withdrawn == lost.total()
    assert int((found.known >= 0).sum()) == (Counter(before) & Counter(after)).total()
    assert not found.corrected.any()
    assert found.departed == lost.total()


def test_equal_rows_keep_their_arrivals_whatever_their_order() -> None:
    rows = [("a", "x")] * 3
    found = record(rows, [2, 0, 1]).compare(seen([*rows, ("a", "x")]))
    assert sorted(found.arrivals.tolist()) == [0, 0, 1, 2]


def test_with_identity_corrected_and_withdrawn_rows_are_told_apart() -> None:
    before = record([("a", "x"), ("b", "x"), ("c", "x"), ("d", "x")], [1, 1, 0, 2], identified=True)
    found = before.compare(seen([("e", "x"), ("b", "y"), ("a", "x"), ("c", "y")], identified=True))
    assert found.corrected.tolist() == [False, True, False, True]
    assert found.withdrawn == 1
    assert found.departed == 2  # c was never shown
    assert found.arrivals.tolist() == [0, 0, 1, 0]


def refusal(found: Comparison, **policies: str) -> ko.InputError:
    with pytest.raises(ko.InputError) as refused:
        refuse_changes(found, **{"corrected": "refuse", "withdrawn": "refuse", **policies})
    return refused.value


def test_changes_are_refused_by_row_number_or_by_count_unless_they_are_accepted() -> None:
    before = record([("a", "x"), ("b", "x")], [1, 1], identified=True)
    corrected = before.compare(seen([("a", "x"), ("b", "y")], identified=True))
    assert refusal(corrected).code == "series-corrected"
    assert "the first is row 2" in refusal(corrected).message
    withdrawn = before.compare(seen([("a", "x")], identified=True))
    assert refusal(withdrawn, corrected="accept").code == "series-withdrawn"
    refuse_changes(corrected, corrected="accept", withdrawn="refuse")
    refuse_changes(withdrawn, corrected="refuse", withdrawn="accept")
    nameless = record([("a", "x"), ("b", "x")], [1, 1]).compare(seen([("a", "x"), ("b", "y")]))
    assert "changed or withdrawn" in refusal(nameless).message
