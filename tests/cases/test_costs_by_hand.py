"""The costs of all ten metrics, worked out by hand from spec 1.3 (the equations 2.19 to 2.29 and 3.3 to 3.5).

row   1  2  3  4  5  6  7  8        A: a, b -> x;  c, d -> y;  then *   (3 levels, 4 leaves)
A     a  a  a  b  c  c  c  d        B: p, q -> *                        (2 levels, 2 leaves)
B     p  p  q  p  q  q  q  p        k = 2, n = 8

node (0,0): ap 2, aq 1, bp 1, cq 3, dp 1    suppressed: rows 3, 4, 8
node (1,0): xp 3, xq 1, yq 3, yp 1          suppressed: rows 3, 8
node (1,1): x* 4, y* 4                      suppressed: none
"""

import polars as pl
import pytest

from kohorte.hierarchies import Intervals
from kohorte.metrics import PLAIN_METRICS, metric_named
from kohorte.models import KAnonymity
from kohorte.sources import Missing, encode_rows
from support.problems import evaluator_of
from support.tables import SmallTable, flat_levels, tree_levels

LEVELS = (tree_levels({"x": ["a", "b"], "y": ["c", "d"]}), flat_levels("p", "q"))
ROWS = (("a", "p"), ("a", "p"), ("a", "q"), ("b", "p"), ("c", "q"), ("c", "q"), ("c", "q"), ("d", "p"))
TABLE = SmallTable(LEVELS, ROWS)
LOG_3 = 1.584962500721156  # log2 3

# Entropy of A at level 1. X(a) = X(c) = 3/4 in 3 rows each, X(b) = X(d) = 1/4 in one row each; log2(4/3) = 2 - log2 3:
# 2 * (3 * 3/4 * (2 - log2 3) + 1/4 * 2) = 4.5 * 0.415037499278844 + 1
ENTROPY_A1 = 2.867668746754797
# Non-uniform, without the factor X: 2 * (3 * (2 - log2 3) + 2) = 6 * 0.415037499278844 + 4
NUE_A1 = 6.490224995673063

WITH_SUPPRESSION = {
    (0, 0): {
        "height": 0,
        "precision_monotone": 0,
        "precision": 0.375,  # 5 rows * 0 + 3 suppressed rows * 1, / 8
        "loss": 0.375,  # the same
        "aecs": 8 / 6,  # 8 / ((2 kept + 1 of suppressed rows) * 2)
        "discernibility": 37,  # 2^2 + 3^2 + 8 * 3
        "discernibility_monotone": 16,  # 4 + 1 + 1 + 9 + 1
        "entropy": 0,
        "non_uniform_entropy": 0,
        # rows 3, 4, 8 = aq, bp, dp. A: three values, Y = 1/3 each: 3 log2 3.
        # B: q with Y = 1/3, p twice with Y = 2/3: log2 3 + 2 (log2 3 - 1). Together 6 log2 3 - 2
        "non_uniform_entropy_suppression": 7.509775004326936,
    },
    (1, 0): {
        "height": 1,
        "precision_monotone": 0.25,  # (1/2 + 0/1) / 2
        "precision": 0.4375,  # (6 * 0.25 + 2 * 1) / 8
        "loss": 0.375,  # a kept row: A (2 - 1) / (4 - 1) = 1/3, B 0, mean 1/6; (6 * 1/6 + 2 * 1) / 8
        "aecs": 8 / 6,  # (2 kept + 1) * 2
        "discernibility": 34,  # 9 + 9 + 8 * 2
        "discernibility_monotone": 20,  # 9 + 1 + 9 + 1
        "entropy": ENTROPY_A1,
        "non_uniform_entropy": NUE_A1,
        # rows 3, 8 = xq, yp: in A and B two values with Y = 1/2: 2 + 2 bits more
        "non_uniform_entropy_suppression": NUE_A1 + 4,
    },
    (1, 1): {
        "height": 2,
        "precision_monotone": 0.75,  # (1/2 + 1/1) / 2
        "precision": 0.75,
        "loss": 2 / 3,  # (1/3 + 1) / 2
        "aecs": 2,  # 8 / (2 * 2): no class of suppressed rows
        "discernibility": 32,  # 16 + 16
        "discernibility_monotone": 32,
        "entropy": ENTROPY_A1 + 4,  # B: X = 4/8 in 8 rows: 8 * 1/2 * 1
        "non_uniform_entropy": NUE_A1 + 8,  # B: 8 * 1
        "non_uniform_entropy_suppression": NUE_A1 + 8,
    },
}

