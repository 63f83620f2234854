"""Query loss: the weights of attributes, what a plan may ask, and that count queries are answered better."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.kernels import KERNELS
from kohorte.metrics import QueryLoss
from kohorte.models import KAnonymity

compiled = pytest.mark.skipif(KERNELS == "reference", reason="the NumPy kernels give the same answers, slowly")
QUASI = ko.Attribute("quasi-identifying")
ASKED = [["a", "b"], ["c"]]


def test_each_query_counts_the_same_and_shares_its_weight_among_its_attributes():
    metric = QueryLoss([["age", "sex"], ["zip"]])
    own = {"age": 1.0, "sex": 3.0, "zip": 0.5, "job": 1.0}
    assert metric.weights(own).tolist() == pytest.approx([0.125, 0.375, 0.5, 0.0])
    assert metric.quasi_identifiers == ("age", "sex", "zip")


def test_a_query_whose_attributes_have_weight_0_is_left_out_and_not_all_can_be():
    metric = QueryLoss([["age"], ["zip"]])
    assert metric.weights({"age": 0.0, "zip": 1.0}).tolist() == [0.0, 1.0]
    with pytest.raises(ko.InputError) as caught:
        metric.weights({"age": 0.0, "zip": 0.0})
    assert caught.value.code == "weights-zero"


@pytest.mark.parametrize("queries", [None, "age", [], [[]], ["age"], [["age", "age"]], [[1]]])
def test_what_is_no_list_of_lists_of_attributes_is_refused(queries):
    with pytest.raises(ko.InputError) as caught:
        QueryLoss(queries)
    assert caught.value.code == "plan-metric-queries"


def plan_of(columns, metric, search="least_loss", **more):
    attributes = dict.fromkeys(columns, QUASI)
    return ko.Plan(attributes={**attributes, **more}, models=[KAnonymity(k=5)], metric=metric, search=search)


def test_a_plan_asks_about_quasi_identifiers_only_and_is_written_and_read_again():
    plan = plan_of("abc", {"metric": "query_loss", "queries": ASKED})
    assert plan.to_dict()["metric"] == {"metric": "query_loss", "queries": ASKED}
    assert ko.Plan.from_dict(plan.to_dict()) == plan
    assert hash(plan) == hash(plan_of("abc", {"metric": "query_loss", "queries": ASKED}))
    with pytest.raises(ko.InputError) as caught:
        plan_of("ab", {"metric": "query_loss", "queries": ASKED})
    assert caught.value.code == "plan-metric-queries"


def correlated(rows):
    random = np.random.default_rng(4)
    hidden = random.normal(size=(rows, 2))
    columns = {}
    for number, name in enumerate("abcdef"):
        values = hidden[:, number % 2] + random.normal(size=rows)
        columns[name] = np.clip(np.rint(50 + 12 * values), 0, 99).astype(int)
    outcome = np.where(hidden.sum(axis=1) + 0.4 * random.normal(size=rows) > 0, "yes", "no")
    return pl.DataFrame({**{name: column.astype(str) for name, column in columns.items()}, "outcome": outcome})


def middles(release, name):
    """The share of each cell that lies in an interval of values is counted as its middle is: enough for a test."""
    ends = release[name].str.extract_all(r"\d+").list.eval(pl.element().cast(pl.Float64))
    return ends.list.first().to_numpy(), ends.list.last().to_numpy()


def median_error(frame, release, queries):
    """The median relative error of count queries, each about an interval of each of its attributes."""
    random, errors = np.random.default_rng(9), []
    for _ in range(200):
        names = queries[random.integers(len(queries))]
        true, told = np.ones(frame.height), np.ones(frame.height)
        for name in names:
            values = frame[name].cast(pl.Float64).to_numpy()
            low, high = np.sort(random.choice(values, 2))
            true *= (values >= low) & (values <= high)
            first, last = middles(release, name)
            told *= np.clip(np.minimum(last, high) - np.maximum(first, low) + 1, 0, None) / (last - first + 1)
        if true.sum() >= 5:
            errors.append(abs(told.sum() - true.sum()) / true.sum())
    return float(np.median(errors))


@compiled
def test_count_queries_that_the_plan_names_are_answered_better():
    frame = correlated(2000).drop("outcome")
    plan = replace(plan_of("abcdef", "loss"), order="input")
    general = ko.anonymize(frame, plan).data
    asked = ko.anonymize(frame, replace(plan, metric=QueryLoss(ASKED))).data
    assert median_error(frame, asked, ASKED) <= 0.7 * median_error(frame, general, ASKED)
    others = [["d", "e"], ["f"]]
    assert median_error(frame, asked, others) > median_error(frame, general, others)


def test_a_search_of_the_lattice_keeps_what_is_asked_about_and_gives_up_the_rest():
    table = pl.DataFrame({"a": ["1", "2"] * 10, "b": [str(number % 10) for number in range(20)]})
    plan = plan_of("ab", QueryLoss([["a"]]), "optimal")
    assert ko.anonymize(table, plan).levels == {"a": 0, "b": 1}
    assert ko.anonymize(table, plan).cost == 0.0
