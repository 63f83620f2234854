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
