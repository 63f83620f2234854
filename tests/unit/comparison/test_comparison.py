"""All algorithms on one table: queries and tasks by hand, costs as the searches know them, reasons for refusals."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.comparison import words
from kohorte.comparison.drawing import plots
from kohorte.comparison.outcome import QueryError, Status
from kohorte.comparison.queries import Condition, Queries, estimates
from kohorte.comparison.run import Bench
from kohorte.comparison.shown import original, shown
from kohorte.comparison.task import Task
from kohorte.hierarchies import Intervals, Redaction
from kohorte.metrics import PLAIN_METRICS
from kohorte.models import DistinctLDiversity, KAnonymity, KMap
from kohorte.pages.charts.labels import Box, place
from kohorte.progress import Progress, Stage
from kohorte.recoding import RECODERS
from kohorte.release.anonymization import set_up_search
from kohorte.release.preparation import encode_problem
from kohorte.release.verification import verify_table
from kohorte.search import SEARCHES
from kohorte.sources import FrameSource

MakePlan = Callable[..., ko.Plan]
ALL = [member.name for member in (*SEARCHES, *RECODERS)]


def bench_of(frame: pl.DataFrame, plan: ko.Plan) -> Bench:
    return Bench(encode_problem(FrameSource(frame), plan, by_row=True), time_limit=60.0)


def node_of(bench: Bench, node: tuple[int, ...]):  # type: ignore[no-untyped-def]
    return bench.at_node(set_up_search(bench.prepared), node)


@pytest.fixture
def four(make_plan: MakePlan) -> Bench:
    """Four people of 1, 2, 3 and 4 years, two of each sex."""
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "sex": ["f", "f", "m", "m"]})
    hierarchies = {"age": Intervals(lower=1, upper=5, widths=[2], integer=True)}
    return bench_of(frame, make_plan("age sex", hierarchies=hierarchies, k=1, suppression_limit=1.0))


@pytest.fixture
def cohort() -> tuple[pl.DataFrame, ko.Plan]:
    """A small cohort whose class can be learnt: blood follows from age and zip."""
    generator = np.random.default_rng(5)
    age, area = generator.integers(0, 80, 600), generator.integers(0, 6, 600)
    blood = np.where(age + generator.integers(0, 12, 600) > 40, "A", np.where(area < 2, "B", "0"))
    frame = pl.DataFrame({"age": age, "zip": [f"8{digit}" for digit in area], "blood": blood})
    plan = ko.Plan(
        attributes={
            "age": ko.Attribute("quasi-identifying", Intervals(lower=0, upper=80, widths=[10, 40], integer=True)),
            "zip": ko.Attribute("quasi-identifying", Redaction()),
            "blood": ko.Attribute("insensitive"),
        },
        models=[KAnonymity(k=5)],
        suppression_limit=0.1,
    )
    return frame, plan


# Queries


def test_answers_worked_by_hand(four: Bench) -> None:
    young = (Condition(0, 0, 2),)  # 1, 2 or 3 years
    young_men = (Condition(0, 0, 2), Condition(1, 0, 1, np.array([False, True])))
    queries = [young, young_men]
    assert estimates(queries, original(four.lines)).tolist() == [3, 1]
    # Ages in [1, 3) and [3, 5): of the second, half may be 3.
    assert estimates(queries, shown(node_of(four, (1, 0)))).tolist() == [3, 1]
    assert estimates([(Condition(0, 0, 0),)], shown(node_of(four, (1, 0)))).tolist() == [1]
    # All ages, both sexes: three of four ages, and half of them are men.
    assert estimates(queries, shown(node_of(four, (2, 1)))).tolist() == [3, 1.5]


def test_a_suppressed_row_may_be_anywhere(four: Bench) -> None:
    recoding = node_of(four, (0, 0))
    some = replace(recoding, kept=np.array([True, True, True, False]))
    # Three rows are known; the fourth has one of four ages, and one of two sexes.
    one_year, men = Condition(0, 0, 0), Condition(1, 0, 1, np.array([False, True]))
    assert estimates([(one_year,), (men,), (one_year, men)], shown(some)).tolist() == [1.25, 1.5, 0.125]


def test_the_unchanged_table_answers_every_query_exactly(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    frame, plan = cohort
    bench = bench_of(frame, replace(plan, models=[KAnonymity(k=1)]))
    queries = Queries.draw(bench.lines, 300, seed=1)
    assert len(queries) == 300
    assert queries.error(node_of(bench, (0, 0))) == QueryError(0.0, 0.0)
    coarse = queries.error(node_of(bench, (2, 1)))
    assert coarse is not None
    assert 0 < coarse.median < coarse.ninetieth


def test_answers_are_sums_over_rows_of_the_shares_of_their_cells(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    bench = bench_of(*cohort)
    queries = Queries.draw(bench.lines, 60, seed=2).queries
    recoding = replace(node_of(bench, (1, 0)), kept=np.arange(600) % 7 > 0)
    slow = []
    for query in queries:
        total = 0.0
        for row in range(600):
            share = 1.0
            for condition in query:
                cells = recoding.columns[condition.attribute]
                kind = cells.kinds[row]
                low, high = (cells.lows[kind], cells.highs[kind]) if recoding.kept[row] else (0, cells.line.length - 1)
                places = range(int(low), int(high) + 1)
                asked = range(condition.low, condition.high + 1)
                inside = [place in asked and (condition.mask is None or condition.mask[place]) for place in places]
                share *= sum(inside) / len(inside)
            total += share
        slow.append(total)
    assert estimates(queries, shown(recoding)) == pytest.approx(slow)


def test_the_same_seed_draws_the_same_queries_large_and_small(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    bench = bench_of(*cohort)
    one, same, other = (Queries.draw(bench.lines, 200, seed) for seed in (3, 3, 4))
    assert one.truths.tolist() == same.truths.tolist() != other.truths.tolist()
    assert {len(query) for query in one.queries} == {1, 2}
    assert one.truths.min() >= 0.001 * 600
    assert one.truths.min() < 20
    assert one.truths.max() > 200


def test_without_queries_there_is_no_error(four: Bench) -> None:
    assert Queries.draw(four.lines, 0, 0).error(node_of(four, (0, 0))) is None


# The task


def test_learning_from_the_unchanged_table_is_learning_from_the_original(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    bench = bench_of(*cohort)
    task = Task.prepare(bench.prepared, bench.lines, "blood", 0)
    recoding = replace(node_of(bench, (0, 0)), kept=np.ones(600, dtype=bool))
    assert task.accuracy(recoding, cohort[0]["blood"]) == task.best()
    assert task.best().value > task.majority + 0.1
    assert (int(task.training.sum()), int(task.test.sum())) == (420, 180)
    assert not (task.training & task.test).any()


def test_where_all_is_starred_the_majority_is_predicted(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    bench = bench_of(*cohort)
    task = Task.prepare(bench.prepared, bench.lines, "blood", 0)
    top = node_of(bench, (3, 2))
    assert task.accuracy(top, cohort[0]["blood"]).value == pytest.approx(task.majority)
    nothing = task.accuracy(replace(top, kept=np.zeros(600, dtype=bool)), cohort[0]["blood"])
    assert (nothing.value, nothing.guessed) == (task.majority, "no rows are left to learn from")


def test_one_class_is_not_learnt_but_guessed(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    frame, plan = cohort
    compared = ko.compare_algorithms(
        frame.with_columns(blood=pl.lit("A")), plan, algorithms=["optimal"], task="blood", queries=0
    )
    assert compared.of("optimal").to_dict()["accuracy_note"] == "only one class is left to learn from"
    assert compared.task is not None
    assert compared.task.majority == 1.0
    assert "*: nothing could be learnt" in compared.to_html()


@pytest.mark.parametrize(("hierarchy", "classes"), [(None, 30), (Redaction(), 10)])
def test_many_values_become_fewer_classes(
    cohort: tuple[pl.DataFrame, ko.Plan], hierarchy: Redaction | None, classes: int
) -> None:
    frame, plan = cohort
    many = frame.with_columns(blood=pl.Series([f"{number % 60 + 10}" for number in range(600)]))
    if hierarchy is not None:
        many = many.with_columns(blood=pl.col("blood").str.reverse())
    plan = replace(plan, attributes={**plan.attributes, "blood": ko.Attribute("sensitive", hierarchy)})
    bench = bench_of(many, plan)
    assert Task.prepare(bench.prepared, bench.lines, "blood", 0).classes == classes


@pytest.mark.parametrize("column", ["age", "blod", ""])
def test_a_task_must_be_a_column_that_a_release_shows_as_it_is(
    cohort: tuple[pl.DataFrame, ko.Plan], column: str
) -> None:
    with pytest.raises(ko.InputError, match=re.escape(repr(column))) as caught:
        ko.compare_algorithms(*cohort, task=column)
    assert caught.value.code == "task-column"


def test_without_scikit_learn_the_remedy_is_named(
    cohort: tuple[pl.DataFrame, ko.Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ko.InputError, match=r"pip install 'kohorte\[utility\]'") as caught:
        ko.compare_algorithms(*cohort, task="blood")
    assert caught.value.code == "utility-missing"
    assert ko.compare_algorithms(*cohort, algorithms=["optimal"]).best is not None


# The comparison


def test_costs_are_those_of_the_searches(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    frame, plan = cohort
    for metric in PLAIN_METRICS:
        if fields(metric):  # type: ignore[arg-type]
            continue
        asked = replace(plan, metric=metric())
        found = ko.compare_algorithms(frame, asked, algorithms=["optimal", "exhaustive"], queries=0)
        release = ko.anonymize(frame, asked)
        for outcome in found.outcomes:
            assert outcome.cost == pytest.approx(release.cost), metric.name
            assert outcome.costs[metric.name] == pytest.approx(release.cost), metric.name
            assert (outcome.classes, outcome.suppressed) == (release.classes, release.suppressed)
            assert outcome.levels == release.levels
            assert outcome.verified
            assert outcome.smallest_class == release.smallest_class


def test_costs_of_recoders_are_those_of_their_releases(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    frame, plan = cohort
    release = ko.anonymize(frame, replace(plan, search={"algorithm": "mondrian"}))
    outcome = ko.compare_algorithms(frame, plan, algorithms=["mondrian"], queries=0).of("mondrian")
    assert outcome.cost == release.cost
    assert (outcome.classes, outcome.suppressed, outcome.levels) == (release.classes, release.suppressed, {})


def test_missing_values_and_populations_do_not_disturb(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    frame, plan = cohort
    gaps = frame.with_columns(age=pl.when(pl.int_range(600) % 100 > 0).then(pl.col("age")))
    for missing in ("category", "suppress"):
        asked = replace(plan, missing=missing)
        outcome = ko.compare_algorithms(gaps, asked, algorithms=["optimal"], task="blood").of("optimal")
        assert outcome.cost == pytest.approx(ko.anonymize(gaps, asked).cost)
    flagged = frame.with_columns(here=pl.int_range(600) % 3 > 0)
    attributes = {**plan.attributes, "here": ko.Attribute("insensitive")}
    asked = replace(plan, attributes=attributes, models=[KMap(5, subset="here")])
    found = ko.compare_algorithms(flagged, asked, algorithms=["optimal", "mondrian"])
    assert found.rows == 400
    assert found.of("optimal").verified
    assert "population" in str(found.of("mondrian").reason)


def test_a_column_that_is_mostly_suppressed_can_be_a_task(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    frame, plan = cohort
    frame = frame.with_columns(insurance=pl.Series(["public", "private", "none"] * 200))
    attributes = {**plan.attributes, "blood": ko.Attribute("sensitive"), "insurance": ko.Attribute("sensitive")}
    models = [KAnonymity(k=5), DistinctLDiversity("insurance", l=2)]
    plan = replace(plan, attributes=attributes, models=models, decorrelate=ko.Decorrelation("insurance", 2))
    found = ko.compare_algorithms(frame, plan, algorithms=["optimal", "mondrian"], task="blood", queries=10)
    assert len(found.released) == 2
    assert all(outcome.accuracy is not None for outcome in found.released)


@pytest.mark.slow
def test_every_algorithm_makes_a_release_or_says_why_not(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    frame, plan = cohort
    found = ko.compare_algorithms(frame, plan, queries=20, time_limit=3)
    assert [outcome.algorithm for outcome in found.outcomes] == ALL
    for outcome in found.outcomes:
        assert outcome.what_it_is
        assert outcome.released == (outcome.reason is None) == outcome.verified
        assert outcome.released == bool(outcome.costs)
        assert outcome.status is not Status.UNVERIFIED
    assert {"samarati", "flash"} <= {outcome.algorithm for outcome in found.others}
    assert found.of("flash").status is Status.REFUSED
    assert found.of("exhaustive").cost == found.of("optimal").cost
    json.dumps(found.to_dict(), allow_nan=False)


def test_what_does_not_satisfy_the_models_has_figures_but_no_costs() -> None:
    generator = np.random.default_rng(0)
    frame = pl.DataFrame({name: generator.integers(0, 3, 40).astype(str) for name in "abcd"})
    attributes = {name: ko.Attribute("quasi-identifying") for name in "abcd"}
    plan = ko.Plan(attributes=attributes, models=[KAnonymity(k=2)])
    outcome = ko.compare_algorithms(frame, plan, algorithms=["mu_argus"]).of("mu_argus")
    assert outcome.status is Status.NOT_PRIVATE
    assert outcome.failing_classes
    assert outcome.smallest_class == 1
    assert outcome.seconds is not None
    assert (outcome.cost, dict(outcome.costs), outcome.verified) == (None, {}, False)


def test_what_fails_its_verification_is_no_release(
    cohort: tuple[pl.DataFrame, ko.Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_class_fewer(*arguments: object, **options: object) -> ko.Verification:
        found = verify_table(*arguments, **options)  # type: ignore[arg-type]
        return replace(found, classes=found.classes - 1)

    monkeypatch.setattr("kohorte.comparison.run.verify_table", one_class_fewer)
    found = ko.compare_algorithms(*cohort, algorithms=["optimal", "mondrian"], queries=10)
    for outcome in found.outcomes:
        assert (outcome.status, outcome.verified, outcome.cost) == (Status.UNVERIFIED, False, None)
    assert found.best is None
    assert "failed the verification" in found.to_html()


def test_options_of_one_algorithm_are_kept_from_the_others(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    frame, plan = cohort
    plan = replace(plan, search={"algorithm": "datafly", "weights": {"age": 0.5, "zip": 1}})
    found = ko.compare_algorithms(frame, plan, algorithms=["optimal", "datafly", "mondrian"], queries=0)
    assert len(found.released) == 3
    assert found.of("datafly").levels == ko.anonymize(frame, plan).levels


def test_the_time_limit_is_that_of_the_caller_the_plan_or_a_minute(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    frame, plan = cohort
    timed = replace(plan, search={"time_limit": 7})
    limits = [
        ko.compare_algorithms(frame, asked, algorithms=["optimal"], queries=0, time_limit=limit).time_limit
        for asked, limit in ((plan, None), (timed, None), (timed, 3))
    ]
    assert limits == [60, 7, 3]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"algorithms": ["optimum"]}, "algorithm-unknown"),
        ({"algorithms": []}, "algorithm-unknown"),
        ({"queries": -1}, "comparison-number"),
        ({"seed": 0.5}, "comparison-number"),
        ({"time_limit": 0}, "plan-time-limit"),
        ({"time_limit": -1}, "plan-time-limit"),
    ],
)
def test_wrong_arguments_are_refused(
    cohort: tuple[pl.DataFrame, ko.Plan], options: dict[str, object], code: str
) -> None:
    with pytest.raises(ko.InputError) as caught:
        ko.compare_algorithms(*cohort, **options)  # type: ignore[arg-type]
    assert caught.value.code == code


def test_progress_names_every_algorithm_when_it_begins(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    told: list[Progress] = []
    ko.compare_algorithms(*cohort, algorithms=["optimal", "flash", "optimal"], queries=0, progress=told.append)
    compared = dict.fromkeys(report.what for report in told if report.stage is Stage.COMPARING)
    assert list(compared) == ["optimal, algorithm 1 of 2", "flash, algorithm 2 of 2"]


def test_nothing_but_failures_still_makes_a_page(make_plan: MakePlan) -> None:
    frame = pl.DataFrame({"a": ["x", "y", None], "b": ["1", "2", "3"]})
    found = ko.compare_algorithms(frame, make_plan("a b", missing="suppress"), algorithms=["optimal", "mondrian"])
    assert found.best is None
    assert {outcome.status for outcome in found.outcomes} == {Status.NO_SOLUTION}
    assert "No algorithm made a release" in found.to_html()
    assert "found no release" in found.to_markdown()


# Words and drawings


def test_the_verdict_names_the_best_and_what_it_is_compared_with(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    found = ko.compare_algorithms(*cohort, algorithms=["exhaustive", "optimal", "mondrian", "flash"], task="blood")
    said = words.verdict(found)
    assert said.startswith("mondrian keeps most: loss 0.")
    assert "The best release with one level for each attribute (" in said
    assert "Count queries are answered best by mondrian" in said
    assert "blood is predicted best" in said
    table = found.to_markdown()
    assert table.splitlines()[0].count("|") == table.splitlines()[2].count("|") == 10
    assert "- `flash` cannot solve this plan: it needs a metric" in table


def test_the_same_release_is_one_line_of_the_plots(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    found = ko.compare_algorithms(*cohort, algorithms=["exhaustive", "optimal", "depth_first"], queries=10)
    assert len(words.families(found.released)) == 1
    assert "keep most" in words.verdict(found)


def test_every_plot_is_an_image_of_its_own(cohort: tuple[pl.DataFrame, ko.Plan]) -> None:
    found = ko.compare_algorithms(*cohort, algorithms=["optimal", "mondrian"], task="blood", queries=50)
    drawn = plots(found)
    assert [drawing.name for drawing in drawn] == ["time", "costs", "queries", "accuracy"]
    for drawing in drawn:
        ET.fromstring(drawing.file())
        assert drawing.inline() in found.to_html()


def test_names_of_points_keep_apart() -> None:
    points = [(100.0 + number, 100.0, f"algorithm {number}") for number in range(12)]
    labels = place(points, Box(0, 0, 600, 300))
    for number, one in enumerate(labels):
        assert all(one.box.common(other.box) == 0 for other in labels[:number])
        assert one.box.left >= 0
        assert one.box.bottom <= 300


def test_names_of_algorithms_are_cut_where_they_are_many() -> None:
    assert [words.several(names) for names in (["a"], ["a", "b"], ["a", "b", "c", "d"])] == [
        "a",
        "a and b",
        "a (and 3 others)",
    ]
