"""Spellings of one identifier are one person wherever people are counted, as in a table of clean identifiers."""

from __future__ import annotations

import random
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.attacks import rows_of_one_person_attack, run_attacks
from kohorte.errors import InputError
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.people.repeated_people import repeated_people
from kohorte.sources import DuckDbSource, FrameSource
from support.stays import Stays

SPELLINGS = "people are counted whatever the spelling"
CHANGES = (
    str.upper,
    lambda text: f" {text}",
    lambda text: f"{text}\u00a0",
    lambda text: unicodedata.normalize("NFD", text),
)


def clean(seed: int) -> Stays:
    """Stays of people whose identifiers have letters that can be written in several ways."""
    return Stays(tuple((row[0].replace("patient", "pätient"), *row[1:]) for row in Stays.drawn(seed).rows))


def spelled(frame: pl.DataFrame, seed: int = 1, column: str = "patient") -> pl.DataFrame:
    """The same table with each identifier written in several ways."""
    chance = random.Random(seed)
    return frame.with_columns(pl.Series(column, [chance.choice(CHANGES)(text) for text in frame[column]]))


def figures(release: ko.Release) -> dict[str, Any]:
    found = release.to_dict()
    found.pop("seconds")
    return found | {"verified": release.verification.to_dict()}


MORE: list[dict[str, Any]] = [
    {},
    {"person": {"column": "patient", "attacker_knows": "all_rows"}},
    {"models": [{"model": "l-diversity_distinct", "attribute": "blood", "l": 2}]},
    {"search": {"algorithm": "mondrian"}},
]


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("seed", range(3))
def test_a_release_counts_people_whatever_their_spelling(seed: int, more: dict[str, Any]) -> None:
    stays = clean(seed)
    plan = stays.plan(limit=0.4, **more)
    assert figures(ko.anonymize(spelled(stays.frame), plan)) == figures(ko.anonymize(stays.frame, plan))


def test_rows_in_duckdb_count_people_whatever_their_spelling(tmp_path: Path) -> None:
    stays = clean(5)
    spelled(stays.frame).write_parquet(tmp_path / "in.parquet")
    found = ko.anonymize(DuckDbSource(tmp_path / "in.parquet"), stays.plan())
    assert figures(found) == figures(ko.anonymize(stays.frame, stays.plan()))


def test_one_person_in_six_spellings_is_not_a_class_of_six() -> None:
    """Fifteen years ago a clerk wrote it like this."""
    names = ["Müller", unicodedata.normalize("NFD", "Müller"), "Müller ", "müller", "\u00a0Müller", "MÜLLER"]
    frame = pl.DataFrame(
        {
            "patient": [*names * 5, *(f"q{number}" for number in range(60))],
            "ward": ["21"] * 30 + ["11"] * 60,
            "age": [50] * 30 + [60] * 60,
            "sex": ["m"] * 30 + ["f"] * 60,
            "blood": ["A", "B", "0"] * 30,
        }
    )
    release = ko.anonymize(frame, Stays(()).plan(k=5, limit=0.4))
    assert release.verification.people == 61
    assert release.suppressed == 30 or release.smallest_class == 61
    [note] = release.person_notes
    assert "5 of 66 values differ from another one only in capital letters" in note
    assert "ller" not in note.lower()


@pytest.mark.parametrize("which", ["verify", "risk", "raw risk", "attack", "rows of one person"])
def test_figures_from_outside_count_people_whatever_their_spelling(which: str) -> None:
    stays = clean(7)
    plan, frame, other = stays.plan(), stays.frame, spelled(stays.frame)
    release = ko.anonymize(frame, plan).data

    def found(original: pl.DataFrame) -> dict[str, object]:
        if which == "verify":
            return ko.verify(release, plan, population=original).to_dict()
        if which == "risk":
            return ko.risk(release, plan, original=original).to_dict()
        if which == "raw risk":
            return {**ko.risk(original, plan).to_dict(), "suspected_identifiers": None}
        if which == "attack":
            return run_attacks(release, plan, original=original).to_dict()
        return rows_of_one_person_attack(release, plan, original).to_dict()

    points = found(other).get("open_points", [SPELLINGS])
    assert [point for point in points if SPELLINGS in point]  # type: ignore[attr-defined]
    assert found(other) | {"open_points": None} == found(frame) | {"open_points": None}


def test_a_population_of_people_is_counted_whatever_their_spelling() -> None:
    stays = clean(9)
    plan = stays.plan()
    both = [ko.risk(stays.frame, plan, population=population) for population in (stays.frame, spelled(stays.frame))]
    assert both[0].to_dict() == both[1].to_dict()


def test_a_subset_and_its_population_are_about_the_same_people_whatever_their_spelling() -> None:
    stays = clean(11)
    frame = stays.frame.with_columns(chosen=pl.int_range(100) % 2)
    more = {
        "attributes": {"chosen": {"role": "insensitive"}},
        "models": [{"model": "delta-presence", "minimum": 0, "maximum": 0.9, "subset": "chosen"}],
    }
    plan = stays.plan(k=2, limit=0.5, **more)
    release = ko.anonymize(frame, plan)
    assert figures(ko.anonymize(spelled(frame), plan)) == figures(release)
    outside = [ko.verify(release.data, plan, population=original) for original in (frame, spelled(frame))]
    assert any(SPELLINGS in point for point in outside[1].open_points)
    assert outside[0] == replace(outside[1], open_points=outside[0].open_points)


def test_an_identifier_of_blanks_says_of_nobody_whom_a_row_is_about() -> None:
    stays = clean(13)
    frame = stays.frame.with_columns(
        patient=pl.when(pl.int_range(100) == 6).then(pl.lit("\u00a0 ")).otherwise(pl.col("patient"))
    )
    with pytest.raises(InputError, match=r"1 row \(7\)") as raised:
        ko.anonymize(frame, stays.plan())
    assert raised.value.code == "person-missing"


def test_people_who_repeat_only_in_other_spellings_are_noticed() -> None:
    frame = pl.DataFrame({"patient_id": ["A1", "a1 ", "B2", "b2"], "age": ["1", "2", "3", "4"]})
    found = repeated_people(FrameSource(frame), {"patient_id": ko.Role.IDENTIFYING})
    assert found is not None
    assert (found.values, found.rows) == (2, 4)


def test_a_table_of_clean_identifiers_gives_no_note_about_spellings() -> None:
    stays = clean(15)
    assert person_notes(FrameSource(stays.frame), stays.plan()) == ()


def test_a_column_that_ties_rows_is_noticed_whatever_the_spelling_of_people() -> None:
    stays = clean(17)
    tied = {"attributes": {"case": {"role": "insensitive"}}}
    frame = stays.frame.with_columns(case="c" + pl.col("patient").str.slice(8))
    assert any("'case' stays" in note for note in person_notes(FrameSource(spelled(frame)), stays.plan(**tied)))
