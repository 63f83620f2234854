"""Bloom filters of records: similar for similar people, nothing without the secret."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.patients.encodings.bloom import BITS, BYTES, Encoder, parts_of, similarity
from kohorte.patients.encodings.exchange import Pair, compared, encoded
from kohorte.patients.identity import Identity
from kohorte.patients.linkage.record import Record
from kohorte.trust.keys import Key

SECRET, OTHER_SECRET = Key(1, b"s" * 32), Key(1, b"t" * 32)
ANNA = {"first_names": "Anna", "last_name": "Eichhorst", "birth_date": "1960-12-30", "sex": "f", "postcode": "01067"}


def record(**fields: str) -> Record:
    return Record.of(Identity(**ANNA | fields))


def bits(data: bytes) -> NDArray[Any]:
    return np.frombuffer(data, dtype=np.uint8).reshape(1, -1)


def alike(one: Record, other: Record, secret: Key = SECRET) -> float:
    return float(similarity(bits(Encoder(SECRET).filter(one)), bits(Encoder(secret).filter(other)))[0])


def test_what_is_hashed_of_a_record() -> None:
    assert list(parts_of(record(first_names="Al", last_name="", postcode="1", sex=""))) == [
        ("first", "_a"), ("first", "al"), ("first", "l_"),
        ("date", "01"), ("date", "12"), ("date", "23"), ("date", "30"), ("date", "1230"),
        ("postcode", "01"),
    ]  # fmt: skip


def test_similarity_is_the_dice_coefficient() -> None:
    one, other = (np.packbits(np.array([list(text)], dtype=int), axis=1) for text in ("11110000", "11001100"))
    assert similarity(one, other).tolist() == [2 * 2 / (4 + 4)]


def test_the_more_two_records_agree_the_more_their_filters_do() -> None:
    values = [
        alike(record(), record()),
        alike(record(), record(last_name="Eichorst")),
        alike(record(), record(last_name="Bauer")),
        alike(record(), record(first_names="Otto", last_name="Bauer", birth_date="1960-02-03")),
    ]
    assert values[0] == 1.0
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 4


def test_every_filter_has_half_of_its_bits_set() -> None:
    """So that the number of bits says nothing about the length of a name."""
    for one in (record(), record(first_names="X", last_name="Y"), Record()):
        assert int(np.unpackbits(bits(Encoder(SECRET).filter(one))).sum()) == BITS


def test_a_name_sets_other_bits_for_people_of_another_year_and_under_another_secret() -> None:
    """About as similar as strangers, though only the year differs."""
    stranger = alike(record(), record(first_names="Otto", last_name="Bauer", birth_date="1977-02-03", sex="m"))
    assert alike(record(), record(birth_date="1961-12-30")) == pytest.approx(stranger, abs=0.1)
    assert alike(record(), record(), OTHER_SECRET) < 0.75


def test_two_lists_are_compared_without_names() -> None:
    one = encoded([("a1", record()), ("a2", record(first_names="Otto", birth_date="1950-01-02"))], SECRET)
    other = encoded([("b1", record(last_name="Eichorst")), ("b2", record(first_names="Eva", last_name="Koch"))], SECRET)
    (pair,) = compared(one, other)
    assert (pair.id, pair.other_id, pair.verdict) == ("a1", "b1", "match")
    text = (one.write_csv() + other.write_csv()).lower()
    assert not any(value.lower() in text for value in ANNA.values() if len(value) > 3)


def test_lists_under_different_secrets_have_nothing_in_common() -> None:
    assert compared(encoded([("a", record())], SECRET), encoded([("b", record())], OTHER_SECRET)) == []


def test_few_shared_keys_need_more_similarity() -> None:
    assert Pair("a", "b", 4, 0.88).verdict == "match"
    assert (
        Pair("a", "b", 4, 0.87).verdict == Pair("a", "b", 3, 0.99).verdict == Pair("a", "b", 1, 0.93).verdict == "grey"
    )
    assert Pair("a", "b", 1, 0.92).verdict == Pair("a", "b", 2, 0.79).verdict == "different"


@pytest.mark.parametrize(
    "columns",
    [
        {"id": ["a"], "keys": ["00"], "filter": ["!!!"]},
        {"id": ["a"], "keys": ["00"], "filter": ["AAAA"]},
        {"id": ["a"], "keys": [None], "filter": ["A" * (BYTES * 4 // 3)]},
        {"name": ["Anna"], "keys": ["00"], "filter": ["AAAA"]},
    ],
)
def test_a_file_that_is_no_encoded_list_is_refused(columns: dict[str, list[str | None]]) -> None:
    with pytest.raises(InputError) as caught:
        compared(encoded([("a", record())], SECRET), pl.DataFrame(columns))
    assert caught.value.code == "patients-encoding"
