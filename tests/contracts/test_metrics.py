"""What every metric promises to the searches."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kohorte.engines import engine_for
from kohorte.errors import InputError
from kohorte.lattice import Lattice, add_up
from kohorte.metrics import METRICS, PLAIN_METRICS, metric_named
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.recoding import Cells, Recoding, RecodingProblem
from kohorte.search import Goal
from support import oracle
from support.examples import examples
from support.problems import evaluator_of
from support.strategies import DIAGNOSIS, guarded_tables, limits, questions
from support.tables import Secret, SmallTable, flat_levels

NAMES = [metric.name for metric in METRICS]
ROUNDING = 1e-9

every_metric = pytest.mark.parametrize("metric", NAMES)


def named(metric):
    """The metric of a name; that of a classifier has a target, and that of queries asks about the first attribute."""
    options = {"classification": {"attribute": DIAGNOSIS}, "query_loss": {"queries": [["column 0"]]}}
    return metric_named(metric, **options.get(metric, {}))


def with_target(table):
    """The same table with a column that can be told from the quasi-identifiers in some classes only."""
    values = tuple("ab"[number % 3 == 0] for number in range(len(table.rows)))
    return replace(table, secrets=((DIAGNOSIS, Secret(values)),))


def mistakes(table, judged):
    """How often somebody errs who guesses the most frequent value of a class; suppressed rows count as errors."""
    values = Counter(zip(judged.shown, judged.keeps, dict(table.secrets)[DIAGNOSIS].values, strict=True))
    of_class = {}
    for (shown, keeps, _), count in values.items():
        of_class.setdefault((shown, keeps), []).append(count)
    return sum(sum(counts) - (max(counts) if keeps else 0) for (_, keeps), counts in of_class.items())


def cost_by_definition(metric, table, judged):
    """What the oracle says; query loss is loss where only what is asked about has a weight."""
    if metric == "classification":
        return mistakes(table, judged)
    if metric == "query_loss":
        asked = (1.0, *[0.0] * (len(table.levels) - 1))
        return replace(judged, table=replace(judged.table, weights=asked)).cost("loss")
    return judged.cost(metric)


class Known:
    """Everything there is to know about a small problem: all nodes, counted."""

    def __init__(self, question, metric):
        table, k, self.limit = question
        table = with_target(table)
        assume(metric != "query_loss" or not table.weights or table.weights[0] > 0)  # its only attribute
        options = {"limit": self.limit, "weights": table.weight_by_name}
        evaluator = evaluator_of(table.encoded, named(metric), [KAnonymity(k=k)], **options)
        self.costing = evaluator.costing
        self.lattice = table.lattice
        self.groups = {node: evaluator.engine.groups(node) for node in self.lattice.nodes()}
        self.evaluations = {node: evaluator.judge(groups) for node, groups in self.groups.items()}
        self.solutions = {node: found for node, found in self.evaluations.items() if found.solution}

    def generalizations(self, node):
        return [other for other in self.evaluations if all(map(int.__ge__, other, node))]

    def solutions_above(self, node):
        return [self.solutions[other] for other in self.generalizations(node) if other in self.solutions]

    def slack(self, cost):
        return ROUNDING * (1.0 + abs(cost))


@every_metric
@examples(25)
@given(question=questions())
def test_parts_add_up_to_a_lower_bound_of_every_solution(metric, question):
    known = Known(question, metric)
    assert tuple(len(part) for part in known.costing.parts) == known.lattice.shape
    for node, found in known.solutions.items():
        bound = add_up(known.costing.parts, node)
        assert bound <= found.cost + known.slack(found.cost)
        if known.costing.exact:
            assert bound == found.cost  # to the last bit: the search breaks ties by it


@every_metric
@examples(25)
@given(question=questions())
def test_the_floor_of_a_node_is_a_lower_bound_of_all_its_generalizations(metric, question):
    known = Known(question, metric)
    for node, groups in known.groups.items():
        floor = known.costing.floor(groups)
        for found in known.solutions_above(node):
            assert floor <= found.cost + known.slack(found.cost)
        if known.costing.raises_floor:
            assert known.evaluations[node].floor == floor > -np.inf
        else:
            assert floor == -np.inf


@every_metric
@examples(25)
@given(question=questions(most_attributes=2))
def test_bounds_raised_by_suppressed_rows_stay_lower_bounds(metric, question):
    """What finer nodes say by their floor and coarser ones by their suppressed rows, together, is still true."""
    known = Known(question, metric)
    static = known.lattice.sum(known.costing.parts)
    finer = np.full(known.lattice.shape, -np.inf)
    for node, groups in known.groups.items():
        above = known.lattice.above(node)
        finer[above] = np.maximum(finer[above], known.costing.floor(groups))
    for node, found in known.solutions.items():
        for bound in (static[node], max(static[node], finer[node])):
            for coarser in known.solutions_above(node):
                raised = float(known.costing.at_least(np.array(bound), coarser.suppressed))
                assert raised <= found.cost + known.slack(found.cost)


@every_metric
@examples(25)
@given(question=questions())
def test_bounds_rise_with_the_suppressed_rows_and_are_the_same_for_arrays(metric, question):
    known = Known(question, metric)
    static = known.lattice.sum(known.costing.parts).ravel()
    rows = known.costing.rows
    counts = np.arange(next(iter(known.groups.values())).excluded, rows + 1)
    raised = np.array([known.costing.at_least(static, int(count)) for count in counts])
    assert (np.diff(raised, axis=0) >= -known.slack(float(np.abs(raised).max()))).all()
    single = [float(known.costing.at_least(np.array(bound), int(counts[-1]))) for bound in static]
    assert raised[-1].tolist() == single


@every_metric
@examples(25)
@given(question=questions())
def test_no_solution_of_a_cost_suppresses_more_rows_than_the_metric_says(metric, question):
    known = Known(question, metric)
    for found in known.solutions.values():
        assert found.suppressed <= known.costing.most_suppressed(found.cost) + ROUNDING * known.costing.rows


@every_metric
@examples(25)
@given(question=questions())
def test_a_monotone_metric_never_falls_with_generalization(metric, question):
    known = Known(question, metric)
    if not known.costing.monotone:
        return
    for node, found in known.solutions.items():
        for coarser in known.solutions_above(node):
            assert found.cost <= coarser.cost + known.slack(found.cost)


@pytest.mark.parametrize(
    ("metric", "without", "with_suppression"),
    [
        ("height", True, True),
        ("precision_monotone", True, True),
        ("precision", True, False),
        ("loss", True, False),
        ("aecs", True, False),
        ("discernibility", True, False),
        ("discernibility_monotone", True, True),
        ("entropy", False, False),
        ("non_uniform_entropy", True, True),
        ("non_uniform_entropy_suppression", True, False),
    ],
)
def test_metrics_claim_to_be_monotone_where_the_literature_says_so(metric, without, with_suppression):
    table = SmallTable((flat_levels("a", "b"),), (("a",), ("b",), ("b",))).encoded
    for limit, claim in ((0, without), (1, with_suppression)):
        costing = metric_named(metric).costing(table.marginals({}), smallest_class=2, limit=limit)
        assert costing.monotone is claim


@every_metric
@examples(40)
@given(question=questions())
def test_every_node_costs_what_the_definition_says(metric, question):
    """The oracle computes classes, suppression and cost cell by cell from the definitions."""
    known = Known(question, metric)
    table, k, limit = question
    for node, found in known.evaluations.items():
        judged = oracle.judge(table, node, lambda size: size >= k, k)
        assert found.suppressed == judged.suppressed
        assert found.classes == len(judged.kept_classes)
        assert found.solution == (judged.suppressed <= limit)
        if found.solution:
            wanted = cost_by_definition(metric, with_target(table), judged)
            assert found.cost == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_the_oracle_knows_every_metric():
    assert {*oracle.COSTS, "classification", "query_loss"} == set(NAMES)


@every_metric
def test_a_metric_is_found_by_its_name_and_equals_itself(metric):
    assert named(metric).name == metric
    assert named(metric) == named(metric)
    assert hash(named(metric)) == hash(named(metric))


def test_names_are_given_once():
    assert len(set(NAMES)) == len(NAMES) == 12


@pytest.mark.parametrize(
    ("name", "hint"), [("discernability", "'discernibility'"), ("Loss", "'loss'"), ("made-up stranger", "")]
)
def test_an_unknown_metric_is_refused_with_the_nearest_name(name, hint):
    with pytest.raises(InputError, match=r"unknown metric") as caught:
        metric_named(name)
    assert caught.value.code == "metric-unknown"
    assert (f"did you mean {hint}" in caught.value.message) == bool(hint)
    assert all(known in caught.value.message for known in NAMES)


@every_metric
@examples(40)
@given(data=st.data())
def test_what_suppressed_rows_add_to_the_parts_never_shrinks_at_finer_nodes_where_the_metric_says_so(metric, data):
    """The optimal search adds it to the bounds of all finer nodes; every model here is monotone with suppression."""
    diverse = DistinctLDiversity(attribute=DIAGNOSIS, l=2)
    table = data.draw(guarded_tables(diverse))
    table = replace(table, weights=data.draw(st.sampled_from([(), (0.3, 1.0)[: len(table.levels)]])))
    models = [KAnonymity(k=data.draw(st.integers(1, 3)))] + ([diverse] if data.draw(st.booleans()) else [])
    evaluator = evaluator_of(
        table.encoded, named(metric), models, limit=data.draw(limits(table)), weights=table.weight_by_name
    )
    assert evaluator.monotone
    if not evaluator.costing.finer_suppression_costs_more:
        assert metric not in ("loss", "query_loss")
        return
    found = {node: evaluator(node) for node in table.lattice.nodes()}
    surplus = {
        node: evaluation.cost - add_up(evaluator.costing.parts, node)
        for node, evaluation in found.items()
        if evaluation.solution
    }
    for node, more in surplus.items():
        for finer, yet_more in surplus.items():
            if all(map(int.__le__, finer, node)):
                assert yet_more >= more - ROUNDING


# Tables whose rows are generalized each in its own way: a node is one of them


def recoded_node(table, problem, evaluator, node):
    """A node as a recoding: every cell at the level of the node, the same classes suppressed."""
    groups = evaluator.engine.groups(node)
    classes, own_groups = evaluator.engine.classes(node)
    assert sorted(own_groups.sizes.tolist()) == sorted(groups.sizes.tolist())
    kept = np.zeros(table.encoded.rows, dtype=bool)
    kept[table.encoded.included] = evaluator.kept(own_groups)[classes]
    columns = tuple(
        Cells.of_levels(line, np.full(len(kept), level, dtype=np.uint32), line.column.codes)
        for line, level in zip(problem.lines, node, strict=True)
    )
    return Recoding(columns, kept, 1, "node")


@pytest.mark.parametrize("name", NAMES)
@examples(30)
@given(data=st.data())
def test_a_node_costs_the_same_when_it_is_seen_as_a_recoding(name, data):
    diverse = DistinctLDiversity(attribute=DIAGNOSIS, l=2)
    table = data.draw(guarded_tables(diverse, most_rows=12))
    table = replace(table, weights=data.draw(st.sampled_from([(), (1.0, 0.5)[: len(table.levels)]])))
    assume(any(map(table.takes_part, table.rows)))
    finest = {
        own: data.draw(st.integers(0, len(levels) - 1)) for own, levels in zip(table.names, table.levels, strict=True)
    }
    if data.draw(st.booleans()):  # the levels below a minimum_level are gone
        cut = tuple(column.from_level(finest[column.name]) for column in table.encoded.columns)
        object.__setattr__(table, "encoded", replace(table.encoded, columns=cut))
    k, limit = data.draw(st.integers(1, 3)), data.draw(limits(table))
    metric = named(name)
    models = [KAnonymity(k=k)] + ([diverse] if data.draw(st.booleans()) else [])
    evaluator = evaluator_of(table.encoded, metric, models, limit=limit, weights=table.weight_by_name)
    goal = Goal(models, metric, table.weight_by_name, limit)
    problem = RecodingProblem(table.encoded, goal, dict.fromkeys(table.names), engine_for)
    for node in Lattice(table.encoded.shape).nodes():
        found = evaluator.judge(evaluator.engine.groups(node))
        recoding = recoded_node(table, problem, evaluator, node)
        recoded, groups = problem.counted(recoding)
        assert (recoded.suppressed, int(recoded.kept.sum())) == (found.suppressed, found.classes)
        assert problem.satisfied(groups).tolist() == recoded.kept.tolist()
        for column in recoding.columns:
            column.refuse_untrue(table.encoded.included)
        if found.solution:
            assert problem.cost(recoding) == pytest.approx(found.cost, rel=1e-9, abs=1e-9)
            most = evaluator.costing.most_suppressed(found.cost)
            assert found.suppressed <= most + ROUNDING * len(table.rows)


@pytest.mark.parametrize("metric", PLAIN_METRICS)
def test_a_metric_without_parameters_looks_at_no_attribute(metric):
    assert metric().attributes == ()
