"""Levels by their meaning, with an example that the release shows."""

from __future__ import annotations

import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import BUILDERS, Builder, Dates, Intervals, Ordering, Redaction, SafeHarbor
from kohorte.models import KAnonymity
from kohorte.release.words import level_in_words, levels_in_words
from support.minority import minority, plan_for


def test_a_date_of_birth_is_told_as_decade_with_an_example() -> None:
    frame = pl.DataFrame({"birth_date": [f"194{year}-0{month}-15" for year in range(10) for month in range(1, 9)]})
    dates = {"dates": {"levels": ["month", "year", "decade"]}}
    plan = ko.Plan(
        attributes={"birth_date": {"role": "quasi-identifying", "hierarchy": dates}}, models=[KAnonymity(20)]
    )
    release = ko.anonymize(frame, plan)
    assert levels_in_words(release) == {"birth_date": "decade, for instance 1940-1949 (3 of 4)"}
    assert "  birth_date: decade, for instance 1940-1949 (3 of 4)" in ko.certify(release).to_text()


@pytest.mark.parametrize(
    ("builder", "level", "top", "said"),
    [
        (Dates(levels=["month", "five-years"]), 2, 3, "five years (2 of 3)"),
        (Intervals(lower=0, upper=100, widths=[2.5, 10]), 1, 3, "intervals of 2.5 (1 of 3)"),
        (Intervals(levels=[{"bounds": [0, 18, 100]}]), 1, 2, "intervals (1 of 2)"),
        (Redaction(), 2, 5, "first 3 characters (2 of 5)"),
        (Redaction(order="left_to_right"), 4, 5, "last character (4 of 5)"),
        (Ordering(fanouts=[2, 3]), 2, 3, "groups of 6 neighbours (2 of 3)"),
        (SafeHarbor(kind="age"), 1, 2, "age up to 89 (1 of 2)"),
        (None, 0, 1, "as it is (0 of 1)"),
        (None, 1, 1, "removed (top level, 1 of 1)"),
        (Builder(), 1, 3, "grouped (1 of 3)"),
    ],
)
def test_every_builder_says_what_a_level_means(builder: Builder | None, level: int, top: int, said: str) -> None:
    assert level_in_words(builder, level, top) == said


def test_a_removed_attribute_is_not_called_suppressed() -> None:
    release = ko.anonymize(minority(), plan_for(models=[KAnonymity(290)]))
    said = levels_in_words(release)
    assert said["age"] == "removed (top level, 3 of 3)" or said["sex"] == "removed (top level, 1 of 1)"
    assert not any("suppress" in words for words in said.values())


def test_the_example_is_a_label_of_a_kept_class() -> None:
    release = ko.anonymize(minority(), plan_for(models=[KAnonymity(60)]))
    example = levels_in_words(release)["age"].split("for instance ")[1].split(" (")[0]
    assert example in release.data["age"].to_list()
    assert len(BUILDERS) == 8
