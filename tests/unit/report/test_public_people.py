"""What everybody may read, report and certificate, never tells few people exactly, also not as a difference."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko

KEPT, GONE, LOSING = 66, 3, 2


@pytest.fixture(scope="module")
def stays() -> pl.DataFrame:
    """66 people in two wards, three people in another one, and two rows there of people of the first ward."""
    blood = "AB0"
    rows = [(f"p{at}", str(at % 2), blood[at // 2 % 3]) for at in range(KEPT)]
    rows += [(f"q{at}", "9", blood[at]) for at in range(GONE)]
    rows += [(f"p{at}", "9", blood[at]) for at in range(LOSING)]
    return pl.DataFrame(rows, schema=["patient", "ward", "blood"], orient="row")


PLAN = ko.Plan.from_dict(
    {
        "kohorte": 1,
        "attributes": {
            "patient": {"role": "identifying"},
            "ward": {"role": "quasi-identifying"},
            "blood": {"role": "sensitive"},
        },
        "models": [{"model": "k-anonymity", "k": 6}, {"model": "l-diversity_distinct", "attribute": "blood", "l": 2}],
        "suppression_limit": 0.2,
        "person": "patient",
    }
)


def words(page: str) -> str:
    text = re.sub(r"<(style|script|svg).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_the_public_report_tells_neither_those_who_lost_all_rows_nor_those_who_did_not(
    stays: pl.DataFrame, tmp_path: Path
) -> None:
    release = ko.anonymize(stays, PLAN)
    assert (release.suppressed, release.verification.people_losing_all_rows) == (GONE + LOSING, GONE)
    for view, shown in (("internal", True), ("public", False)):
        path = tmp_path / f"{view}.html"
        ko.write_report(path, stays, PLAN, release=release, view=view)
        text = words(path.read_text(encoding="utf-8"))
        assert f"{KEPT + GONE} people" in text
        assert (f"{KEPT} people" in text) == shown
        assert (f"people whose rows are all suppressed 0 {GONE}" in text) == shown
        assert ("people whose rows are all suppressed 0 fewer than 10" in text) != shown


def test_the_certificate_tells_people_who_lose_rows_roughly(stays: pl.DataFrame) -> None:
    certificate = ko.certify(ko.anonymize(stays, PLAN))
    told = json.loads(certificate.to_json())
    figures = told["verification"]
    assert (figures["people"], figures["people_losing_rows"]) == (KEPT + GONE, "fewer than 10")
    assert figures["people_losing_all_rows"] == "fewer than 10"
    text = certificate.to_text()
    assert "People      69, of whom fewer than 10 lose rows, fewer than 10 of them all their rows" in text
    assert "fewer than 6 people lose rows" in " ".join(text.split())
    assert str(KEPT) not in json.dumps(told["release"]["rows_of_one_person"])
    assert not re.search(rf"\b{KEPT}\b|\b{GONE + LOSING} people", text)


def test_numbers_of_few_people_are_not_told_for_an_attacker_who_knows_all_rows(stays: pl.DataFrame) -> None:
    tied = stays.filter(pl.col("ward") != "9").with_columns(pl.lit("f").alias("sex"))
    more = tied.head(4).with_columns(pl.col("ward").replace({"0": "1", "1": "0"}))
    plan = ko.Plan.from_dict(
        {**PLAN.to_dict(), "attributes": {**PLAN.to_dict()["attributes"], "sex": {"role": "quasi-identifying"}}}
    )
    release = ko.anonymize(pl.concat([tied, more]), plan)
    assert release.rows_of_one_person is not None
    assert release.rows_of_one_person.people_hurt == 4
    [point] = [one for one in ko.certify(release).verdict.reasons if "knows all rows of a person" in one]
    assert "hurts fewer than 10 of about 70 people: fewer than 10 share" in point
    assert release.rows_of_one_person.in_words.startswith("an attacker who knows all rows of a person hurts 4 of 66")
