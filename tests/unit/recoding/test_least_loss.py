"""least_loss: never worse than Mondrian, near the optimum on small tables, the same for any number of threads."""

from dataclasses import replace
from statistics import median

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import Intervals, Ordering
from kohorte.kernels import KERNELS
from kohorte.models import KAnonymity
from kohorte.release.certificate import warnings
from kohorte.risks.shown.meaning import overlap
from support.least_groupings import by_integer_program, by_subsets, columns_of
from support.recodings import recode

compiled = pytest.mark.skipif(KERNELS == "reference", reason="the NumPy kernels give the same answers, slowly")
QUASI = ko.Attribute("quasi-identifying")


def random_table(random, rows):
    """Correlated numbers and categories, one of them with commas and braces in its values."""
    base = random.normal(size=rows)
    jobs = ["cook, baker", "{nurse}", 'say "hi"', "smith", " x"]
    return pl.DataFrame(
        {
            "age": (40 + 12 * base + random.normal(size=rows) * 4).astype(int).astype(str),
            "income": (1000 + 300 * base + random.normal(size=rows) * 200).astype(int).astype(str),
            "job": [jobs[number] for number in random.integers(0, len(jobs), rows)],
            "sex": random.choice(["f", "m"], rows),
            "disease": random.choice(["flu", "cold", "gout", "mumps"], rows),
        }
    )


ORDERED = {
    "age": QUASI,
    "income": QUASI,
    "job": ko.Attribute(
        "quasi-identifying",
        hierarchy=Ordering(values=["cook, baker", "{nurse}", 'say "hi"', "smith", " x"], fanouts=[2], labels="set"),
    ),
    "sex": QUASI,
    "disease": ko.Attribute("sensitive"),
}


@compiled
@pytest.mark.parametrize("cells", ["sets", "intervals"])
@pytest.mark.parametrize("metric", ["loss", "precision", "non_uniform_entropy", "discernibility", "aecs"])
def test_no_random_table_loses_more_than_with_mondrian(cells, metric):
    for seed in range(6):
        random = np.random.default_rng(seed)
        table, k = random_table(random, int(random.integers(20, 200))), int(random.integers(2, 6))
        ours = recode(table, ORDERED, {"algorithm": "least_loss", "cells": cells}, k=k, metric=metric)
        assert ko.verify(ours.data, ours.plan).satisfied
        for name in ("mondrian", "mondrian_relaxed"):
            assert ours.cost <= recode(table, ORDERED, name, k=k, metric=metric).cost * (1 + 1e-9)


@compiled
@pytest.mark.parametrize(
    "model",
    [
        {"model": "l-diversity_distinct", "attribute": "disease", "l": 3},
        {"model": "t-closeness_equal", "attribute": "disease", "t": 0.3},
        {"model": "l-diversity_entropy", "attribute": "disease", "l": 2},
    ],
    ids=lambda model: model["model"],
)
def test_with_models_of_sensitive_values_much_less_is_lost_than_with_mondrian(model):
    table = random_table(np.random.default_rng(3), 600)
    plan = ko.Plan(attributes=ORDERED, models=[KAnonymity(k=3), model], metric="loss", search="mondrian_relaxed")
    ours = ko.anonymize(table, replace(plan, search=ko.SearchOptions("least_loss")))
    assert ko.verify(ours.data, plan).satisfied
    assert ours.cost <= 0.85 * ko.anonymize(table, plan).cost


def off_the_optimum(seed, most_rows, optimum):
    """By what share a random small table loses more than it must."""
    random = np.random.default_rng(seed)
    k = int(random.integers(2, 4))
    rows = int(random.integers(2 * k, most_rows + 1))
    table = pl.DataFrame(
        {
            "number": random.integers(0, 9, rows).astype(str),
            "colour": random.choice(["red", "green", "blue", "grey"], rows),
            "other": random.integers(0, 5, rows).astype(str),
        }
    )
    ours = recode(table, dict.fromkeys(table.columns, QUASI), "least_loss", k=k).cost
    least = optimum(columns_of(table.to_dict(as_series=False)), k, ours)
    assert ours >= least - 1e-9
    return ours / least - 1 if least else ours


@compiled
def test_tables_of_up_to_ten_rows_are_near_the_exact_optimum():
    off = [off_the_optimum(seed, 10, by_integer_program) for seed in range(30)]
    assert median(off) <= 0.05
    assert max(off) <= 0.25


