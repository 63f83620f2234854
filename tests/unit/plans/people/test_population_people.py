"""A population file in which people have several rows: people are counted, or the verdict is amber."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.models import DeltaPresence, KMap
from kohorte.plans.people.person_notes import person_notes
from kohorte.sources import FrameSource

MEN_WITH_MANY_STAYS = {
    "pid": ["p0"] * 5 + ["P1 "] * 5 + [f"p{i}" for i in range(2, 30)],
    "sex": ["m"] * 10 + ["f"] * 28,
}
TWO_MEN = pl.DataFrame(
    {"pid": [f"p{i}" for i in range(10)], "sex": ["m"] * 2 + ["f"] * 8, "diagnosis": ["flu", "gout"] * 5}
)


def plan_of(model: ko.models.PrivacyModel, folder: Path, **options: Any) -> ko.Plan:
    attributes = {"pid": "identifying", "sex": "quasi-identifying", "diagnosis": "sensitive"}
    made = ko.Plan(
        attributes={name: ko.Attribute(role) for name, role in attributes.items()}, models=[model], **options
    )
    return ko.Plan.from_dict(made.to_dict(), folder=folder)


def written(folder: Path, columns: dict[str, list[str]]) -> str:
    pl.DataFrame(columns).write_csv(folder / "population.csv")
    return "population.csv"


def test_a_population_is_counted_by_people_if_it_says_whom_its_rows_are_about(tmp_path: Path) -> None:
    model = KMap(k=5, population=written(tmp_path, MEN_WITH_MANY_STAYS))
    release = ko.anonymize(TWO_MEN, plan_of(model, tmp_path, person="pid"))
    assert release.levels == {"sex": 1}, "only two men live there, whatever the number of their stays"
    verdict = ko.verify(TWO_MEN.drop("pid"), plan_of(model, tmp_path, person="pid"), population=TWO_MEN)
    assert not verdict.models[0].satisfied
    assert verdict.models[0].reached == 2


@pytest.mark.parametrize(
    "model", [KMap(k=3, population="population.csv"), DeltaPresence(0, 0.6, population="population.csv")]
)
def test_several_rows_of_a_person_need_one_row_in_the_population(tmp_path: Path, model: Any) -> None:
    people = {"pid": [f"p{i}" for i in range(14)], "sex": [("m", "f")[i % 2] for i in range(14)]}
    written(tmp_path, people)
    stays = pl.DataFrame(people).head(6).with_columns(diagnosis=pl.Series(["flu", "flu", "gout"] * 2))
    table, plan = pl.concat([stays] * 4), plan_of(model, tmp_path, person="pid")
    release = ko.anonymize(table, plan)
    assert release.levels == {"sex": 0}
    assert ko.verify(release.data, plan, population=table).satisfied


def test_people_who_are_missing_in_a_population_are_found_by_people(tmp_path: Path) -> None:
    model = KMap(k=1, population=written(tmp_path, {"pid": ["p0"] * 9 + ["p5"], "sex": ["m"] * 9 + ["f"]}))
    with pytest.raises(ko.InputError) as caught:
        ko.anonymize(TWO_MEN, plan_of(model, tmp_path, person="pid"))
    assert caught.value.code == "population-lacks-rows"


def test_a_row_of_a_population_that_names_nobody_is_refused(tmp_path: Path) -> None:
    model = KMap(k=1, population=written(tmp_path, {"pid": ["p0", "", "p2"], "sex": ["m", "m", "f"]}))
    with pytest.raises(ko.InputError, match="'pid'") as caught:
        ko.anonymize(TWO_MEN, plan_of(model, tmp_path, person="pid"))
    assert caught.value.code == "population-missing-values"


@pytest.mark.parametrize("person", [None, "none"])
def test_repeated_identifiers_of_a_population_are_an_open_point(tmp_path: Path, person: str | None) -> None:
    model = KMap(k=5, population=written(tmp_path, MEN_WITH_MANY_STAYS))
    note = person_notes(FrameSource(TWO_MEN), plan_of(model, tmp_path, person=person))[-1]
    assert note.startswith("the population table population.csv seems to have several rows for one person")
    assert "'pid' has 30 different values in 38 rows" in note
    assert "p1" not in note
    release = ko.anonymize(TWO_MEN, plan_of(model, tmp_path, person=person))
    assert note in ko.certify(release).facts["warnings"]


def test_a_population_with_one_row_per_person_is_no_open_point(tmp_path: Path) -> None:
    model = KMap(k=2, population=written(tmp_path, {name: MEN_WITH_MANY_STAYS[name][4:6] for name in ("pid", "sex")}))
    for person in ("pid", "none"):
        notes = person_notes(FrameSource(TWO_MEN), plan_of(model, tmp_path, person=person))
        assert not any("population" in note for note in notes)


@pytest.mark.slow
def test_random_populations_agree_with_a_count_by_hand(tmp_path: Path) -> None:
    for seed in range(40):
        dice = random.Random(seed)
        people = [(f"p{i}", dice.choice("mfd")) for i in range(dice.randrange(4, 12))]
        rows = [one for one in people for _ in range(dice.randrange(1, 5))]
        table = [one for one in people[:4] for _ in range(dice.randrange(1, 4))]
        written(tmp_path, {"pid": [pid for pid, _ in rows], "sex": [sex for _, sex in rows]})
        k = dice.randrange(2, 5)
        frame = pl.DataFrame(table, schema=["pid", "sex"], orient="row").with_columns(diagnosis=pl.lit("flu"))
        release = ko.anonymize(frame, plan_of(KMap(k=k, population="population.csv"), tmp_path, person="pid"))
        shown = {sex: sum(other == sex for _, other in people) for _, sex in people[:4]}
        inside = [sum(other == sex for _, other in people[:4]) for _, sex in people[:4]]
        assert (release.levels["sex"] == 0) == (min(shown.values()) >= k and min(inside) >= 2), seed