# The weights of A and B are 1 and 0.5; in a mean they count 2/3 and 1/3.
WEIGHTED = {
    (1, 0): {
        "height": 1,
        "precision_monotone": 1 / 3,  # 2/3 * 1/2
        "precision": 0.5,  # (6 * 1/3 + 2) / 8
        "loss": 5 / 12,  # a kept row 2/3 * 1/3 = 2/9; (6 * 2/9 + 2) / 8 = (10/3) / 8
        "aecs": 8 / 6,
        "discernibility": 34,
        "discernibility_monotone": 20,
        "entropy": ENTROPY_A1,
        "non_uniform_entropy": NUE_A1,
        "non_uniform_entropy_suppression": NUE_A1 + 3,  # 1 * 2 + 0.5 * 2
    },
    (1, 1): {
        "height": 1.5,
        "precision_monotone": 2 / 3,  # 2/3 * 1/2 + 1/3 * 1
        "precision": 2 / 3,
        "loss": 5 / 9,  # 2/3 * 1/3 + 1/3 * 1
        "aecs": 2,
        "discernibility": 32,
        "discernibility_monotone": 32,
        "entropy": ENTROPY_A1 + 2,
        "non_uniform_entropy": NUE_A1 + 4,
        "non_uniform_entropy_suppression": NUE_A1 + 4,
    },
}

# A ninth row (missing, p) which the policy suppresses at every node; n = 9.
EXCLUDED = {
    (1, 0): {
        "height": 1,
        "precision_monotone": 0.25,
        "precision": 0.5,  # (6 * 0.25 + 3) / 9
        "loss": 4 / 9,  # (6 * 1/6 + 3) / 9
        "aecs": 1.5,  # 9 / ((2 + 1) * 2)
        "discernibility": 45,  # 9 + 9 + 9 * 3
        "discernibility_monotone": 20,  # the row is in no class
        "entropy": ENTROPY_A1,  # over the eight rows that are not always suppressed
        "non_uniform_entropy": NUE_A1,
        "non_uniform_entropy_suppression": NUE_A1 + 4,
    },
    (1, 1): {
        "height": 2,
        "precision_monotone": 0.75,
        "precision": 7 / 9,  # (8 * 0.75 + 1) / 9
        "loss": 19 / 27,  # (8 * 2/3 + 1) / 9
        "aecs": 1.5,  # 9 / ((2 + 1) * 2): the excluded row is the suppressed class
        "discernibility": 41,  # 16 + 16 + 9 * 1
        "discernibility_monotone": 32,
        "entropy": ENTROPY_A1 + 4,
        "non_uniform_entropy": NUE_A1 + 8,
        "non_uniform_entropy_suppression": NUE_A1 + 8,
    },
}

# The ninth row with a missing A as a value of its own: at (1,0) the class (missing, p) of one row.
CATEGORY = {
    (1, 0): {
        "precision": 0.5,  # (6 * 0.25 + 3) / 9
        "loss": 4 / 9,
        "discernibility": 45,
        "discernibility_monotone": 21,  # 9 + 1 + 9 + 1 + 1
        "entropy": ENTROPY_A1,  # missing: X = 1/1
        # suppressed: xq, yp, (missing)p. A: 3 values, 3 log2 3; B: q 1/3, p 2/3 twice, 3 log2 3 - 2
        "non_uniform_entropy_suppression": NUE_A1 + 6 * LOG_3 - 2,
    },
    (2, 0): {
        "loss": 0.5,  # A 1, B 0, in all rows
        "discernibility": 41,  # *p 5^2 + *q 4^2
        "aecs": 9 / 4,
    },
}


def every_cost(costs):
    return [(node, metric, cost) for node, by_metric in costs.items() for metric, cost in by_metric.items()]


def evaluate(table, metric, node, *, limit):
    options = {"limit": limit, "weights": table.weight_by_name}
    return evaluator_of(table.encoded, metric, [KAnonymity(k=2)], **options)(node)


def test_every_metric_is_worked_out():
    names = {metric.name for metric in PLAIN_METRICS}
    for costs in (WITH_SUPPRESSION, WEIGHTED, EXCLUDED):
        assert all(set(by_metric) == names for by_metric in costs.values())


