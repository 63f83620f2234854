"""Suppressed rows do not show what ties rows of one person together: how many somebody lost would tell who it is."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.attacks import run_attacks
from kohorte.errors import InputError
from kohorte.models import KAnonymity
from kohorte.sources import DuckDbSource
from support.stays import Stays

QUASI = ("ward", "age", "sex")
STAYS: dict[str, Any] = {
    "attributes": {"patient": {"role": "insensitive"}},
    "person": {"column": "patient", "stays_because": "visits are compared"},
}
LINKED: dict[str, Any] = {"attributes": {"case": {"role": "sensitive"}}, "linked_by": "case"}


def ties_of(more: dict[str, Any]) -> str:
    return more.get("linked_by", "patient")


def released(seed: int, more: dict[str, Any]) -> tuple[pl.DataFrame, ko.Plan, ko.Release]:
    stays = Stays.drawn(seed, people=30, rows=70)
    attributes = {"case": {"role": "identifying"}, **more["attributes"]}
    plan = replace(stays.plan(k=2, limit=0.9, **{**more, "attributes": attributes}), order="input")
    frame = stays.frame.with_columns(case="case-" + pl.col("patient").str.slice(8))
    return frame, plan, ko.anonymize(frame, plan)


@pytest.mark.parametrize("more", [STAYS, LINKED], ids=["stays", "linked"])
@pytest.mark.parametrize("seed", range(4))
def test_suppressed_rows_show_no_pseudonym_and_all_others_do(seed: int, more: dict[str, Any]) -> None:
    frame, _, release = released(seed, more)
    tie = ties_of(more)
    hidden = [all(cell == "*" for cell in row) for row in release.data.select(QUASI).iter_rows()]
    assert 0 < sum(hidden) < frame.height
    for suppressed, shown, original in zip(hidden, release.data[tie], frame[tie], strict=True):
        assert shown == ("*" if suppressed else original)


@pytest.mark.parametrize("more", [STAYS, LINKED], ids=["stays", "linked"])
@pytest.mark.parametrize("seed", range(4))
def test_k_people_agree_in_all_rows_that_are_shown_of_them(seed: int, more: dict[str, Any]) -> None:
    _, plan, release = released(seed, more)
    rows = release.data.filter(pl.col(ties_of(more)) != "*")
    shown: dict[str, Counter[Any]] = {}
    for tie, *cells in rows.select(ties_of(more), *QUASI).iter_rows():
        shown.setdefault(tie, Counter())[tuple(cells)] += 1
    alike = Counter(frozenset(counted.items()) for counted in shown.values())
    assert min(alike.values()) >= 2
    assert release.smallest_class == min(alike.values())
    assert release.verification.satisfied
    outside = ko.verify(release.data, plan)
    assert outside.satisfied
    assert (outside.suppressed, outside.classes) == (release.suppressed, release.classes)


def test_rows_in_duckdb_hide_their_pseudonym_too(tmp_path: Path) -> None:
    stays = Stays.drawn(3, people=30, rows=70)
    plan = stays.plan(k=2, limit=0.9, **STAYS)
    stays.frame.write_parquet(tmp_path / "in.parquet")
    ko.write_release(ko.anonymize(DuckDbSource(tmp_path / "in.parquet"), plan), tmp_path / "out.parquet")
    written, memory = pl.read_parquet(tmp_path / "out.parquet"), ko.anonymize(stays.frame, plan).data
    assert written.sort(pl.all()).equals(memory.sort(pl.all()))
    assert "*" in written["patient"]


def test_a_release_whose_suppressed_rows_show_their_pseudonym_does_not_satisfy_its_plan() -> None:
    frame, plan, release = released(2, STAYS)
    leaky = release.data.with_columns(frame["patient"])
    verification = ko.verify(leaky, plan)
    assert not verification.satisfied
    [problem] = verification.problems
    assert problem.startswith(f"{release.suppressed} suppressed rows still show 'patient'")


@pytest.mark.parametrize("seed", range(3))
def test_risk_and_attacks_count_the_people_whom_a_release_still_names(seed: int) -> None:
    _, plan, release = released(seed, STAYS)
    shown = release.data.filter(pl.col("patient") != "*")["patient"].n_unique()
    assert ko.risk(release.data, plan).people == shown
    made, outside = ko.risk(release, plan).to_dict(), ko.risk(release.data, plan).to_dict()
    for part in ("unit", "suppressed", "classes", "smallest_class"):
        assert made[part] == outside[part]
    assert {attack.unit for attack in run_attacks(release.data, plan).run} == {"people"}


def test_two_releases_with_pseudonyms_are_attacked_without_those_who_were_suppressed() -> None:
    frame, plan, release = released(1, STAYS)
    coarse = ko.anonymize(frame, replace(plan, models=[KAnonymity(4)])).data
    [found] = run_attacks(release.data, plan, only=["complementary-release"], other_release=coarse).run
    assert found.unit == "people"
    assert found.hurt <= release.data.filter(pl.col("patient") != "*")["patient"].n_unique()


def test_pseudonyms_of_suppressed_people_are_no_lost_values() -> None:
    _, _, release = released(0, LINKED)
    assert "case" not in {one.attribute for one in release.losses}


def test_later_rows_cannot_be_shown_where_people_were_suppressed() -> None:
    frame, _, release = released(0, STAYS)
    with pytest.raises(InputError) as raised:
        release.transform(frame)
    assert raised.value.code == "transform-person"


def test_a_pseudonym_that_looks_like_a_suppressed_cell_is_refused() -> None:
    stays = Stays.drawn(3)
    frame = stays.frame.with_columns(patient=pl.when(pl.int_range(100) == 8).then(pl.lit("*")).otherwise("patient"))
    with pytest.raises(InputError, match=r"1 row \(9\)") as raised:
        ko.anonymize(frame, stays.plan(**STAYS))
    assert raised.value.code == "person-missing"


def test_no_model_protects_a_column_that_ties_rows_together() -> None:
    with pytest.raises(InputError) as raised:
        Stays.drawn(3).plan(models=[{"model": "l-diversity_distinct", "attribute": "case", "l": 2}], **LINKED)
    assert raised.value.code == "person-model"
