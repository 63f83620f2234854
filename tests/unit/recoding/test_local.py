"""Local recoding and cell suppression: cases by hand, never worse than one search, and a large public table."""

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.hierarchies import CsvFile, Tree
from kohorte.metrics import PLAIN_METRICS
from kohorte.models import KAnonymity, RecursiveLDiversity
from support.examples import examples
from support.shown_cells import QUASIS

EVERY_METRIC = [*(metric.name for metric in PLAIN_METRICS), {"metric": "classification", "attribute": "disease"}]
TOWNS = Tree({"North": ["a", "b"], "South": ["c", "d"]})


def plan_of(frame, algorithm, *, k=2, hierarchies=None, minimum=None, **options):
    """A plan in which `disease` is sensitive and every other column a quasi-identifier."""
    attributes = {
        name: ko.Attribute("sensitive")
        if name == "disease"
        else ko.Attribute(
            "quasi-identifying",
            hierarchy=(hierarchies or {}).get(name),
            minimum_level=(minimum or {}).get(name, 0),
        )
        for name in frame.columns
    }
    return ko.Plan(attributes, [KAnonymity(k=k)], search=algorithm, order="input", **options)


def towns(text, algorithm="local_recoding", **options):
    """The towns a, b (north), c, d (south), one letter a row."""
    frame = pl.DataFrame({"town": list(text)})
    return ko.anonymize(frame, plan_of(frame, algorithm, hierarchies={"town": TOWNS}, **options))


class TestByHand:
    def test_most_rows_stay_as_they_are_and_the_others_get_a_level_of_their_own(self):
        """First pass: all at level 0 and two suppressed cost 2/8, level 1 costs 1/3. Second pass: c and d are South."""
        release = towns("aaaaaacd")
        assert release.data["town"].to_list() == [*"aaaaaa", "South", "South"]
        assert release.cost == pytest.approx(2 * (1 / 3) / 8)
        passes = [{"rows": 6, "levels": {"town": 0}}, {"rows": 2, "levels": {"town": 1}}]
        assert release.to_dict()["algorithm_facts"]["passes"] == passes
        assert (release.classes, release.smallest_class, release.suppressed) == (2, 2, 0)

    def test_every_class_takes_the_finest_level_at_which_its_rows_agree(self):
        """One pass at level 1 is the best, and then the north turns out to be all a."""
        release = towns("aaacd")
        assert release.data["town"].to_list() == ["a", "a", "a", "South", "South"]
        assert release.to_dict()["algorithm_facts"]["passes"] == [{"rows": 5, "levels": {"town": 1}}]

    def test_a_row_that_is_alone_is_suppressed_within_the_limit(self):
        release = towns("aaaaaaac", suppression_limit=0.125)
        assert release.data["town"].to_list() == [*"aaaaaaa", "*"]
        assert release.suppressed == 1

    def test_without_a_limit_searches_are_undone_until_nobody_is_left(self):
        release = towns("aaaaaaac")
        assert release.data["town"].to_list() == ["*"] * 8
        assert (release.suppressed, release.classes) == (0, 1)

    def test_cells_are_suppressed_where_levels_would_be_too_many(self):
        release = towns("aaaaaacd", "cell_suppression")
        assert release.data["town"].to_list() == [*"aaaaaa", "*", "*"]
        assert release.cost == pytest.approx(2 / 8)
        assert (release.classes, release.suppressed) == (2, 0)
        assert towns("aaaaaacd", "cell_suppression", suppression_limit=0.25).suppressed == 2

    def test_only_the_cell_that_differs_is_suppressed(self):
        """Of four attributes the rows of each pair agree in three, and the two pairs differ in where."""
        rows = [(*"aaaa",), (*"aaab",), (*"cccc",), (*"dccc",)]
        frame = pl.DataFrame(rows, schema=["p", "q", "r", "s"], orient="row")
        for algorithm in ("cell_suppression", "local_recoding"):
            release = ko.anonymize(frame, plan_of(frame, algorithm))
            assert release.data.rows() == [(*"aaa*",), (*"aaa*",), (*"*ccc",), (*"*ccc",)]
            assert release.cost == pytest.approx(4 / 16)

    def test_levels_are_told_as_the_hierarchy_counts_them(self):
        release = towns("aabbcd", minimum={"town": 1})
        assert release.data["town"].to_list() == [*["North"] * 4, *["South"] * 2]
        assert release.to_dict()["algorithm_facts"]["passes"] == [{"rows": 6, "levels": {"town": 1}}]
        assert release.to_dict()["recoded"]["town"] == {"cells": 2, "lowest_level": 1, "highest_level": 1}

    def test_with_a_minimum_level_cell_suppression_shows_that_level_or_a_star(self):
        release = towns("aabbcaa", "cell_suppression", minimum={"town": 1}, suppression_limit=0.2)
        assert release.data["town"].to_list() == [*["North"] * 4, "*", *["North"] * 2]

    def test_no_release_is_told_as_such(self):
        """Not even all rows together: u is four of five, and may be no more than the others are."""
        frame = pl.DataFrame({"town": ["a"] * 5, "disease": list("uuuuv")})
        plan = plan_of(frame, "local_recoding")
        strict = RecursiveLDiversity(attribute="disease", c=1.0, l=2)
        with pytest.raises(ko.NoSolution) as caught:
            ko.anonymize(frame, replace(plan, models=[strict]))
        assert caught.value.code == "recoding-no-solution"


