"""Numbers for people."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte import in_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (in_words.count(1, "row"), "1 row"),
        (in_words.count(0, "row"), "0 rows"),
        (in_words.count(1_234, "class", "classes"), "1,234 classes"),
        (in_words.count(10_000), "10,000"),
        (in_words.number(0.331967), "0.332"),
        (in_words.number(1234567.0), "1,234,567"),
        (in_words.number(0.5), "0.5"),
        (in_words.number(0), "0"),
        (in_words.number(-0.00012345), "-0.000123"),
        (in_words.number(math.inf), "no bound"),
        (in_words.number(math.nan), "not known"),
        (in_words.percent(0.0424), "4.24 %"),
        (in_words.percent(0), "0 %"),
        (in_words.percent(1), "100 %"),
        (in_words.percent(0.99999), "over 99.9 %"),
        (in_words.percent(0.0000012), "0.00012 %"),
        (in_words.number(None), "–"),
        (in_words.count(None, "row"), "–"),
        (in_words.percent(None), "–"),
        (in_words.cost(0.33196664), "0.331967"),
        (in_words.cost(50_411_998.0), "50,411,998"),
        (in_words.compact(0.1234), "0.123"),
        (in_words.compact(50_411_998.0), "50.4 M"),
        (in_words.compact(5e9), "5 G"),
        (in_words.seconds(None), "–"),
        (in_words.seconds(0.01234), "12 ms"),
        (in_words.seconds(0.1), "0.1 s"),
        (in_words.seconds(12.4), "12 s"),
        (in_words.seconds(200), "3 min 20 s"),
        (in_words.seconds(60), "1 min"),
        (in_words.seconds(7500), "2 h 5 min"),
        (in_words.size(512), "512 bytes"),
        (in_words.size(1_420_000_000), "1.42 GB"),
        (in_words.listed(["a"]), "a"),
        (in_words.listed(["a", "b", "c"], "or"), "a, b or c"),
    ],
)
def test_numbers_read_as_people_write_them(text: str, expected: str) -> None:
    assert text == expected


@given(st.floats(min_value=1e-9, max_value=1 - 1e-9))
def test_a_share_between_none_and_all_never_reads_as_none_or_all(share: float) -> None:
    assert in_words.percent(share) not in ("0 %", "100 %")