@compiled
@pytest.mark.slow
def test_300_tables_of_up_to_24_rows_are_near_the_exact_optimum():
    off = [off_the_optimum(seed, 24, by_integer_program) for seed in range(300)]
    assert median(off) <= 0.05
    assert max(off) <= 0.25


@pytest.mark.parametrize("k", [2, 3])
def test_both_ways_to_the_exact_optimum_agree(k):
    columns = columns_of({"number": list("31415926535"), "colour": list("abracadabra")})
    assert by_integer_program(columns, k, known=1.0) == pytest.approx(by_subsets(columns, k))


@compiled
def test_threads_and_repetitions_give_the_same_release_and_another_seed_may_not():
    table = random_table(np.random.default_rng(5), 1600)
    releases = [
        recode(table, ORDERED, {"algorithm": "least_loss", "threads": threads, "seed": seed}, k=2).data
        for threads, seed in ((1, 0), (3, 0), (1, 1))
    ]
    assert releases[0].equals(releases[1])
    assert not releases[0].equals(releases[2])


@compiled
def test_a_few_rows_that_cost_everybody_much_are_suppressed_within_the_limit():
    ages = [str(20 + number % 5) for number in range(40)] + ["99"]
    table = pl.DataFrame({"age": ages, "zip": [str(10 + number % 3) for number in range(40)] + ["99"]})
    steps = ko.Attribute("quasi-identifying", hierarchy=Intervals(lower=0, upper=100, widths=[10], integer=True))
    attributes = {"age": steps, "zip": steps}
    without = recode(table, attributes, "least_loss", k=8)
    within = recode(table, attributes, "least_loss", k=8, limit=0.05)
    assert (without.suppressed, within.suppressed) == (0, 1)
    assert within.cost < without.cost
    assert within.data.row(-1) == ("*", "*")


@compiled
def test_the_attribute_that_shall_be_predicted_is_kept():
    table = random_table(np.random.default_rng(8), 400)
    metric = {"metric": "classification", "attribute": "disease"}
    plan = ko.Plan(attributes=ORDERED, models=[KAnonymity(k=3)], metric=metric, search="least_loss")
    ours = ko.anonymize(table, plan).cost
    assert ours < 0.5 * ko.anonymize(table, replace(plan, search=ko.SearchOptions("mondrian_relaxed"))).cost


def test_categories_need_neither_order_nor_hierarchy_unless_cells_are_intervals():
    table = pl.DataFrame({"colour": ["red", "green", "blue", "grey"] * 2})
    release = recode(table, {"colour": QUASI}, "least_loss", k=3)
    assert set(release.data["colour"]) <= {"{blue, green}", "{red, grey}", "{blue, grey}", "{green, grey}", "*"} | set(
        release.data["colour"].filter(release.data["colour"].str.starts_with("{"))
    )
    with pytest.raises(ko.InputError) as caught:
        recode(table, {"colour": QUASI}, {"algorithm": "least_loss", "cells": "intervals"}, k=3)
    assert caught.value.code == "algorithm-unfit"


def test_attackers_read_in_a_set_exactly_the_values_of_its_class():
    """Values with commas, braces, quotation marks and blanks; a missing value is read, too."""
    values = ["cook, baker", "{nurse}", 'say "hi"', " x", "smith\nson", None, "[1-3]"]
    rows = [values[number % 7] for number in range(21)]
    release = recode(pl.DataFrame({"job": pl.Series(rows, dtype=pl.String)}), {"job": QUASI}, "least_loss", k=4)
    cells = release.data["job"].to_list()
    for cell in set(cells):
        inside = {row for row, shown in zip(rows, cells, strict=True) if shown == cell}
        found = overlap((cell,), tuple(values), None, attribute="job", right_are_values=True).matrix[0]
        assert {value for value, fits in zip(values, found.tolist(), strict=True) if fits} == inside


def test_the_certificate_says_which_sets_list_the_values_of_a_class():
    table = pl.DataFrame({"colour": ["red", "green", "blue", "grey"] * 2, "age": ["1", "2", "3", "4"] * 2})
    release = recode(table, {"colour": QUASI, "age": QUASI}, "least_loss", k=3)
    found = [point for point in warnings(release) if point.startswith("the sets of")]
    assert found == [
        "the sets of 'colour' list exactly the values that occur in a class, so that each belongs to somebody in it"
    ]
