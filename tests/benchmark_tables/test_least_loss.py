"""least_loss on the public tables: how much less is lost than with Mondrian, and the text of what is released."""

import csv
from collections import defaultdict
from dataclasses import replace

import pytest

import kohorte as ko
from kohorte.kernels import KERNELS
from testbed import tables

pytestmark = [
    pytest.mark.skipif(not tables.available(), reason="the public benchmark tables are not there"),
    pytest.mark.skipif(KERNELS == "reference", reason="the NumPy kernels give the same answers, slowly"),
    pytest.mark.slow,
]
DISTINCT = {"model": "l-diversity_distinct", "l": 3}
CLOSE = {"model": "t-closeness_equal", "t": 0.2}


def released(plan, frame, cells):
    return ko.anonymize(frame, replace(plan, search=ko.SearchOptions("least_loss", cells=cells)))


@pytest.mark.parametrize(
    ("name", "k", "cells", "most"),
    [
        ("adult", 5, "sets", 0.50),
        ("adult", 5, "intervals", 0.78),
        ("adult", 50, "sets", 0.57),
        ("cup", 5, "sets", 0.72),
        ("cup", 50, "sets", 0.82),
    ],
)
def test_much_less_is_lost_than_with_mondrian_and_nothing_is_suppressed(name, k, cells, most):
    frame = ko.read_table(tables.DATA / f"{name}.csv").frame
    plan = tables.plan(name, k=k, limit=0.0, metric="loss", algorithm="mondrian_relaxed")
    release = released(plan, frame, cells)
    assert release.suppressed == 0
    assert ko.verify(release.data, plan).satisfied
    assert release.cost <= most * ko.anonymize(frame, plan).cost


@pytest.mark.parametrize("model", [DISTINCT, CLOSE], ids=lambda model: model["model"])
@pytest.mark.parametrize("cells", ["sets", "intervals"])
def test_with_models_of_a_sensitive_attribute_at_least_15_percent_less_is_lost(model, cells):
    frame = ko.read_table(tables.DATA / "adult.csv").frame
    plan = replace(tables.sensitive_plan("adult", limit=0.0, models=[model]), metric="loss", search="mondrian_relaxed")
    release = released(plan, frame, cells)
    assert ko.verify(release.data, plan).satisfied
    assert release.cost <= 0.85 * ko.anonymize(frame, plan).cost


def covers(cell, value):
    """Whether a cell of a written file can stand for a value: by its text alone."""
    if cell == value:
        return True
    if cell.startswith("{"):
        return value in next(csv.reader([cell[1:-1]], skipinitialspace=True))
    low, _, high = cell[1:-1].partition("-")
    return cell.startswith("[") and int(low) <= int(value) <= int(high)


def test_the_text_of_the_written_file_is_true_and_every_class_has_five_rows_and_three_values(tmp_path):
    """Without a line of the package: the file is read by the csv module, and rows are counted by their text."""
    table = ko.read_table(tables.DATA / "adult.csv")
    plan = replace(tables.sensitive_plan("adult", limit=0.0, models=[DISTINCT]), metric="loss", order="input")
    ko.write_release(released(plan, table.frame, "sets"), tmp_path / "release.csv")
    with (tables.DATA / "adult.csv").open(encoding="utf-8", newline="") as original:
        dialect = csv.Sniffer().sniff(original.readline())
        original.seek(0)
        before = list(csv.DictReader(original, dialect=dialect))
    with (tmp_path / "release.csv").open(encoding="utf-8", newline="") as written:
        after = list(csv.DictReader(written))
    assert len(before) == len(after)
    names, classes = plan.quasi_identifiers, defaultdict(list)
    for old, new in zip(before, after, strict=True):
        assert all(covers(new[name], old[name]) for name in names)
        assert new["occupation"] == old["occupation"]
        classes[tuple(new[name] for name in names)].append(new["occupation"])
    assert min(map(len, classes.values())) >= 5
    assert min(len(set(values)) for values in classes.values()) >= 3
