"""What everybody may read, report and certificate, never tells few people exactly, also not as a difference."""

from __future__ import annotations

import json
import random
import re
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.report.write import report_of

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
        assert (f"(people: {KEPT + GONE})" in text) == shown
        assert ("(people: nearly as many as rows)" in text) != shown
        assert (f"{KEPT} people" in text) == shown
        assert (f"people whose rows are all suppressed 0 {GONE}" in text) == shown
        assert ("people whose rows are all suppressed 0 fewer than 10" in text) != shown


def test_the_certificate_tells_people_who_lose_rows_roughly(stays: pl.DataFrame) -> None:
    certificate = ko.certify(ko.anonymize(stays, PLAN))
    told = json.loads(certificate.to_json())
    figures = told["verification"]
    assert (figures["people"], figures["people_losing_rows"]) == ("nearly as many as rows", "fewer than 10")
    assert figures["people_losing_all_rows"] == "fewer than 10"
    text = certificate.to_text()
    assert (
        "People      nearly as many as rows, of whom fewer than 10 lose rows, fewer than 10 of them all their rows"
        in text
    )
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


def between(told: object, rows: int) -> range:
    """The numbers that a public figure can stand for."""
    if isinstance(told, int):
        return range(told, told + 1)
    known = {"none": range(1), "fewer than 10": range(1, 10), "not told": range(1, rows + 1)}
    known["nearly as many as rows"] = range(rows - 9, rows + 1)
    if told in known:
        return known[str(told)]
    middle = int(str(told).removeprefix("about ").replace(",", ""))
    assert middle < 1000
    return range(middle - 5, middle + 6)


def possible(certificate: dict[str, Any]) -> set[int]:
    """How many people can have lost all rows, for a reader who knows that everybody is in one class only."""
    found = certificate["verification"]
    rows, suppressed, classes = found["rows"], found["suppressed"], found["classes"]
    left = range(found["smallest_class"], rows - suppressed + 1)
    if classes == 1:
        left = range(found["smallest_class"], found["smallest_class"] + 1)
    average = next(one["reached"] for one in found["models"] if one["name"] == "average-risk")
    if isinstance(average, float):
        left = range(round(classes / average), round(classes / average) + 1)
    lost = set(between(found["people_losing_all_rows"], rows)) & set(range(suppressed + 1))
    everybody = [people for people in between(found["people"], rows) if people <= rows]
    return lost & {people - one for people in everybody for one in left}


@pytest.mark.parametrize("most_rows", [1, 3])
@pytest.mark.parametrize("wards", [1, 2, 4])
def test_nobody_computes_from_the_public_figures_how_few_lost_all_their_rows(wards: int, most_rows: int) -> None:
    settings = PLAN.to_dict() | {
        "models": [{"model": "k-anonymity", "k": 6}, {"model": "average-risk", "threshold": 0.5}]
    }
    plan = ko.Plan.from_dict(settings)
    for seed in range(5):
        rng = random.Random(seed)
        gone, kept = rng.randint(2, 5), rng.randint(12 * wards, 40 * wards)
        people = [(f"p{at}", str(at % wards)) for at in range(kept)] + [(f"q{at}", "rare") for at in range(gone)]
        rows = [(*whom, rng.choice("AB0")) for whom in people for _ in range(rng.randint(1, most_rows))]
        frame = pl.DataFrame(rows, schema=["patient", "ward", "blood"], orient="row")
        release = ko.anonymize(frame, plan)
        assert release.verification.people_losing_all_rows == gone
        told = json.loads(ko.certify(release).to_json())
        assert told["verification"]["people_losing_all_rows"] == "fewer than 10"
        assert told["release"]["people"] == told["verification"]["people"]
        assert gone in possible(told)
        assert len(possible(told)) > 1
        assert report_of(frame, plan, release=release, view="public").people_told == told["verification"]["people"]


def test_what_a_model_reaches_is_the_same_everywhere_on_a_public_page(tmp_path: Path) -> None:
    rng = random.Random(7)
    rows = [(f"p{at}", str(at % 3), rng.choice("AAAB0")) for at in range(120) for _ in range(rng.randint(1, 4))]
    frame = pl.DataFrame(rows, schema=["patient", "ward", "blood"], orient="row")
    models = [{"model": "k-anonymity", "k": 6}, {"model": "t-closeness_equal", "attribute": "blood", "t": 0.4}]
    plan = ko.Plan.from_dict(PLAN.to_dict() | {"models": models})
    release = ko.anonymize(frame, plan)
    ko.write_report(tmp_path / "page.html", frame, plan, release=release)
    said = re.findall(
        r"0.4\),? (?:holds |reached )((?:about|below) [0-9.]+[0-9])", words((tmp_path / "page.html").read_text())
    )
    assert len(said) == 2
    assert len(set(said)) == 1
    assert f"t = 0.4): holds, reached {said[0]}" in ko.certify(release).to_text()