@pytest.mark.parametrize(("node", "metric", "cost"), every_cost(WITH_SUPPRESSION))
def test_costs_with_up_to_three_suppressed_rows(node, metric, cost):
    evaluation = evaluate(TABLE, metric, node, limit=3)
    assert evaluation.solution
    assert evaluation.cost == pytest.approx(cost, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("metric", "cost"), WITH_SUPPRESSION[1, 1].items())
def test_costs_without_suppression(metric, cost):
    assert evaluate(TABLE, metric, (1, 1), limit=0).cost == pytest.approx(cost, rel=1e-12)


@pytest.mark.parametrize(
    ("node", "suppressed", "classes", "smallest"), [((0, 0), 3, 2, 2), ((1, 0), 2, 2, 3), ((1, 1), 0, 2, 4)]
)
def test_suppressed_rows_and_classes_are_those_counted_by_hand(node, suppressed, classes, smallest):
    evaluation = evaluate(TABLE, "height", node, limit=3)
    assert (evaluation.suppressed, evaluation.classes, evaluation.smallest_class) == (suppressed, classes, smallest)


@pytest.mark.parametrize(("limit", "solutions"), [(0, 1), (1, 1), (2, 2), (3, 3)])
def test_a_node_with_more_suppressed_rows_than_the_limit_is_no_solution(limit, solutions):
    evaluations = [evaluate(TABLE, "loss", node, limit=limit) for node in WITH_SUPPRESSION]
    assert sum(evaluation.solution for evaluation in evaluations) == solutions
    assert all((evaluation.cost < float("inf")) == evaluation.solution for evaluation in evaluations)


@pytest.mark.parametrize(("node", "metric", "cost"), every_cost(WEIGHTED))
def test_costs_with_attribute_weights(node, metric, cost):
    table = SmallTable(LEVELS, ROWS, weights=(1.0, 0.5))
    assert evaluate(table, metric, node, limit=3).cost == pytest.approx(cost, rel=1e-12)


@pytest.mark.parametrize("metric", ["precision", "precision_monotone", "loss"])
def test_means_do_not_change_when_all_weights_are_doubled(metric):
    light, heavy = (SmallTable(LEVELS, ROWS, weights=weights) for weights in [(0.5, 0.25), (1.0, 0.5)])
    costs = [evaluate(table, metric, (1, 0), limit=3).cost for table in (light, heavy)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-12)


@pytest.mark.parametrize("metric", ["precision", "precision_monotone", "loss"])
def test_means_without_any_weight_are_refused(metric):
    table = SmallTable(LEVELS, ROWS, weights=(0.0, 0.0))
    with pytest.raises(ValueError, match="weight 0"):
        evaluate(table, metric, (1, 0), limit=3)


@pytest.mark.parametrize(("node", "metric", "cost"), every_cost(EXCLUDED))
def test_costs_with_a_row_that_is_suppressed_for_a_missing_value(node, metric, cost):
    table = SmallTable(LEVELS, (*ROWS, (None, "p")), missing=Missing.SUPPRESS)
    assert evaluate(table, metric, node, limit=3).cost == pytest.approx(cost, rel=1e-12)


def test_excluded_rows_count_towards_the_limit():
    table = SmallTable(LEVELS, (*ROWS, (None, "p")), missing=Missing.SUPPRESS)
    assert evaluate(table, "height", (1, 1), limit=0).suppressed == 1
    assert not evaluate(table, "height", (2, 1), limit=0).solution
    assert evaluate(table, "height", (2, 1), limit=1).solution


@pytest.mark.parametrize(("node", "metric", "cost"), every_cost(CATEGORY))
def test_costs_with_missing_as_a_category(node, metric, cost):
    table = SmallTable(LEVELS, (*ROWS, (None, "p")), missing=Missing.CATEGORY)
    assert evaluate(table, metric, node, limit=3).cost == pytest.approx(cost, rel=1e-12)


@pytest.mark.parametrize(("level", "loss"), [(0, 0.0), (1, 0.1), (2, 0.5), (3, 1.0)])
def test_loss_of_intervals_is_their_share_of_the_range(level, loss):
    """Equation 2.23: (upper - lower) / range, whatever the values."""
    frame = pl.DataFrame({"age": [3, 3, 17, 55]})
    hierarchy = Intervals(lower=0, upper=100, widths=[10, 50])
    table = encode_rows(frame, {"age": hierarchy}, missing=Missing.REFUSE)
    evaluation = evaluator_of(table, metric_named("loss"), [KAnonymity(k=1)], limit=0)((level,))
    assert evaluation.cost == pytest.approx(loss)
