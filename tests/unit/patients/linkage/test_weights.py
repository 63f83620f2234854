"""Weights, thresholds and what is left to a person."""

from __future__ import annotations

from math import log2

import pytest

from kohorte.patients.identity import Identity
from kohorte.patients.linkage.blocking import keys_of
from kohorte.patients.linkage.frequencies import Frequencies
from kohorte.patients.linkage.given_names import COMMON
from kohorte.patients.linkage.names import first_names
from kohorte.patients.linkage.record import Record
from kohorte.patients.linkage.weights import FEWEST_PEOPLE, Verdict, Weighing

ANNA = {
    "first_names": "Anna", "last_name": "Eichhorst", "birth_date": "1960-12-30", "sex": "f",
    "postcode": "01067", "place": "Dresden", "insurance_number": "A123456789",
}  # fmt: skip
NO_NUMBER = {"insurance_number": ""}


def record(**fields: str) -> Record:
    return Record.of(Identity(**ANNA | fields))


def weighing(people: int = 100_000, **counts: int) -> Weighing:
    frequencies = Frequencies(records=people)
    for name, count in counts.items():
        frequencies.counts["last"][name] = count
    return Weighing(frequencies, people)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"last_name": "EICHHORST"},
        {"last_name": "Eichorst"} | NO_NUMBER,
        {"first_names": "Anna Maria", "postcode": "", "place": ""} | NO_NUMBER,
        {"last_name": "Bauer", "birth_name": "Eichhorst"} | NO_NUMBER,
        {"first_names": "Eichhorst", "last_name": "Anna"} | NO_NUMBER,
        {"birth_date": "1960-12-31"} | NO_NUMBER,
        {"postcode": "24103", "place": "Kiel"} | NO_NUMBER,
    ],
)
def test_a_person_described_with_one_error_is_the_same(fields: dict[str, str]) -> None:
    assert weighing().compare(record(), record(**fields)).verdict is Verdict.SAME


@pytest.mark.parametrize(
    "fields",
    [
        {"first_names": "Berta"} | NO_NUMBER,  # a twin
        {"first_names": ""} | NO_NUMBER,  # a newborn child
        {"last_name": "Bauer"} | NO_NUMBER,  # married, and the birth name was not asked for
        {"birth_date": ""} | NO_NUMBER,
        {"first_names": "Otto", "last_name": "Bauer", "birth_date": "1999-09-09", "sex": "m"},  # the number of another
        {"first_names": "Berta Anna"} | NO_NUMBER,  # a twin with a common second name
        {"first_names": "Anna Maria", "insurance_number": "B987654321"},
        {"sex": "m"},
    ],
)
def test_what_is_doubtful_is_left_to_a_person(fields: dict[str, str]) -> None:
    assert weighing().compare(record(), record(**fields)).verdict is Verdict.GREY


@pytest.mark.parametrize(
    "fields",
    [
        {"first_names": "Otto", "birth_date": "1958-02-03", "sex": "m"},  # the husband
        {"first_names": "Berta", "last_name": "Koch", "postcode": "24103", "place": "Kiel"},  # born on the same day
        {"first_names": "Berta", "last_name": "Koch", "birth_date": "1999-09-09"},
    ],
)
def test_different_people_are_different(fields: dict[str, str]) -> None:
    assert weighing().compare(record(), record(**fields | NO_NUMBER)).verdict is Verdict.DIFFERENT


def test_a_rare_name_weighs_more_than_a_common_one_by_the_ratio_of_their_shares() -> None:
    compared = weighing(mueller=999, koch=99)
    common = compared.compare(record(last_name="Müller"), record(last_name="Müller")).weight
    rarer = compared.compare(record(last_name="Koch"), record(last_name="Koch")).weight
    assert rarer - common == pytest.approx(log2(10))


