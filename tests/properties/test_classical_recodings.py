"""MinGen on cells and mu-Argus on random small tables, against definitions in plain Python."""

import math
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kohorte.engines import engine_for
from kohorte.errors import NoSolution
from kohorte.metrics import metric_named
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.recoding import MinGenCells, MuArgus, MuArgusComplete, RecodingProblem
from kohorte.search import Exhaustive, Goal, Options
from support.examples import examples
from support.problems import problem_of
from support.strategies import DIAGNOSIS, guarded_tables, questions, tables

every_metric = pytest.mark.parametrize("metric", ["precision", "loss"])


def problem_for(table, models, *, metric="precision", limit=0, **options):
    goal = Goal(models, metric_named(metric), table.weight_by_name, limit, Options(**options))
    return RecodingProblem(table.encoded, goal, dict.fromkeys(table.names), engine_for)


def partitions(rows):
    """All ways to divide rows into classes."""
    if not rows:
        yield []
        return
    first, *others = rows
    for rest in partitions(others):
        yield [[first], *rest]
        for place, block in enumerate(rest):
            yield [*rest[:place], [first, *block], *rest[place + 1 :]]


def cost_of_class(table, metric, block):
    """What the cells of a class lose: each attribute at the lowest level at which its rows agree."""
    weights = table.weights or (1.0,) * len(table.levels)
    lost = 0.0
    for axis, (levels, weight) in enumerate(zip(table.levels, weights, strict=True)):
        places = [levels[0].index(table.rows[row][axis]) for row in block]
        level = min(level for level, labels in enumerate(levels) if len({labels[place] for place in places}) == 1)
        leaves = levels[level].count(levels[level][places[0]]) - 1
        share = level / (len(levels) - 1) if metric == "precision" else leaves / (len(levels[0]) - 1)
        lost += weight * share
    return len(block) * lost / sum(weights) / len(table.rows)


def check_optimum(table, metric, model, satisfied):
    rows = list(range(len(table.rows)))
    costs = [
        sum(cost_of_class(table, metric, block) for block in partition)
        for partition in partitions(rows)
        if all(satisfied(block) for block in partition)
    ]
    problem = problem_for(table, [model], metric=metric)
    assert MinGenCells().refuse(problem) is None
    if not costs:
        with pytest.raises(NoSolution):
            MinGenCells().run(problem)
        return
    found = MinGenCells().run(problem)
    assert found.optimal
    assert problem.cost(found) == pytest.approx(min(costs), abs=1e-9)
    assert found.lower_bound == pytest.approx(min(costs), abs=1e-9)
    recoded, groups = problem.counted(found)
    assert problem.satisfied(groups)[recoded.kept].all()


@every_metric
@examples(60)
@given(table=tables(most_rows=6, missing=()), k=st.integers(1, 4))
def test_mingen_on_cells_finds_the_cheapest_of_all_partitions_that_are_k_anonymous(metric, table, k):
    check_optimum(table, metric, KAnonymity(k=k), lambda block: len(block) >= k)


DIVERSE = DistinctLDiversity(DIAGNOSIS, l=2)


@every_metric
@examples(60)
@given(table=guarded_tables(DIVERSE, most_rows=6, missing=()), least=st.integers(1, 3))
def test_mingen_on_cells_finds_the_cheapest_of_all_partitions_that_are_l_diverse(metric, table, least):
    diagnoses = dict(table.secrets)[DIAGNOSIS].values
    check_optimum(
        table,
        metric,
        DistinctLDiversity(DIAGNOSIS, l=least),
        lambda block: len({diagnoses[row] for row in block}) >= least,
    )


@every_metric
@examples(60)
@given(table=tables(most_rows=9), k=st.integers(1, 4))
def test_mingen_on_cells_is_never_worse_than_the_best_node(metric, table, k):
    models = [KAnonymity(k=k)]
    best = Exhaustive().run(problem_of(table.encoded, metric, models, limit=0, weights=table.weight_by_name)).best
    problem = problem_for(table, models, metric=metric)
    assume(best is not None)
    assert problem.cost(MinGenCells().run(problem)) <= best.cost + 1e-9


def shown_rows(recoding):
    return list(zip(*(column.shown(recoding.kept).to_list() for column in recoding.columns), strict=True))


@examples(80)
@given(question=questions(most_rows=25, most_attributes=4))
def test_the_complete_mu_argus_is_always_k_anonymous(question):
    table, k, limit = question
    problem = problem_for(table, [KAnonymity(k=k)], limit=limit)
    assume(len(problem.rows) >= k)
    found = MuArgusComplete().run(problem)
    for column in found.columns:
        column.refuse_untrue(table.encoded.included)
    if not table.encoded.included.all():
        assume(int(found.all_starred.sum()) <= limit)  # otherwise the caller refuses
    settled = found.settled(limit)
    classes = Counter(row for row, kept in zip(shown_rows(settled), settled.kept, strict=True) if kept)
    assert min(classes.values(), default=k) >= k
    assert len(table.rows) - sum(classes.values()) <= limit


@examples(60)
@given(question=questions(most_rows=25, most_attributes=4, missing=()), data=st.data())
def test_after_mu_argus_no_combination_that_it_tests_is_shown_by_fewer_than_k_rows(question, data):
    table, k, _ = question
    kinds = data.draw(st.tuples(*[st.sampled_from(["most", "more", "identifying"])] * len(table.names)))
    problem = problem_for(table, [KAnonymity(k=k)], identification=dict(zip(table.names, kinds, strict=True)))
    shown = shown_rows(MuArgus().run(problem))
    for first in range(len(kinds)):
        for second in range(first + 1, len(kinds)):
            if "most" in (kinds[first], kinds[second]):
                pairs = Counter((row[first], row[second]) for row in shown)
                assert all(count >= k for pair, count in pairs.items() if "*" not in pair)


@examples(40)
@given(question=questions(most_rows=25, most_attributes=4))
def test_mu_argus_without_time_is_k_anonymous_where_it_is_the_complete_one(question):
    table, k, limit = question
    goal = Goal([KAnonymity(k=k)], metric_named("precision"), {}, limit, time_limit=-math.inf)
    problem = RecodingProblem(table.encoded, goal, dict.fromkeys(table.names), engine_for)
    assume(len(problem.rows) >= k and table.encoded.included.all())
    found = MuArgusComplete().run(problem)
    settled = found.settled(limit)
    classes = Counter(row for row, kept in zip(shown_rows(settled), settled.kept, strict=True) if kept)
    assert min(classes.values(), default=k) >= k
