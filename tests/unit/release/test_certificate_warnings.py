"""Warnings of a certificate."""

import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import CsvFile, Ordering
from kohorte.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EqualTCloseness,
    KAnonymity,
    NTCloseness,
    RecursiveLDiversity,
)
from support.recodings import recode


def plan_of(models, **options):
    attributes = {"region": ko.Attribute("quasi-identifying"), "d": ko.Attribute("sensitive")}
    return ko.Plan(attributes=attributes, models=models, **options)


@pytest.mark.parametrize(
    "model",
    [
        EqualTCloseness("d", t=1),
        DistinctLDiversity("d", l=1),
        RecursiveLDiversity("d", c=2, l=1),
        AlphaKAnonymity("d", alpha=1, k=2),
        NTCloseness("d", n=1, t=0.2),
    ],
    ids=repr,
)
def test_a_model_that_promises_nothing_does_not_silence_the_warning(model):
    table = pl.DataFrame({"region": list("AABB"), "d": list("xxyy")})
    plan = plan_of([KAnonymity(k=2), model])
    warnings = ko.certify(ko.anonymize(table, plan)).facts["warnings"]
    assert any("no model" in warning for warning in warnings)


def test_labels_made_of_values_or_with_two_meanings_are_told_in_the_warnings(tmp_path):
    table = pl.DataFrame({"q": [str(n) for n in (1, 1, 1, 5, 6, 9, 12, 13, 17, 20)]})
    neighbours = {"q": ko.Attribute("quasi-identifying", Ordering(by="number", fanouts=[3, 3]))}
    for algorithm in ("local_recoding", "mu_argus_complete"):
        text = ko.certify(recode(table, neighbours, algorithm, k=2)).to_text()
        assert "made of values that occur in the data" in text
    lines = "".join(f"{age};{age // 10 * 10};*\n" for age in range(30, 50))
    (tmp_path / "age.csv").write_text(lines, encoding="utf-8")
    ages = {"q": ko.Attribute("quasi-identifying", CsvFile("age.csv", folder=tmp_path))}
    release = recode(pl.DataFrame({"q": ["30", "30", "37", "38", "41", "41"]}), ages, "local_recoding", k=2)
    if "30" in release.data["q"].to_list()[2:]:
        assert "has different meanings" in ko.certify(release).to_text()
