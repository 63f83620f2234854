"""What notes about people say: identifiers that differ in little, and what to do first."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.data import loose_keys
from kohorte.plans.people.person_notes import person_notes
from kohorte.sources import FrameSource


def plan(person: object, names: tuple[str, ...] = ("patient",)) -> ko.Plan:
    attributes: dict[str, Any] = {name: {"role": "identifying"} for name in names}
    return ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {**attributes, "ward": {"role": "quasi-identifying"}},
            "models": [{"model": "k-anonymity", "k": 2}],
            **({} if person is None else {"person": person}),
        }
    )


def notes(texts: list[str | None], person: object = "patient") -> tuple[str, ...]:
    return person_notes(FrameSource(pl.DataFrame({"patient": texts, "ward": ["1"] * len(texts)})), plan(person))


@pytest.mark.parametrize(
    ("texts", "groups"),
    [
        (["007", "7", "8"], "1 group"),
        (["17", "17.0", "17,00", "18"], "1 group"),
        (["P-17", "P17", "P 18", "p/18", "P19"], "2 groups"),
        (["A007", "A7", "a-7"], "1 group"),
    ],
)
def test_identifiers_that_differ_in_little_are_an_open_point(texts: list[str | None], groups: str) -> None:
    [note] = [one for one in notes(texts) if "people may be counted several times" in one]
    assert f"{groups} of values of 'patient'" in note
    assert not any(text in note for text in texts if text is not None and len(text) > 1)


@pytest.mark.parametrize(
    "texts",
    [["1-23", "12-3", "123"], ["10", "1", "100"], ["P1", "P2", "Q1"], ["1.5", "15"], ["0", "10"]],
)
def test_other_identifiers_are_different_people(texts: list[str | None]) -> None:
    assert notes(texts) == ()


def test_several_columns_are_compared_one_by_one() -> None:
    frame = pl.DataFrame({"clinic": ["1", "01", "11"], "patient": ["12", "12", "2"], "ward": ["1", "1", "1"]})
    chosen = plan(["clinic", "patient"], ("clinic", "patient"))
    [note] = [one for one in person_notes(FrameSource(frame), chosen) if "punctuation" in one]
    assert "1 group of values of 'clinic' and 'patient' differs only in" in note


def test_the_looser_key_against_a_definition_in_plain_python() -> None:
    chance = random.Random(5)
    texts = ["".join(chance.choice("0017ab-. ") for _ in range(chance.randrange(1, 6))) for _ in range(3_000)]
    for text, key in zip(texts, loose_keys(pl.Series(texts)), strict=True):
        assert key == plain(text)


def plain(text: str) -> str:
    """Zeros before a digit at the start of a number, `.0` after whole numbers, and marks beside letters are dropped."""
    whole, _, decimals = text.partition(".")
    if whole.isdigit() and decimals and set(decimals) == {"0"}:
        text = whole
    runs: list[str] = []
    for sign in text:
        kind = "digit" if sign.isdigit() else "letter" if sign.isalpha() else "mark"
        runs.append(f"{kind[0]}{sign if kind != 'mark' else '-'}")
    kept = [run for at, run in enumerate(runs) if run != "m-" or runs[at - 1 : at] != ["m-"]]
    shown = ""
    for at, run in enumerate(kept):
        around = kept[at - 1 : at] + kept[at + 1 : at + 2]
        if run == "m-" and (len(around) < 2 or any(one[0] == "l" for one in around)):
            continue
        shown += run[1]
    out, number = "", ""
    for sign in f"{shown}$":
        if sign.isdigit():
            number += sign
            continue
        out += (number.lstrip("0") or "0") if number else ""
        out, number = out + sign, ""
    return out[:-1]


@pytest.mark.parametrize("person", [None, "none"])
def test_missing_identifiers_are_to_be_filled_in_before_the_plan_names_them(person: object) -> None:
    texts = ["a", "a", "b", None, None]
    [note] = notes(texts, person)
    assert "fill in the 2 missing values of 'patient' or remove these rows, then " in note
    assert "fill in" not in notes(["a", "a", "b"], person)[0]


STATED = {"column": "patient", "counted_because": "the registry gives one number to each person"}


@pytest.mark.parametrize(
    "texts",
    [
        ["007", "7", "8"],
        ["aB3", "Ab3", "c4"],
        [f"{number}/{part}" for number in range(4711, 4731) for part in (1, 2)],
    ],
)
def test_the_author_of_a_plan_can_answer_that_identifiers_differ_in_little(texts: list[str | None]) -> None:
    [note] = notes(texts)
    assert note.endswith("or say in counted_because of person why people are counted rightly")
    assert notes(texts, STATED) == ()


def test_the_answer_about_identifiers_does_not_answer_what_contradicts_the_person() -> None:
    frame = pl.DataFrame(
        {
            "case": [f"c{row}" for row in range(40)],
            "patient_id": [f"p{row % 9}" for row in range(40)],
            "ward": ["1"] * 40,
        }
    )
    stated = {"column": "case", "counted_because": "a reason"}
    [note] = person_notes(FrameSource(frame), plan(stated, ("case", "patient_id")))
    assert "people may be counted several times" in note
    assert "counted_because" not in note


@pytest.mark.parametrize("word", ["k.A.", "unbekannt", "UNKNOWN", "-", "none"])
@pytest.mark.parametrize("person", ["patient", STATED])
def test_rows_whose_person_is_a_word_for_missing_are_an_open_point(word: str, person: object) -> None:
    [note] = notes([word, word, "P1", "P2"], person)
    assert note.startswith("'patient' has words that usually stand for a missing value: rows with the same one count")
    assert word not in note
    assert notes([word, "P1", "P2"], person) == ()  # one row is one person in any case


def test_a_listed_word_for_a_missing_person_is_refused_and_no_note() -> None:
    frame = pl.DataFrame({"patient": ["k.A.", "k.A.", "P1", "P2"], "ward": ["1"] * 4})
    listed = ko.Plan.from_dict({**plan("patient").to_dict(), "missing_values": ["k.A."]})
    assert person_notes(FrameSource(frame), listed) == ()
    with pytest.raises(ko.InputError, match="without a value") as refused:
        ko.anonymize(frame, listed)
    assert refused.value.code == "person-missing"


def test_an_answer_about_identifiers_is_written_kept_and_told_in_the_certificate() -> None:
    stated = plan(STATED)
    assert stated.to_dict()["person"] == {**STATED, "attacker_knows": "one_row"}
    assert ko.Plan.from_dict(stated.to_dict()).fingerprint() == stated.fingerprint() != plan("patient").fingerprint()
    frame = pl.DataFrame({"patient": ["007", "7", "8"], "ward": ["1"] * 3})
    certificate = ko.certify(ko.anonymize(frame, stated)).to_text()
    assert "stated by the author of the plan (counted_because)" in " ".join(certificate.split())
    assert "people may be counted several times" not in certificate


@pytest.mark.parametrize("reason", [7, None, ["a"]])
def test_an_answer_about_identifiers_is_a_text(reason: object) -> None:
    with pytest.raises(ko.InputError, match="counted_because is a text") as refused:
        plan({"column": "patient", "counted_because": reason})
    assert refused.value.code == "plan-person"
