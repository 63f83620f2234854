"""A series that counts people: rows of one person may arrive in different releases."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InputError, KohorteError
from kohorte.series import SeriesSettings
from support.growing import SETTINGS, patients, plan

K = 3


def stays(rows: int, *, people: int, seed: int) -> pl.DataFrame:
    """A growing table: every row has its own number, which stays in the release, so that the oracle finds it again."""
    random = np.random.default_rng(seed)
    size = 2_000
    columns = {
        "person": random.integers(0, people, size).astype(str),
        "row": np.arange(size).astype(str),
        "age": random.integers(0, 100, size).astype(str),
        "diagnosis": random.choice(["flu", "tb", "asthma"], size),
    }
    return pl.DataFrame({name: values[:rows] for name, values in columns.items()})


def people_plan(**changes: object) -> ko.Plan:
    entries: dict[str, object] = {
        "kohorte": 1,
        "attributes": {
            "person": {"role": "identifying"},
            "row": {"role": "insensitive"},
            "age": {
                "role": "quasi-identifying",
                "hierarchy": {"intervals": {"lower": 0, "upper": 120, "widths": [5, 10, 20], "integer": True}},
            },
            "diagnosis": {"role": "sensitive"},
        },
        "models": [{"model": "k-anonymity", "k": K}],
        "suppression_limit": 0.9,
        "person": "person",
    }
    return ko.Plan.from_dict(entries | changes)


def fewest_people(releases: list[pl.DataFrame], table: pl.DataFrame, *, arrivals: bool = False) -> int:
    """The oracle: the fewest people whose rows look the same in all releases, in plain Python."""
    whom = dict(zip(table["row"], table["person"], strict=True))
    fewest = 10**9
    seen: dict[str, tuple[tuple[int, str], ...]] = defaultdict(tuple)
    for number, release in enumerate(releases):
        groups: dict[object, set[str]] = defaultdict(set)
        linked: dict[object, set[str]] = defaultdict(set)
        for row, age in zip(release["row"], release["age"], strict=True):
            seen[row] += ((number, age),)
            groups[age].add(whom[row])
        if arrivals:
            for row in release["row"]:
                linked[seen[row]].add(whom[row])
        fewest = min([fewest, *map(len, groups.values()), *map(len, linked.values())])
    return fewest


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["regions", "full-domain"])
@pytest.mark.parametrize("arrivals", ["unknown", "known"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_region_of_every_release_has_k_different_people(
    tmp_path: Path, kind: str, arrivals: str, seed: int
) -> None:
    series = ko.Series.start(tmp_path / "series", people_plan(), {"kind": kind, "arrivals": arrivals})
    table, shown = stays(240, people=25 + 10 * seed, seed=seed), []
    for rows in (40, 90, 91, 160, 240):
        release = series.release(table[:rows])
        shown.append(release.data)
        assert "person" not in release.data.columns
        assert fewest_people(shown[-1:], table) == release.smallest_region
        assert release.people == table.filter(pl.col("row").is_in(release.data["row"].implode()))["person"].n_unique()
        assert release.certificate.facts["verification"]["unit"] == "people"  # type: ignore[index, union-attr]
    assert fewest_people(shown, table, arrivals=arrivals == "known") >= K
    verdict = series.verify(table)
    assert verdict.satisfied, verdict.problems
    assert all(release.candidates is not None and release.candidates >= K for release in verdict.releases)


@pytest.mark.parametrize("kind", ["regions", "full-domain"])
def test_a_series_counts_people_whatever_their_spelling(tmp_path: Path, kind: str) -> None:
    table = stays(160, people=30, seed=4)
    other = pl.when(pl.int_range(160) % 2 == 0).then(pl.col("person").str.to_uppercase() + " ").otherwise("person")
    found = []
    for number, frame in enumerate((table, table.with_columns(person=other))):
        release = ko.Series.start(tmp_path / f"{number}", people_plan(), {"kind": kind}).release(frame)
        found.append((release.people, release.smallest_region, release.data.sort("row").rows()))
    assert found[0] == found[1]


def test_the_same_table_counted_in_rows_would_leave_regions_of_fewer_people(tmp_path: Path) -> None:
    table = stays(240, people=12, seed=5)
    by_rows = ko.Series.start(tmp_path / "rows", people_plan(person="none"))
    by_people = ko.Series.start(tmp_path / "people", people_plan())
    assert fewest_people([by_rows.release(table).data], table) < K
    assert fewest_people([by_people.release(table).data], table) >= K


def test_many_rows_of_few_people_are_held_back(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "person": ["a"] * 20 + ["b"] * 20,
            "row": [str(number) for number in range(40)],
            "age": ["30"] * 40,
            "diagnosis": ["flu"] * 40,
        }
    )
    series = ko.Series.start(tmp_path / "series", people_plan(suppression_limit=1.0))
    with pytest.raises(KohorteError) as refused:
        series.release(table)
    assert refused.value.code == "series-nothing-shown"
    words = " ".join(series.status(table).in_words())
    assert "1 more person would let them be shown" in words
    third = table.with_row_index().filter(pl.col("index") == 0).drop("index")
    release = series.release(pl.concat([table, third.with_columns(person=pl.lit("c"), row=pl.lit("40"))]))
    assert (release.shown, release.people, release.smallest_region) == (41, 3, 3)


def test_diversity_in_a_series_is_judged_by_people(tmp_path: Path) -> None:
    models = [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2}]
    series = ko.Series.start(tmp_path / "series", people_plan(models=models))
    table = stays(200, people=30, seed=9)
    assert series.release(table[:100]).people is not None
    series.release(table)
    assert series.verify(table).satisfied


def test_a_release_is_written_verified_and_made_again_in_people(tmp_path: Path) -> None:
    series, table = ko.Series.start(tmp_path / "series", people_plan()), stays(200, people=40, seed=3)
    series.release(table[:120], tmp_path / "one.csv")
    series.release(table, tmp_path / "two.csv")
    again = series.again(1, table, tmp_path / "again.csv")
    assert again.people == table[:120].filter(pl.col("row").is_in(again.data["row"].implode()))["person"].n_unique()
    text = (tmp_path / "two.certificate.txt").read_text()
    assert "people" in text
    assert "rows that came together" not in text
    assert b"\nperson," not in (tmp_path / "two.csv").read_bytes()
    verdict = series.verify(table, [tmp_path / "one.csv", tmp_path / "two.csv"])
    assert verdict.satisfied


def test_the_certificate_hides_counts_of_rows_that_may_be_about_few_people(tmp_path: Path) -> None:
    many = stays(100, people=40, seed=1)
    alone = pl.DataFrame(
        {"person": ["x"] * 8, "row": [f"x{n}" for n in range(8)], "age": ["119"] * 8, "diagnosis": ["tb"] * 8}
    )
    series = ko.Series.start(tmp_path / "series", people_plan())
    series.release(many)
    release = series.release(pl.concat([many, alone]))
    told = release.certificate.facts["series"]  # type: ignore[union-attr]
    assert isinstance(told, dict)
    assert told["new"] is None or release.new == 0


def test_the_folder_of_a_series_never_contains_the_id_of_a_person(tmp_path: Path) -> None:
    table = stays(120, people=40, seed=2).with_columns(person="secret-" + pl.col("person"))
    series = ko.Series.start(tmp_path / "series", people_plan())
    series.release(table)
    for file in (tmp_path / "series").rglob("*"):
        assert not file.is_file() or b"secret-" not in file.read_bytes()


@pytest.mark.parametrize(
    "changes",
    [
        {"person": {"column": "person", "attacker_knows": "all_rows"}},
        {"linked_by": "row"},
        {
            "person": "none",
            "attributes": people_plan().to_dict()["attributes"]  # type: ignore[operator]
            | {"person": {"role": "identifying", "pseudonym": "study"}},
        },
    ],
    ids=["all rows", "linked", "pseudonym"],
)
def test_people_who_are_judged_by_all_their_rows_are_refused_in_a_series(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    with pytest.raises(InputError) as refused:
        ko.Series.start(tmp_path / "series", people_plan(**changes))
    assert refused.value.code == "series-plan"
    assert not (tmp_path / "series").exists()


def test_a_full_domain_series_refuses_models_that_are_not_monotone_in_people(tmp_path: Path) -> None:
    models = [{"model": "l-diversity_entropy", "attribute": "diagnosis", "l": 2}]
    with pytest.raises(InputError) as refused:
        ko.Series.start(tmp_path / "series", people_plan(models=models), {"kind": "full-domain"})
    assert refused.value.code == "series-plan"


def test_a_row_that_does_not_say_whom_it_is_about_is_refused(tmp_path: Path) -> None:
    table = stays(60, people=30, seed=1)
    lacking = table.with_columns(person=pl.when(pl.col("row") == "7").then(None).otherwise(pl.col("person")))
    with pytest.raises(InputError) as refused:
        ko.Series.start(tmp_path / "series", people_plan()).release(lacking)
    assert refused.value.code == "person-missing"


def test_the_certificate_of_a_series_warns_that_rows_are_counted(tmp_path: Path) -> None:
    table = stays(120, people=40, seed=2)
    unstated = ko.Plan.from_dict({key: value for key, value in people_plan().to_dict().items() if key != "person"})
    release = ko.Series.start(tmp_path / "series", unstated).release(table)
    assert "rows are counted, not people" in " ".join(release.certificate.facts["warnings"])  # type: ignore[union-attr, arg-type]


def test_a_target_steers_a_series_that_counts_people(tmp_path: Path) -> None:
    whole = plan().to_dict() | {"person": "id"}
    expected = patients(500)
    settings = {
        **SETTINGS,
        "target": {"expected_rows": 2000, "data": expected.write_csv(tmp_path / "e.csv") or "e.csv"},
    }
    chosen = SeriesSettings.from_dict({"kohorte": 1, **settings}, folder=tmp_path)
    series = ko.Series.start(tmp_path / "series", ko.Plan.from_dict(whole), chosen)
    assert series.release(patients(300, seed=2)).people == 300 - series.history[0].held


@pytest.mark.parametrize("one_row_each", [True, False])
def test_what_all_rows_of_a_person_tell_is_an_open_point_of_release_and_series(
    tmp_path: Path, one_row_each: bool
) -> None:
    table = stays(120, people=40, seed=7)
    if one_row_each:
        table = table.with_columns(pl.Series("person", [f"p{row}" for row in range(120)]))
    series = ko.Series.start(tmp_path / "series", people_plan())
    certified = series.release(table).certificate.verdict.reasons
    for reasons in (certified, series.verify(table).verdict.reasons, tuple(verdict_reasons(series, table))):
        assert (
            any("knows all rows of a person hurts about 40 of about 40 people" in one for one in reasons)
            != one_row_each
        )


def verdict_reasons(series: ko.Series, table: pl.DataFrame) -> tuple[str, ...]:
    verdict = series.status(table).verdict
    assert verdict is not None
    return verdict.reasons


@pytest.mark.parametrize("kind", ["regions", "full-domain"])
def test_a_certificate_tells_only_roughly_how_many_people_came_with_a_release(tmp_path: Path, kind: str) -> None:
    """Exact numbers of two releases would tell that the new rows are about two people who were not there before."""
    series = ko.Series.start(tmp_path / "series", people_plan(), {"kind": kind})
    table, told = stays(240, people=60, seed=2), []
    newcomers = table.tail(6).with_columns(
        person="new" + (pl.int_range(6) // 3).cast(pl.String), row="r" + pl.col("row"), age=table["age"].head(6)
    )
    for frame in (table, pl.concat([table, newcomers])):
        release = series.release(frame)
        assert release.certificate is not None
        facts = release.certificate.facts
        told.append(facts["series"]["people"])  # type: ignore[index, call-overload]
        assert facts["verification"]["people"] == told[-1]  # type: ignore[index, call-overload]
        assert "People      the rows that are shown belong to about 60 people" in release.certificate.to_text()
        assert f" {release.people} people" not in release.certificate.to_text().replace("about 60 people", "")
    assert told == ["about 60", "about 60"]


def test_a_certificate_of_a_series_in_which_nearly_every_row_is_another_person_says_so(tmp_path: Path) -> None:
    table = stays(240, people=60, seed=2).with_columns(person="p" + pl.col("row"))
    release = ko.Series.start(tmp_path / "series", people_plan(), {"kind": "regions"}).release(table)
    assert release.certificate is not None
    assert "People      nearly every row that is shown is about another person" in release.certificate.to_text()
