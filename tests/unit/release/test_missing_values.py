"""Texts that the plan lists as missing count as empty cells wherever a table is read."""

import io
from dataclasses import replace

import polars as pl
import pytest

import kohorte as ko
from kohorte.attacks import run_attacks
from kohorte.errors import InputError
from kohorte.hierarchies import Tree
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.release import certify, verify
from kohorte.risks import risk
from kohorte.sources import DuckDbSource

MARKS = ["NA", "k.A.", "unbekannt"]
ATTRIBUTES = {
    "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 5}}},
    "age": {
        "role": "quasi-identifying",
        "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [10, 50], "integer": True}},
    },
    "diagnosis": {"role": "sensitive"},
}
PLAN = ko.Plan(
    attributes=ATTRIBUTES,
    models=[KAnonymity(k=2), DistinctLDiversity("diagnosis", l=2)],
    suppression_limit=0.3,
    missing_values=MARKS,
    order="input",
)
ROWS = [
    *(("81667", "31", "flu"), ("81668", "35", "NA"), ("81667", "38", "cold"), ("81669", "NA", "flu")),
    *(("81669", "k.A.", "cold"), ("10115", "71", "unbekannt"), ("10117", "75", "flu"), ("unbekannt", "72", "cold")),
]
RAW = pl.DataFrame(ROWS, schema=list(ATTRIBUTES), orient="row")
EMPTIED = RAW.with_columns(pl.all().replace(dict.fromkeys(MARKS)))


def released(frame: pl.DataFrame, plan: ko.Plan = PLAN) -> pl.DataFrame:
    return ko.anonymize(frame, plan).data


def test_a_release_is_that_of_a_table_with_empty_cells():
    plain = replace(PLAN, missing_values=())
    assert released(RAW).equals(released(EMPTIED, plain))
    with pytest.raises(InputError) as caught:
        released(RAW, plain)
    assert caught.value.code == "value-not-in-hierarchy"


@pytest.mark.parametrize("policy", ["suppress", "refuse"])
def test_the_policy_for_missing_values_applies_to_listed_texts(policy):
    plan = replace(PLAN, missing=policy, suppression_limit=1.0)
    if policy == "refuse":
        with pytest.raises(InputError, match=r"'zip' has 1 row \(8\) without a value"):
            released(RAW, plan)
    else:
        shown = released(RAW, plan)
        assert shown["age"].null_count() == 0


@pytest.mark.parametrize("policy", ["category", "suppress"])
def test_the_verification_is_that_of_a_table_with_empty_cells(policy):
    raw, emptied = (frame.with_columns(zip=pl.lit("*")) for frame in (RAW, EMPTIED))
    one_mark = raw.with_columns(age=pl.col("age").replace({"k.A.": "NA"}))
    plan, plain = (replace(PLAN, missing=policy, missing_values=marks) for marks in (MARKS, ()))
    assert verify(one_mark, plan).to_dict() == verify(emptied, plain).to_dict()
    assert verify(one_mark, plan).to_dict() != verify(one_mark, plain).to_dict()


def test_the_risk_and_the_attacks_are_those_of_a_table_with_empty_cells():
    plain = replace(PLAN, missing_values=())
    assert risk(RAW, PLAN).to_dict() == risk(EMPTIED, plain).to_dict()
    assert run_attacks(RAW, PLAN).to_dict() == run_attacks(EMPTIED, plain).to_dict()


def test_a_table_in_duckdb_gives_the_same_release(tmp_path):
    typed = RAW.with_columns(pl.Series("score", [-999.0, 1.5, 2.0, 3.0, -999.0, 1.0, 1.0, 1.0]))
    typed.write_parquet(tmp_path / "t.parquet")
    plan = replace(
        PLAN, attributes=ATTRIBUTES | {"score": {"role": "insensitive"}}, missing_values=[*MARKS, "-999", "x'y"]
    )
    ko.write_release(ko.anonymize(DuckDbSource(tmp_path / "t.parquet"), plan), tmp_path / "out.parquet")
    found = pl.read_parquet(io.BytesIO((tmp_path / "out.parquet").read_bytes()))
    assert found.equals(released(typed, plan))
    assert found["score"].null_count() == 2


def test_a_verification_refuses_a_column_that_writes_missing_in_two_ways():
    plan = replace(PLAN, models=[KAnonymity(k=2)])
    rows = [("8****", age, "flu") for age in ("NA", "NA", "30-39", "30-39")]
    one_way = pl.DataFrame(rows, schema=list(ATTRIBUTES), orient="row")
    assert verify(one_way, plan).satisfied
    two_ways = pl.concat([one_way[1:], pl.DataFrame([("8****", None, "flu")], schema=one_way.schema, orient="row")])
    found = verify(two_ways, plan)
    assert not found.satisfied
    assert found.problems == ("2 rows lack a value of 'age', written in several ways, which tells them apart",)


def test_a_label_that_is_also_a_text_for_missing_is_refused():
    tree = Tree({"unbekannt": ["81667", "81668", "81669"], "Berlin": ["10115", "10117"]})
    attributes = ATTRIBUTES | {"zip": {"role": "quasi-identifying", "hierarchy": {"tree": tree.to_dict()}}}
    with pytest.raises(InputError, match=r"'zip': level 1 .* missing_values lists") as caught:
        released(RAW, replace(PLAN, attributes=attributes))
    assert caught.value.code == "missing-value-is-label"


def test_the_certificate_says_which_texts_were_taken_for_missing():
    text = certify(ko.anonymize(RAW, PLAN)).to_text()
    assert "these texts count as missing and are written as empty cells: 'NA', 'k.A.', 'unbekannt'" in text


def test_later_rows_are_read_like_the_first_ones():
    release = ko.anonymize(RAW, PLAN)
    assert release.transform(RAW).equals(release.data)


def test_a_plan_keeps_its_missing_values_and_a_plan_without_them_keeps_its_hash():
    assert ko.Plan.from_dict(PLAN.to_dict()) == PLAN
    assert "missing_values" not in replace(PLAN, missing_values=()).to_dict()
