"""The classification metric: how many rows a class label can no longer be told for."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.metrics import Classification, metric_named
from kohorte.models import DistinctLDiversity, EqualTCloseness, KAnonymity
from kohorte.search import SEARCHES, Exhaustive, Optimal, search_named
from support.examples import examples
from support.model_oracle import classes as classes_of
from support.model_oracle import kept_classes
from support.problems import evaluator_of, problem_of
from support.strategies import DIAGNOSIS, guarded_tables, limits
from support.tables import classes_table

METRIC = Classification(attribute=DIAGNOSIS)


def in_minority(values):
    return len(values) - max(Counter(values).values())


def cost_of(table, node, kept):
    """By the definition, row by row: suppressed rows, and rows that do not have the label of most of their class."""
    values = dict(table.secrets)[DIAGNOSIS].values
    every = classes_of(table, node)
    stays = {shown: [values[row] for row in rows] for shown, rows in every.items() if shown in kept}
    suppressed = len(table.rows) - sum(map(len, stays.values()))
    return suppressed + sum(map(in_minority, stays.values()))


class TestByHand:
    """Four values in two groups: uuv and uw (group 0), vvvu and w (group 1)."""

    table = classes_table(("uuv", "uw"), ("vvvu", "w"))

    def evaluations(self, k, limit):
        evaluator = evaluator_of(self.table.encoded, METRIC, [KAnonymity(k=k)], limit=limit)
        return [evaluator((level,)) for level in range(3)]

    def test_every_level_counts_what_is_not_the_label_of_most(self):
        """Level 0: v, u or w, u: 3. Level 1: uuuvw leaves 2, vvvuw leaves 2. Level 2: u and v are 4 of 10 each."""
        assert [found.cost for found in self.evaluations(1, 0)] == [3, 4, 6]

    def test_suppressed_rows_count_1_each(self):
        """k = 2 suppresses the single w at level 0: v, u or w, u, and w."""
        found = self.evaluations(2, 10)[0]
        assert (found.suppressed, found.cost) == (1, 4)
        found = self.evaluations(3, 10)[0]
        assert (found.suppressed, found.cost) == (3, 3 + 1 + 1)

    def test_a_release_says_the_same(self):
        frame = self.table.frame.rename({"column 0": "q"})
        plan = ko.Plan(
            {"q": {"role": "quasi-identifying"}, DIAGNOSIS: {"role": "sensitive"}},
            [{"model": "k-anonymity", "k": 2}],
            suppression_limit=0.1,
            metric={"metric": "classification", "attribute": DIAGNOSIS},
            order="input",
        )
        release = ko.anonymize(frame, plan)
        assert (release.cost, release.suppressed) == (4, 1)
        assert release.to_dict()["metric"] == "classification"


@examples(40)
@given(st.data())
def test_costs_bounds_and_floors_hold_at_all_nodes(data):
    diverse = DistinctLDiversity(attribute=DIAGNOSIS, l=2)
    table = data.draw(guarded_tables(diverse))
    limit, k = data.draw(limits(table)), data.draw(st.integers(1, 3))
    models = [KAnonymity(k=k)] + ([diverse] if data.draw(st.booleans()) else [])
    evaluator = evaluator_of(table.encoded, METRIC, models, limit=limit)
    costing, lattice = evaluator.costing, table.lattice
    nodes = list(lattice.nodes())
    groups = {node: evaluator.engine.groups(node) for node in nodes}
    found = {node: evaluator.judge(groups[node]) for node in nodes}
    entries = [model.to_dict() for model in models]
    static = lattice.sum(costing.parts)
    for node in nodes:
        kept = kept_classes(table, node, entries)
        if found[node].solution:
            assert found[node].cost == cost_of(table, node, kept)
            assert static[node] <= found[node].cost
            assert found[node].suppressed <= costing.most_suppressed(found[node].cost)
        floor = costing.floor(groups[node])
        sizes_only = evaluator_of(table.encoded, "loss", [KAnonymity(k=k)], limit=limit).engine._plain.groups(node)
        above = [other for other in nodes if all(map(int.__ge__, other, node)) and found[other].solution]
        for other in above:
            assert max(floor, costing.floor(sizes_only)) <= found[other].cost
            assert costing.at_least(np.array(floor), found[other].suppressed) <= found[other].cost
            if costing.monotone and found[node].solution:
                assert found[node].cost <= found[other].cost


@examples(40)
@given(st.data())
def test_every_search_that_takes_the_metric_agrees_with_exhaustive_search(data):
    diverse = DistinctLDiversity(attribute=DIAGNOSIS, l=2)
    close = EqualTCloseness(attribute=DIAGNOSIS, t=0.4)
    table = data.draw(guarded_tables(diverse, most_attributes=3))
    limit, k = data.draw(limits(table)), data.draw(st.integers(1, 3))
    models = [KAnonymity(k=k), *data.draw(st.sampled_from([[], [diverse], [close]]))]
    truth = Exhaustive().run(problem_of(table.encoded, METRIC, models, limit=limit))
    for search in SEARCHES:
        problem = problem_of(table.encoded, METRIC, models, limit=limit)
        if search.name != "datafly" and search().refuse(problem) is None:  # a heuristic may find another
            result = search().run(problem)
            assert result.best == truth.best
            assert result.optimal


def test_optimal_search_excludes_nodes_by_it():
    values = "".join("uv"[number % 7 == 0] * 3 for number in range(40))
    table = classes_table(*[(values[start : start + 3],) * 2 for start in range(0, 60, 3)])
    problem = problem_of(table.encoded, METRIC, [KAnonymity(k=3)], limit=0)
    assert Optimal().run(problem).best.cost == 0


class TestPlans:
    roles = ("sensitive", "insensitive")

    def plan(self, metric, role="sensitive"):
        attributes = {"q": {"role": "quasi-identifying"}, "x": {"role": role}}
        return ko.Plan(attributes, [{"model": "k-anonymity", "k": 2}], metric=metric)

    @pytest.mark.parametrize("role", roles)
    def test_a_plan_is_read_as_it_is_written(self, role, tmp_path):
        plan = self.plan({"metric": "classification", "attribute": "x"}, role)
        assert plan.metric == Classification(attribute="x") == metric_named("classification", attribute="x")
        assert plan.to_dict()["metric"] == {"metric": "classification", "attribute": "x"}
        (tmp_path / "plan.yaml").write_text(plan.to_yaml(), encoding="utf-8")
        again = ko.Plan.from_yaml(tmp_path / "plan.yaml")
        assert again == plan
        assert again.fingerprint() == plan.fingerprint()

    @pytest.mark.parametrize("role", roles)
    def test_sensitive_and_insensitive_attributes_can_be_told(self, role):
        frame = pl.DataFrame({"q": list("aabb"), "x": list("uvuu")})
        release = ko.anonymize(frame, self.plan({"metric": "classification", "attribute": "x"}, role))
        assert release.cost == 1

    @pytest.mark.parametrize(
        ("metric", "code"),
        [
            ({"metric": "classification", "attribute": "q"}, "plan-metric-attribute"),
            ({"metric": "classification", "attribute": "y"}, "plan-metric-attribute"),
            ({"metric": "classification", "attribute": 7}, "plan-metric-attribute"),
            ({"metric": "classification"}, "metric-parameter"),
            ("classification", "metric-parameter"),
            ({"metric": "loss", "attribute": "x"}, "metric-parameter"),
            ({"metric": "classification", "attribut": "x"}, "plan-unknown-key"),
            ({"metric": "clasification", "attribute": "x"}, "metric-unknown"),
        ],
    )
    def test_a_metric_that_does_not_fit_the_plan_is_refused(self, metric, code):
        with pytest.raises(ko.InputError, match=r"^metric: ") as caught:
            self.plan(metric)
        assert caught.value.code == code

    def test_an_identifying_attribute_is_no_label(self):
        with pytest.raises(ko.InputError) as caught:
            self.plan({"metric": "classification", "attribute": "x"}, "identifying")
        assert caught.value.code == "plan-metric-attribute"

    def test_a_missing_label_is_a_label_of_its_own(self):
        frame = pl.DataFrame({"q": list("aaaabb"), "x": ["u", None, None, None, "u", "u"]})
        assert ko.anonymize(frame, self.plan({"metric": "classification", "attribute": "x"})).cost == 1


@pytest.mark.parametrize("name", ["optimal", "flash", "mondrian", "local_recoding", "k_optimize"])
def test_algorithms_that_minimize_it_tell_it_of_their_release(name):
    frame = pl.DataFrame({"q": ["1", "1", "2", "2", "8", "8"], "x": list("uuvvuv")})
    plan = ko.Plan(
        {"q": {"role": "quasi-identifying"}, "x": {"role": "insensitive"}},
        [{"model": "k-anonymity", "k": 2}],
        metric={"metric": "classification", "attribute": "x"},
        search=name,
        order="input",
    )
    release = ko.anonymize(frame, plan)
    shown = release.data.group_by("q").agg("x")["x"].to_list()
    assert release.cost == sum(in_minority(list(values)) for values in shown) == 1


def test_searches_for_monotone_metrics_refuse_it_where_rows_may_be_suppressed():
    table = classes_table(("uuv", "uw"))
    problem = problem_of(table.encoded, METRIC, [KAnonymity(k=2)], limit=1)
    assert search_named("flash").refuse(problem) is not None
    assert search_named("flash").refuse(problem_of(table.encoded, METRIC, [KAnonymity(k=2)], limit=0)) is None