def test_a_list_of_eight_times_as_many_people_asks_for_three_bits_more() -> None:
    weights = [Weighing(Frequencies(), people).compare(record(), record()).weight for people in (1, 10_000, 80_000)]
    assert weights[0] == weights[1] == pytest.approx(weights[2] + 3)
    assert FEWEST_PEOPLE == 10_000


def test_two_equal_descriptions_without_first_name_or_day_are_left_to_a_person() -> None:
    """Newborn twins, or two of the many who are registered with 1 January."""
    for fields in ({"first_names": "Baby"}, {"birth_date": "01.01.1990", "postcode": "", "place": ""}):
        found = weighing(mohammad=2_000, eichhorst=2_000).compare(
            record(**fields | NO_NUMBER), record(**fields | NO_NUMBER)
        )
        assert found.verdict is Verdict.GREY


def test_first_names_that_differ_by_a_letter_are_two_names_if_both_are_common() -> None:
    compared = weighing()
    one, other = record(first_names="Verena", **NO_NUMBER), record(first_names="Verina", **NO_NUMBER)
    assert compared.compare(one, other).verdict is Verdict.SAME
    compared.frequencies.counts["first"].update({"verena": 50, "verina": 20})
    assert compared.compare(one, other).verdict is Verdict.GREY


def test_twins_with_names_that_many_have_are_not_joined_by_a_list_that_knows_no_names_yet() -> None:
    for one, other in (("Lena", "Lina"), ("Julia", "Julian"), ("Anna", "Hanna"), ("Timo", "Tino"), ("Selma", "Sema")):
        mine, theirs = (record(first_names=name, sex="", **NO_NUMBER) for name in (one, other))
        assert weighing().compare(mine, theirs).verdict is Verdict.GREY
    mistyped = record(first_names="Lenna", **NO_NUMBER)
    assert weighing().compare(record(first_names="Lena", **NO_NUMBER), mistyped).verdict is Verdict.SAME
    lena, lina = record(first_names="Lena"), record(first_names="Lina")
    assert weighing().compare(lena, lina).verdict is Verdict.SAME  # one insurance number


def test_common_names_are_written_as_names_are_compared() -> None:
    assert [name for name in COMMON if first_names(name).joined != name] == []


def test_frequencies_are_kept_as_text() -> None:
    counted = Frequencies()
    counted.add(one.counted for one in (record(), record(first_names="Anna Maria")))
    again = Frequencies.from_json(counted.to_json())
    assert again == counted
    assert again.counts["first"] == {"anna": 2, "annamaria": 1, "maria": 1}
    assert counted.together_with(again).records == 4
    assert "anna" not in repr(counted)


@pytest.mark.parametrize(
    "fields",
    [
        {"first_names": "Xenia"},
        {"last_name": "Bauer"},
        {"last_name": "Bauer", "birth_name": "Eichhorst", "first_names": "A."},
        {"birth_date": "30.12.1906"},
        {"birth_date": "", "insurance_number": ""},
        {"first_names": "Eichhorst", "last_name": "Anna", "birth_date": "1960-12-13"},
        {"first_names": "X", "last_name": "Y", "birth_date": ""},
    ],
)
def test_records_with_an_error_share_a_key(fields: dict[str, str]) -> None:
    assert keys_of(record()) & keys_of(record(**fields))


def test_records_of_strangers_share_no_key() -> None:
    other = {"first_names": "Otto", "last_name": "Bauer", "birth_date": "1958-02-03", "insurance_number": ""}
    assert not keys_of(record()) & keys_of(record(**other))


def test_a_record_is_sufficient_if_it_can_be_found() -> None:
    nothing = dict.fromkeys(ANNA, "")
    assert not Record.of(Identity(**nothing)).sufficient
    assert not Record.of(Identity(**nothing | {"last_name": "Koch", "first_names": "Anna"})).sufficient
    assert Record.of(Identity(**nothing | {"last_name": "Koch", "birth_date": "1960"})).sufficient
    assert Record.of(Identity(**nothing | {"insurance_number": "A123456789"})).sufficient
