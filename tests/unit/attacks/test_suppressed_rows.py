"""The homogeneity attack takes suppressed rows for one class, and the reason of a skipped attack is the right one."""

from __future__ import annotations

import random

import polars as pl
import pytest

import kohorte as ko
from kohorte.attacks import homogeneity_attack, run_attacks
from support.wards import frame, plan

Row = tuple[str, str, str, str]
STAYING = {"patient": {"role": "insensitive"}}


def hurt_in(rows: list[Row], gone: set[int], *, by_people: bool) -> tuple[int, int]:
    """Who is in a class, or among the suppressed rows, with a value that all have; and the classes, in plain Python."""
    classes: dict[object, list[int]] = {}
    for at, (_, ward, sex, _) in enumerate(rows):
        classes.setdefault("suppressed" if at in gone else (ward, sex), []).append(at)
    hurt: set[object] = set()
    for members in classes.values():
        whom = {at: rows[at][0] if by_people else at for at in members}
        for value in {rows[at][3] for at in members}:
            if {whom[at] for at in members if rows[at][3] == value} == set(whom.values()):
                hurt |= set(whom.values())
    return len(hurt), len(classes)


def drawn(seed: int) -> tuple[list[Row], set[int]]:
    chance = random.Random(seed)
    number = chance.randrange(4, 14)
    rows = [
        (f"p{chance.randrange(6)}", chance.choice("12"), chance.choice("mf"), chance.choice(["flu", "ulcer"]))
        for _ in range(number)
    ]
    classes = sorted({row[1:3] for row in rows})
    chosen = chance.sample(classes, chance.randrange(len(classes)))
    return rows, {at for at, row in enumerate(rows) if row[1:3] in chosen}


def released(rows: list[Row], gone: set[int]) -> pl.DataFrame:
    shown = [("*", "*", value) if at in gone else (ward, sex, value) for at, (_, ward, sex, value) in enumerate(rows)]
    return pl.DataFrame(shown, schema=["ward", "sex", "diagnosis"], orient="row")


@pytest.mark.parametrize("by_people", [True, False])
def test_suppressed_rows_are_one_more_class(by_people: bool) -> None:
    found, expected = [], []
    for seed in range(40):
        rows, gone = drawn(seed)
        original = frame(rows) if by_people else None
        attack = homogeneity_attack(released(rows, gone), plan(), original=original)
        found.append((attack.hurt, attack.facts["classes"], attack.facts["suppressed_rows_as_class"]))
        expected.append((*hurt_in(rows, gone, by_people=by_people), len(gone)))
    assert found == expected
    assert sum(bool(gone) and hurt > 0 for hurt, _, gone in expected) > 5


def test_a_raw_table_without_person_is_not_asked_for_its_original() -> None:
    rows = frame([("p1", "1", "m", "flu"), ("p1", "1", "m", "ulcer"), ("p2", "1", "m", "flu")])
    unstated = plan(person=None)
    [skipped] = [one for one in run_attacks(rows, unstated).skipped if one.name == "rows of one person"]
    assert "does not say with person" in skipped.reason
    assert skipped.give.startswith("person in the plan")
    [stated] = [one for one in run_attacks(rows, plan()).skipped if "rows of" in one.name]
    assert "--original" in stated.give


@pytest.mark.parametrize(("second", "noted"), [("flu", True), ("ulcer", False)])
def test_what_suppressed_rows_share_is_noted_where_they_name_nobody(second: str, noted: bool) -> None:
    stays = {"column": "patient", "stays_because": "a pseudonym"}
    tied = ko.Plan.from_dict(
        {**plan().to_dict(), "person": stays, "attributes": {**plan().to_dict()["attributes"], **STAYING}}
    )
    rows = [("p1", "1", "m", "flu"), ("p2", "1", "m", "ulcer"), ("*", "*", "*", "flu"), ("*", "*", "*", second)]
    attack = homogeneity_attack(frame(rows), tied)
    assert (attack.hurt, attack.rows_tried, attack.facts["suppressed_rows_as_class"]) == (0, 2, 0)
    assert any("all suppressed rows share a value of 'diagnosis'" in note for note in attack.notes) == noted
