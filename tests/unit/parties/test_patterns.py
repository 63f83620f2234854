"""Codes, numbers and dates that nobody lists are exchanged alike at all parties, by how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from kohorte.parties.dummy_rows.mirrored import known_to_all, not_exchanged, with_mirrored_rows
from kohorte.parties.dummy_rows.whole import LONGEST_TEXT
from kohorte.parties.own_table import labels_of, own_table
from support.joint_studies import written_study

Pairs = dict[str | None, str | None]

REDACTED = {
    "zip": ({"length": 5}, ["81667", "81675", "8167", "97070", "1067", "01067", "A-10", "b7c"]),
    "from the left": ({"length": 4, "order": "left_to_right"}, ["1", "21", "321", "4321", "x321", "X-21", "ä321"]),
    "padded": ({"length": 4, "padding": "0", "mask": "x"}, ["1", "10", "100", "1000", "12", "x1", "xx"]),
}
NUMBERS = ["0", "7", "07", "9.5", "-3", "-0.5", "-0", "45", "45.0", "45.50", "99", "99.999", "+12", "63", "120", "-40"]
MEASURED = {
    "ages": {"lower": 0, "upper": 100, "widths": [10, 50], "below": "group", "above": "group"},
    "single years": {"lower": 0, "upper": 100, "widths": [1, 5, 20], "integer": True},
    "cut": {"lower": -50, "upper": 145, "widths": [20, 40], "above": "group"},
    "tenths": {"lower": -50, "upper": 150, "widths": [2.5, 5]},
    "named": {"levels": [{"bounds": [-50, 18, 65, 200], "labels": ["young", "adult", "old"]}]},
    "comma": {"lower": 0, "upper": 100, "widths": [10], "decimal": ",", "below": "group", "above": "group"},
}
DAYS = [
    f"20{year:02}-{month:02}-{day:02}" for year in (3, 19, 20, 24) for month in (1, 2, 5, 11) for day in (1, 15, 28)
]
DAYS += ["2024-02-29", "2019-01-31", "2020-05-31", "2020-11-30", "1931-12-31", "2024-2-3", "0050-01-02", "9999-12-31"]
DATED = {
    "days": ({}, DAYS),
    "days as a level": ({"levels": ["day", "month", "year"]}, DAYS),
    "years": ({"levels": ["year", "five-years", "decade", "century"]}, DAYS),
    "weeks": ({"levels": ["day", "week"]}, DAYS),
    "months": (
        {"format": "%Y-%m", "levels": ["month", "quarter"]},
        sorted({day[:7] for day in DAYS if len(day) == 10}),
    ),
    "hours": (
        {"format": "%d.%m.%Y %H:%M", "levels": ["hour", "day", "year"]},
        ["01.02.2024 07:30", "1.2.2024 07:31", "31.01.2024 23:59", "31.05.2019 00:00"],
    ),
    "names": ({"format": "%d. %B %Y", "levels": ["month", "year"]}, ["1. März 2024", "31. Mai 2024", "2. May 2024"]),
}
CASES = {
    **{name: ({"redaction": options}, values) for name, (options, values) in REDACTED.items()},
    **{name: ({"intervals": options}, NUMBERS) for name, options in MEASURED.items()},
    **{name: ({"dates": options}, values) for name, (options, values) in DATED.items()},
}


def exchanged(folder: Path, hierarchy: object, values: Sequence[str | None], **options: Any) -> tuple[Pairs, list[Any]]:
    """What becomes of each label of these values, and the labels of all values and their partners."""
    attribute = {"role": "quasi-identifying", "hierarchy": hierarchy, "minimum_level": options.pop("minimum_level", 0)}
    plan = {"kohorte": 1, "attributes": {"x": attribute}, "models": [{"model": "k-anonymity", "k": 2}]} | options
    study = written_study(folder, plan, protocol="C", dummies=None, pregeneralize=bool(attribute["minimum_level"]))
    builder = study.plan.attributes["x"].hierarchy
    assert builder is not None
    known = builder.build([value for value in values if value], attribute="x").values
    frame = pl.DataFrame({"x": [value for value in values if value is None or value in known]}, {"x": pl.String})
    own = own_table(frame, study, "clinic-a", lengths={})
    whole = with_mirrored_rows(own, known_to_all(study), lambda name: name.encode(), b"").columns["x"]
    labels, half = labels_of(whole), frame.height
    pairs: Pairs = {}
    for real, dummy in zip(whole.codes[:half], whole.codes[half:], strict=True):
        for one, other in zip(labels[real], labels[dummy], strict=True):
            assert pairs.setdefault(one, other) == other, "a text has one partner, wherever it is shown"
    return pairs, labels


def some(values: Sequence[str], number: int) -> list[str | None]:
    """Some of the values, for a party of its own."""
    chosen = np.random.default_rng(number).permutation(len(values))[: max(2, len(values) // 2)]
    return [*(values[place] for place in chosen), None]


@pytest.mark.parametrize("case", CASES)
def test_a_pattern_is_its_own_inverse_and_keeps_the_hierarchy_at_all_parties(case: str, tmp_path: Path) -> None:
    hierarchy, values = CASES[case]
    values = [value.replace(".", ",") if case == "comma" else value for value in values]
    pairs: Pairs = {}
    above: dict[tuple[int, str | None], str | None] = {}
    for number in range(4):
        own, labels = exchanged(tmp_path, hierarchy, some(values, number))
        assert all(pairs.setdefault(one, other) == other for one, other in own.items()), "all parties exchange alike"
        for row in labels:
            for level in range(len(row) - 1):
                assert above.setdefault((level, row[level]), row[level + 1]) == row[level + 1]
    assert len(set(pairs.values())) == len(pairs)
    assert all(pairs[other] == one for one, other in pairs.items() if other in pairs)
    assert pairs[None] is None
    assert sum(one != other for one, other in pairs.items()) > len(pairs) / 2
    assert all(len(str(text).encode()) <= LONGEST_TEXT for text in pairs.values())


@pytest.mark.parametrize("case", [case for case in CASES if case != "names"])
def test_the_partner_of_a_partner_is_the_value_itself(case: str, tmp_path: Path) -> None:
    """Partners that are real values, as another party may have them; nobody has invented ones."""
    hierarchy, values = CASES[case]
    values = [value.replace(".", ",") if case == "comma" else value for value in values]
    pairs, labels = exchanged(tmp_path, hierarchy, values)
    partners = [row[0] for row in labels if row[0] in set(pairs.values()) and "\0" not in str(row[0])]
    back, _ = exchanged(tmp_path, hierarchy, partners)
    assert len(partners) > 1
    assert all(back[pairs[one]] == one for one in pairs if pairs[one] in back)


@pytest.mark.parametrize("case", ["zip", "ages", "days", "weeks", "hours"])
def test_values_that_were_generalized_before_are_exchanged_as_their_labels(case: str, tmp_path: Path) -> None:
    hierarchy, values = CASES[case]
    pairs, labels = exchanged(tmp_path, hierarchy, values)
    coarse, shown = exchanged(tmp_path, hierarchy, values, minimum_level=1)
    assert all(row[0] == row[1] for row in shown)
    assert all(pairs[one] == other for one, other in coarse.items() if case != "ages")
    assert {row[1:] for row in labels} == {row[1:] for row in shown} or case == "ages"


def test_shares_that_are_sent_are_exchanged_for_equal_ones(tmp_path: Path) -> None:
    """The last interval is cut off at 95: its share of the domain is smaller, and it stays what it is."""
    options = {"lower": 0, "upper": 95, "widths": [10, 30]}
    pairs, _ = exchanged(tmp_path, {"intervals": options}, [str(age) for age in range(95)], metric={"metric": "loss"})
    assert pairs["[90, 95)"] == "[90, 95)"
    assert pairs["94"] != "94"
    assert len({pairs[f"[{start}, {start + 30})"] for start in (0, 30, 60)}) == 3


def test_numbers_and_dates_are_mixed_with_those_of_others(tmp_path: Path) -> None:
    """Partners are values that can occur: otherwise the halves would be two separate tables."""
    ages, _ = exchanged(tmp_path, CASES["ages"][0], [str(age) for age in range(100)])
    assert {ages[str(age)] for age in range(100)} == {str(age) for age in range(100)}
    days, _ = exchanged(tmp_path, CASES["days"][0], DAYS)
    assert sum("\0" in str(day) for day in days.values()) < len(DAYS) / 4


def test_columns_without_a_list_or_a_pattern_are_named(tmp_path: Path) -> None:
    numbers = {"intervals": {"levels": [{"bounds": [0, 50, 100], "labels": ["1", "2"]}]}}
    attributes = {
        "age": {"role": "quasi-identifying", "hierarchy": CASES["ages"][0]},
        "sex": {"role": "quasi-identifying"},
        "day": {"role": "quasi-identifying", "hierarchy": {"dates": {"format": "%Y-%d-%m", "levels": ["day"]}}},
        "grade": {"role": "quasi-identifying", "hierarchy": numbers},
        "many": {
            "role": "quasi-identifying",
            "hierarchy": {"intervals": {"lower": 0, "upper": 10**9, "widths": [1]}},
        },
        "note": {"role": "insensitive"},
    }
    plan = {"kohorte": 1, "attributes": attributes, "models": [{"model": "k-anonymity", "k": 2}]}
    assert not_exchanged(written_study(tmp_path, plan, protocol="C", dummies=None)) == ["sex", "day", "grade", "many"]
