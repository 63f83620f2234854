"""Identifying columns that stay in a release as pseudonyms: judged by all rows of a person, verified, and told."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InputError
from kohorte.release import certify, find_candidate
from kohorte.release.certificate import plan_warnings, table_warnings
from kohorte.release.telling.verdict import Standing, judge
from kohorte.sources import FrameSource
from support.stays import Stays

QUASI = ("ward", "age", "sex")
AS_PSEUDONYM = {"patient": {"role": "identifying", "pseudonym": "study"}}


def hashed(domain: str, texts: pl.Series) -> pl.Series:
    """Pseudonyms that need no key, of trimmed texts."""
    digests = [hashlib.sha256(f"{domain} {text.strip()}".encode()).hexdigest()[:12] for text in texts]
    return pl.Series(digests, dtype=pl.String)


def plan_of(stays: Stays, **more: Any) -> ko.Plan:
    attributes = {**AS_PSEUDONYM, **more.pop("attributes", {})}
    return stays.plan(attributes=attributes, limit=more.pop("limit", 0.9), **more)


@pytest.mark.parametrize("seed", range(3))
def test_the_release_has_pseudonyms_and_k_people_agree_in_all_their_rows(seed: int) -> None:
    stays = Stays.drawn(seed, people=30, rows=70)
    plan = replace(plan_of(stays, k=2), order="input")
    release = ko.anonymize(stays.frame, plan, pseudonymize=hashed)
    expected = hashed("study", stays.frame["patient"])
    hidden = [all(cell == "*" for cell in row) for row in release.data.select(QUASI).iter_rows()]
    assert 0 < sum(hidden) < len(hidden)
    for gone, shown, pseudonym in zip(hidden, release.data["patient"], expected, strict=True):
        assert shown == ("*" if gone else pseudonym)
    rows: dict[str, Counter[Any]] = {}
    for whom, *cells in release.data.filter(pl.col("patient") != "*").select("patient", *QUASI).iter_rows():
        rows.setdefault(whom, Counter())[tuple(cells)] += 1
    alike = Counter(frozenset(counted.items()) for counted in rows.values())
    assert min(alike.values()) >= 2
    assert release.verification.unit == "people"


def test_certificate_and_verdict_name_the_domain_and_are_amber() -> None:
    stays = Stays.drawn(1, people=30, rows=60)
    release = ko.anonymize(stays.frame, plan_of(stays, k=2), pseudonymize=hashed)
    certificate = certify(release)
    assert certificate.verdict.standing is Standing.AMBER
    assert any("'patient' stays as a pseudonym of the domain 'study'" in one for one in certificate.verdict.reasons)
    assert "patient: pseudonyms of the domain 'study'" in certificate.to_text()
    output: Any = certificate.facts["output"]
    assert (output["pseudonyms"], output["identifying_columns_removed"]) == ({"patient": "study"}, 0)
    assert not any(value in certificate.to_json() for value in stays.frame["patient"])


def test_a_plan_with_a_pseudonym_is_read_and_written_without_loss() -> None:
    plan = plan_of(Stays.drawn(1))
    assert plan.pseudonyms == {"patient": "study"}
    assert plan.removed_columns == ()
    assert ko.Plan.from_dict(plan.to_dict()) == plan
    assert plan.to_dict()["attributes"]["patient"] == {"role": "identifying", "pseudonym": "study"}  # type: ignore[index]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"person": None}, "plan-pseudonym"),
        ({"attributes": {"patient": {"role": "insensitive", "pseudonym": "study"}}}, "plan-pseudonym"),
        ({"attributes": {"patient": {"role": "identifying", "pseudonym": "A Study"}}}, "pseudonym-domain-name"),
        ({"attributes": {"patient": {"role": "identifying", "pseudonym": 1}}}, "pseudonym-domain-name"),
        (
            {
                "attributes": {
                    "case": {"role": "identifying", "pseudonym": "cases"},
                    "sample": {"role": "identifying", "pseudonym": "samples"},
                }
            },
            "plan-pseudonym",
        ),
        ({"models": [{"model": "safe-harbor"}]}, "plan-pseudonym"),
        ({"models": [{"model": "average-risk", "threshold": 0.5}]}, "person-model"),
    ],
    ids=["no person", "other role", "name", "no text", "two ties", "safe harbor", "whole table"],
)
def test_plans_that_cannot_be_are_refused(more: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as refused:
        plan_of(Stays.drawn(1), **more)
    assert refused.value.code == code


def test_nothing_is_released_where_nothing_makes_pseudonyms() -> None:
    stays = Stays.drawn(1)
    with pytest.raises(InputError, match="--folder") as refused:
        ko.anonymize(stays.frame, plan_of(stays))
    assert refused.value.code == "release-pseudonyms"


def test_two_spellings_of_one_person_with_two_pseudonyms_are_refused() -> None:
    stays = Stays.drawn(1)
    frame = stays.frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 3).then(pl.col("patient").str.to_uppercase()).otherwise("patient")
    )
    with pytest.raises(InputError, match="1 value differs") as refused:
        ko.anonymize(frame, plan_of(stays), pseudonymize=hashed)
    assert refused.value.code == "release-pseudonyms"
    assert "PATIENT" not in refused.value.message


def test_blanks_that_the_domain_does_not_count_do_not_matter_in_release_and_verification() -> None:
    stays = Stays.drawn(2, people=30, rows=60)
    frame = stays.frame.with_columns(
        pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.col("patient") + "  ").otherwise("patient")
    )
    plan = plan_of(stays, k=2)
    release = ko.anonymize(frame, plan, pseudonymize=hashed)
    assert release.people is not None
    assert release.people.people == 30
    found = ko.verify(release.data, plan, population=frame)
    assert (found.satisfied, found.problems) == (True, ())


def test_two_people_with_one_pseudonym_are_refused() -> None:
    stays = Stays.drawn(1)
    with pytest.raises(InputError) as refused:
        ko.anonymize(stays.frame, plan_of(stays), pseudonymize=lambda _, texts: pl.Series(["same"] * len(texts)))
    assert refused.value.code == "pseudonym-coincidence"


def test_a_person_who_repeats_contradicts_a_plan_of_one_row_per_person() -> None:
    stays = Stays.drawn(1)
    with pytest.raises(InputError, match="60 rows have the same value") as refused:
        ko.anonymize(stays.frame, plan_of(stays, person="none"), pseudonymize=hashed)
    assert refused.value.code == "release-pseudonyms"


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian_relaxed"])
def test_with_one_row_per_person_suppressed_rows_lose_their_pseudonym(algorithm: str) -> None:
    stays = Stays.drawn(5, people=60, rows=60)
    plan = replace(plan_of(stays, k=9, person="none", search={"algorithm": algorithm}, limit=0.5), order="input")
    release = ko.anonymize(stays.frame, plan, pseudonymize=hashed)
    hidden = release.data.select(pl.all_horizontal(pl.col(QUASI) == "*")).to_series()
    assert (release.data["patient"] == "*").to_list() == hidden.to_list()
    assert certify(release).verdict.standing is Standing.AMBER


def test_a_case_can_be_a_pseudonym_beside_a_person_who_is_removed() -> None:
    stays = Stays.drawn(2, people=20, rows=60)
    attributes = {"patient": {"role": "identifying"}, "case": {"role": "identifying", "pseudonym": "cases"}}
    plan = stays.plan(k=2, attributes=attributes, limit=0.9)
    frame = stays.frame.with_columns(case=pl.col("patient") + "-" + pl.col("ward"))
    release = ko.anonymize(frame, plan, pseudonymize=hashed)
    assert plan.unit.links == ("case",)
    assert plan.unit.judges_sets
    assert "patient" not in release.data.columns
    assert set(release.data["case"]) <= {*hashed("cases", frame["case"]), "*"}


def test_texts_for_missing_get_no_pseudonym() -> None:
    stays = Stays.drawn(1, people=60, rows=60)
    frame = stays.frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("n/a")).otherwise("patient").alias("patient")
    )
    seen: list[str] = []

    def noted(domain: str, texts: pl.Series) -> pl.Series:
        seen.extend(texts)
        return hashed(domain, texts)

    release = ko.anonymize(frame, plan_of(stays, person="none", missing_values=["n/a"]), pseudonymize=noted)
    assert "n/a" not in seen
    assert release.data["patient"].null_count() + (release.data["patient"] == "*").sum() >= 1


class TestVerification:
    def test_a_release_fits_its_original_and_another_one_does_not(self) -> None:
        stays = Stays.drawn(3, people=30, rows=40)
        models = [{"model": "t-closeness_equal", "attribute": "blood", "t": 0.5}]
        plan = plan_of(stays, k=2, models=models)
        release = ko.anonymize(stays.frame, plan, pseudonymize=hashed)
        assert release.suppressed  # so that people must be found in the original
        found = ko.verify(release.data, plan, population=stays.frame)
        assert (found.satisfied, found.unit, found.problems) == (True, "people", ())
        shown = release.data["patient"]
        chosen = shown.filter(shown != "*").unique().sort()[:2].to_list()
        swapped = release.data.with_columns(pl.col("patient").replace(chosen[0], chosen[1]))
        other = ko.verify(swapped, plan, population=stays.frame)
        assert not other.satisfied or any("people were not counted" in one for one in other.open_points)

    def test_original_values_in_the_place_of_pseudonyms_are_a_problem(self) -> None:
        stays = Stays.drawn(3, people=30, rows=60)
        plan = plan_of(stays, k=2)
        release = ko.anonymize(stays.frame, plan, pseudonymize=lambda _, texts: texts)
        found = ko.verify(release.data, plan, population=stays.frame)
        assert not found.satisfied
        assert any("they are not pseudonyms of the domain 'study'" in problem for problem in found.problems)
        alone = ko.verify(release.data, plan)
        assert any("was not checked: give the original table" in point for point in alone.open_points)
        assert judge(alone, table_warnings(release.data, plan, alone)).standing is Standing.AMBER

    def test_a_few_values_that_coincide_are_an_open_point(self) -> None:
        stays = Stays.drawn(3, people=30, rows=60)
        plan = plan_of(stays, k=1)
        some = sorted(set(stays.frame["patient"]))[:2]
        swapped = dict(zip(some, reversed(some), strict=True))

        def coinciding(domain: str, texts: pl.Series) -> pl.Series:
            made = zip(texts, hashed(domain, texts), strict=True)
            return pl.Series([swapped.get(text, pseudonym) for text, pseudonym in made])

        release = ko.anonymize(stays.frame, replace(plan, suppression_limit=1.0), pseudonymize=coinciding)
        found = ko.verify(release.data, plan, population=stays.frame)
        shown = set(release.data["patient"]) & set(some)
        assert bool(shown) == any("can coincide by chance" in point for point in found.open_points)


def test_later_rows_are_not_transformed_without_keys() -> None:
    stays = Stays.drawn(1, people=60, rows=60)
    release = ko.anonymize(stays.frame, plan_of(stays, person="none"), pseudonymize=hashed)
    with pytest.raises(InputError) as refused:
        release.transform(stays.frame)
    assert refused.value.code == "release-pseudonyms"


def test_the_warning_stands_in_every_plan_with_a_pseudonym() -> None:
    stays = Stays.drawn(1)
    with_it, without = plan_of(stays), stays.plan()
    assert any("personal data" in one for one in plan_warnings(with_it))
    assert not any("personal data" in one for one in plan_warnings(without))


def test_risk_and_attacks_count_people_by_their_pseudonyms() -> None:
    stays = Stays.drawn(3, people=30, rows=60)
    plan = plan_of(stays, k=2, limit=0.0)
    candidate = find_candidate(FrameSource(stays.frame), plan, pseudonymize=hashed)
    released = candidate.table.in_memory("a test")
    assert ko.risk(released, plan).to_dict()["unit"] == "people"
    assert ko.risk(stays.frame, plan).to_dict()["unit"] == "people"
    found = ko.attacks.rows_of_one_person_attack(released, plan, original=stays.frame)
    assert found.facts["fewer_than_k"] == 0
