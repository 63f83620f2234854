"""Fingerprints: equal for equal rows only, useless without the key."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.series.memory.fingerprints import Recognised, fingerprints, key_check, new_key, row_texts, shuffled

KEY = b"k" * 32
CELLS = st.one_of(st.none(), st.text(alphabet="1:-2ä\n", max_size=4))


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=2, max_size=6))
def test_rows_have_the_same_text_exactly_if_they_are_the_same(rows: list[tuple[str | None, ...]]) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String, "c": pl.String}, orient="row")
    texts = row_texts(frame, ["a", "b", "c"]).to_list()
    same = [tuple(cell or None for cell in row) for row in rows]  # the empty text is a missing value, as everywhere
    for one, text in zip(same, texts, strict=True):
        for other, other_text in zip(same, texts, strict=True):
            assert (one == other) == (text == other_text)


def test_fingerprints_depend_on_key_purpose_and_columns_but_not_on_the_type_of_numbers() -> None:
    frame = pl.DataFrame({"a": ["1", "2"], "b": ["x", "y"]})
    plain = fingerprints(frame, ["a", "b"], key=KEY, purpose=b"content")
    assert plain.shape == (2, 2)
    for other in (
        fingerprints(frame, ["a", "b"], key=b"j" * 32, purpose=b"content"),
        fingerprints(frame, ["a", "b"], key=KEY, purpose=b"identity"),
        fingerprints(frame, ["b", "a"], key=KEY, purpose=b"content"),
    ):
        assert not (plain == other).any()
    numbers = frame.with_columns(pl.col("a").cast(pl.Float64))
    assert (fingerprints(numbers, ["a", "b"], key=KEY, purpose=b"content") == plain).all()


def test_an_identity_must_be_there_and_be_one_of_its_kind() -> None:
    for values, said in ((["p", None, "q"], "1 row (2)"), (["p", "q", "p"], "2 rows (1, 3)")):
        with pytest.raises(ko.InputError, match="'id'") as refused:
            Recognised.of(pl.DataFrame({"id": values}), ["id"], identified_by="id", key=KEY)
        assert refused.value.code == "series-identity"
        assert said in refused.value.message


def test_the_order_of_a_release_is_its_own_and_does_not_depend_on_that_of_the_table() -> None:
    frame = pl.DataFrame({"a": range(500)})
    prints = fingerprints(frame, ["a"], key=KEY, purpose=b"content")
    turned = prints[::-1]
    first = shuffled(prints, 1, key=KEY)
    assert sorted(first.tolist()) == list(range(500))
    assert (prints[first] == turned[shuffled(turned, 1, key=KEY)]).all()
    assert (first != shuffled(prints, 2, key=KEY)).mean() > 0.9
    assert (first != shuffled(prints, 1, key=b"j" * 32)).mean() > 0.9


def test_keys_are_random_and_are_known_by_a_check_value() -> None:
    one, other = new_key(), new_key()
    assert one != other
    assert key_check(one) == key_check(one) != key_check(other)
    assert one.hex() not in key_check(one)


def test_equal_rows_do_not_stand_side_by_side_in_a_release() -> None:
    frame = pl.DataFrame({"x": [str(number % 500) for number in range(1_000)]})
    key = new_key()
    prints = fingerprints(frame, ["x"], key=key, purpose=b"content")
    for number in (1, 2, 3):
        order = shuffled(prints, number, key=key)
        assert sorted(order.tolist()) == list(range(1_000))
        values = frame["x"].to_numpy()[order]
        assert int((values[1:] == values[:-1]).sum()) < 12  # about one of 999 pairs of neighbours by chance


def test_equal_rows_get_the_same_positions_whatever_their_order_in_the_table() -> None:
    values = ["a", "b", "a", "c", "a", "b"]
    key = new_key()
    shown = []
    for table in (values, values[::-1], sorted(values)):
        frame = pl.DataFrame({"x": table})
        order = shuffled(fingerprints(frame, ["x"], key=key, purpose=b"content"), 1, key=key)
        shown.append(frame["x"].to_numpy()[order].tolist())
    assert shown[0] == shown[1] == shown[2]
