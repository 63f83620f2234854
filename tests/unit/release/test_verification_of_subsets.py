"""Verification of a release that is a subset of a population."""

import polars as pl

import kohorte as ko
from kohorte.models import (
    DeltaPresence,
    KMap,
)


def test_a_raw_table_is_no_release_of_its_subset():
    table = pl.DataFrame({"region": list("111122"), "in": [1, 0, 0, 1, 0, 0], "d": list("xyxyxy")})
    attributes = {"region": ko.Attribute("quasi-identifying"), "in": ko.Attribute("insensitive")}
    plan = ko.Plan(attributes={**attributes, "d": ko.Attribute("insensitive")}, models=[KMap(k=2, subset="in")])
    verdict = ko.verify(table, plan, population=table)
    assert not verdict.satisfied
    assert len(verdict.problems) == 2


def test_one_suppressed_row_excuses_no_empty_class_of_a_subset():
    people = pl.DataFrame({"region": list("A" * 10 + "B" * 10 + "C" * 100), "in": ([1] * 5 + [0] * 5) * 2 + [0] * 100})
    plan = ko.Plan(
        attributes={"region": ko.Attribute("quasi-identifying"), "in": ko.Attribute("insensitive")},
        models=[DeltaPresence(minimum=0.1, maximum=0.6, subset="in")],
        suppression_limit=0.1,
    )
    (verdict,) = ko.verify(pl.DataFrame({"region": [*"AAAAABBBB", "*"]}), plan, population=people).models
    assert not verdict.satisfied
    assert verdict.reached == (0.0, 0.5)