@st.composite
def tables(draw):
    names = draw(st.lists(st.sampled_from(sorted(QUASIS)), min_size=1, max_size=3, unique=True))
    count = draw(st.integers(3, 12))
    columns = {
        name: pl.Series(draw(st.lists(st.sampled_from(QUASIS[name].values), min_size=count, max_size=count)))
        for name in names
    }
    diseases = draw(st.lists(st.sampled_from("uvw"), min_size=count, max_size=count))
    return pl.DataFrame(columns | {"disease": pl.Series(diseases)})


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=str)
@examples(15)
@given(frame=tables(), k=st.integers(1, 3), limit=st.sampled_from([0.0, 0.1, 0.3, 0.6]), missing=st.booleans())
def test_local_recoding_is_never_worse_than_one_optimal_search_by_the_metric_of_the_plan(
    metric, frame, k, limit, missing
):
    """Where the search shows anything at all: metrics that do not count suppressed rows may like nothing best."""
    if missing:
        frame = frame.with_columns(pl.when(pl.int_range(pl.len()) != 1).then(pl.first()).alias(frame.columns[0]))
    options = {"k": k, "hierarchies": {name: QUASIS[name].builder for name in QUASIS}, "metric": metric}
    options |= {"suppression_limit": limit, "missing": "suppress" if missing else "category"}
    try:
        once = ko.anonymize(frame, plan_of(frame, "optimal", **options))
    except ko.NoSolution:
        return
    if once.all_starred or once.classes == 0:
        return
    release = ko.anonymize(frame, plan_of(frame, "local_recoding", **options))
    assert release.cost <= once.cost * (1 + 1e-9) + 1e-9
    assert release.suppressed <= int(limit * frame.height + 1e-9)
    passes = release.to_dict()["algorithm_facts"]["passes"]
    assert sum(entry["rows"] for entry in passes) <= frame.height
    names = {name for name in frame.columns if name != "disease"}
    assert all(set(entry["levels"]) == names for entry in passes)


@examples(30)
@given(frame=tables(), k=st.integers(1, 3), limit=st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_cell_suppression_shows_the_value_or_a_star(frame, k, limit):
    options = {"k": k, "hierarchies": {name: QUASIS[name].builder for name in QUASIS}, "suppression_limit": limit}
    release = ko.anonymize(frame, plan_of(frame, "cell_suppression", **options))
    assert release.suppressed <= int(limit * frame.height)
    for name in frame.columns:
        for original, shown in zip(frame[name], release.data[name], strict=True):
            assert shown in (original, "*")


@examples(20)
@given(frame=tables(), k=st.integers(2, 3))
def test_without_hierarchies_cell_suppression_is_local_recoding(frame, k):
    options = {"k": k, "hierarchies": {name: QUASIS[name].builder for name in QUASIS}, "suppression_limit": 0.2}
    plain = frame.select(name for name in frame.columns if name == "disease" or not QUASIS[name].labels)
    if plain.width < 2:
        return
    costs = [
        ko.anonymize(plain, plan_of(plain, name, **options)).cost for name in ("cell_suppression", "local_recoding")
    ]
    assert costs[0] == pytest.approx(costs[1])


@pytest.mark.parametrize("answer", [False, None])
def test_a_callback_may_stop_it_and_what_is_found_is_still_valid(answer):
    frame = pl.DataFrame({"town": list("aabbccdd" * 3), "age": [str(number % 7) for number in range(24)]})
    plan = plan_of(frame, "local_recoding", hierarchies={"town": TOWNS}, suppression_limit=0.5)
    release = ko.anonymize(frame, plan, progress=lambda _: answer)
    assert ko.verify(release.data, plan).satisfied


@pytest.mark.slow
def test_on_a_large_public_table_local_recoding_costs_at_most_half_of_the_best_levels_for_all(benchmark_folder):
    frame = ko.read_table(benchmark_folder / "adult.csv").frame
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
    frame = frame.select(names)
    files = {name: CsvFile(f"adult_hierarchy_{name}.csv", folder=benchmark_folder / "hierarchies") for name in names}
    best = ko.anonymize(frame, plan_of(frame, "optimal", k=5, hierarchies=files))
    release = ko.anonymize(frame, plan_of(frame, "local_recoding", k=5, hierarchies=files, suppression_limit=1.0))
    assert best.optimal
    assert release.cost <= best.cost / 2
    assert release.smallest_class >= 5
