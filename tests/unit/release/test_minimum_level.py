"""minimum_level: an attribute is never released below it, whatever finds the release."""

import json
import re
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.hierarchies import Dates, Intervals, Tree
from kohorte.models import DeltaPresence, KAnonymity, KMap
from kohorte.recoding import RECODERS
from kohorte.search import SEARCHES
from support.examples import examples
from support.shown_cells import QUASIS, STAR

NAMES = ("age", "job", "sex")
FRAME = pl.DataFrame(
    {
        "age": ["0", "3", "18", "25", "26", "26", "44", "59", "18", "25", "0", "3", "44", "59"],
        "job": ["x", "y", "z", "u", "v", "w", "s", "t", "z", "u", "x", "y", "s", "t"],
        "sex": list("ffmmfmffmmffmm"),
        "disease": list("abcabcabcabcab"),
    }
)


def plan_of(minimum=None, *, k=2, **options):
    attributes = {
        name: ko.Attribute("quasi-identifying", QUASIS[name].builder, minimum_level=(minimum or {}).get(name, 0))
        for name in NAMES
    }
    attributes["disease"] = ko.Attribute("sensitive")
    return ko.Plan(attributes, [KAnonymity(k=k)], order="input", **options)


def check_levels(frame, data, minimum):
    """No cell tells more than the label of the minimum level does, judged by its text."""
    for name, least in minimum.items():
        quasi = QUASIS[name]
        for value, cell in zip(frame[name], data[name], strict=True):
            meaning = quasi.read(None if cell is None else str(cell))[0]
            assert {other for other in quasi.values if quasi.level(least, other) == quasi.level(least, value)} <= (
                meaning.covers
            )
            assert meaning.height() >= least


MINIMA = [{"age": 1}, {"age": 2, "job": 1}, {"job": 2, "sex": 1}, {"age": 3, "job": 3, "sex": 1}]
every_minimum = pytest.mark.parametrize("minimum", MINIMA, ids=str)


@every_minimum
@pytest.mark.parametrize("name", [search.name for search in SEARCHES])
def test_every_search_respects_it_and_reports_the_levels_of_the_hierarchy(name, minimum):
    metric = "height" if name == "samarati" else "loss"
    release = ko.anonymize(FRAME, plan_of(minimum, search=name, metric=metric))
    check_levels(FRAME, release.data, minimum)
    assert all(release.levels[own] >= least for own, least in minimum.items())
    for own, level in release.levels.items():
        wanted = [QUASIS[own].level(level, value) for value in FRAME[own]]
        assert release.data[own].to_list() == wanted
    assert release.to_dict()["levels"] == release.levels
    assert release.lattice == _product(QUASIS[own].top + 1 - minimum.get(own, 0) for own in NAMES)


def _product(numbers):
    total = 1
    for number in numbers:
        total *= number
    return total


@every_minimum
@pytest.mark.parametrize("name", [recoder.name for recoder in RECODERS])
def test_every_recoding_respects_it(name, minimum):
    frame = pl.concat([FRAME, FRAME]) if name == "mu_argus" else FRAME  # it has no guarantee unless rows are in pairs
    release = ko.anonymize(frame, plan_of(minimum, search=name, suppression_limit=0.5))
    check_levels(frame, release.data, minimum)
    for own, facts in release.recoded.items():
        assert minimum.get(own, 0) <= facts["lowest_level"] <= facts["highest_level"] <= QUASIS[own].top
    for entry in release.to_dict()["algorithm_facts"].get("passes", ()):
        assert all(entry["levels"][own] >= least for own, least in minimum.items())


@pytest.mark.parametrize("metric", ["loss", "precision", "discernibility"])
@examples(25)
@given(data=st.data())
def test_the_optimum_is_that_of_the_whole_lattice_above_it(metric, data):
    """All nodes of the plan without a minimum_level, less those below it: the best of them is the answer."""
    rows = data.draw(st.integers(3, 10))
    frame = pl.DataFrame(
        {
            name: pl.Series(data.draw(st.lists(st.sampled_from(QUASIS[name].values), min_size=rows, max_size=rows)))
            for name in NAMES
        }
    ).with_columns(disease=pl.lit("a"))
    minimum = {name: data.draw(st.integers(0, QUASIS[name].top)) for name in NAMES}
    options = {"k": data.draw(st.integers(1, 3)), "metric": metric}
    options["suppression_limit"] = data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    space = ko.solution_space(frame, plan_of(**options))
    allowed = [
        node
        for node in space.solutions()
        if all(level >= minimum[name] for name, level in zip(NAMES, node.node, strict=True))
    ]
    release = ko.anonymize(frame, plan_of(minimum, **options))
    assert release.cost == pytest.approx(allowed[0].cost, rel=1e-12, abs=1e-12)
    assert (release.suppressed, release.optimal) == (allowed[0].suppressed, True)
    costs = {node.node: node.cost for node in allowed}
    assert costs[tuple(release.levels.values())] == pytest.approx(allowed[0].cost, rel=1e-12, abs=1e-12)


def test_precision_and_height_count_the_levels_of_the_hierarchy():
    plan = plan_of({"age": 2, "job": 3}, metric="height", suppression_limit=1.0)
    assert ko.anonymize(FRAME, plan).cost == 2 + 3 + 0
    plan = plan_of({"age": 2, "job": 3}, metric="precision_monotone", suppression_limit=1.0)
    assert ko.anonymize(FRAME, plan).cost == pytest.approx((2 / 3 + 3 / 3 + 0) / 3)


def test_a_column_at_its_minimum_level_is_text_and_one_at_level_0_stays_as_it_came():
    frame = FRAME.with_columns(pl.col("age").cast(pl.Int64))
    free = ko.anonymize(frame, plan_of(k=1))
    assert free.data.schema["age"] == pl.Int64
    bound = ko.anonymize(frame, plan_of({"age": 1}, k=1))
    assert bound.data.schema["age"] == pl.String
    assert bound.data["age"].to_list()[:3] == ["0-4", "0-4", "15-19"]


class TestTransform:
    def test_later_rows_get_the_same_levels(self):
        release = ko.anonymize(FRAME, plan_of({"age": 1, "job": 1}, k=1))
        assert release.levels == {"age": 1, "job": 1, "sex": 0}
        assert release.transform(FRAME).equals(release.data)
        later = release.transform(pl.DataFrame({"age": ["4"], "job": ["y"], "sex": ["f"], "disease": ["c"]}))
        assert later.rows() == [("0-4", "A1", "f", "c")]

    def test_with_suppressed_rows(self):
        release = ko.anonymize(FRAME, plan_of({"age": 1}, k=3, suppression_limit=0.5))
        assert release.suppressed > 0
        assert release.transform(FRAME).equals(release.data)


class TestVerification:
    people = FRAME.with_columns(chosen=pl.Series([1, 0] * 7))

    def plan(self, minimum):
        plan = plan_of(minimum)
        attributes = dict(plan.attributes) | {"chosen": ko.Attribute("insensitive")}
        models = [KMap(k=2, subset="chosen"), DeltaPresence(0.0, 0.8, subset="chosen")]
        return ko.Plan(attributes, models, order="input", suppression_limit=0.3)

    @every_minimum
    def test_a_release_is_compared_with_its_population_at_the_same_levels(self, minimum):
        release = ko.anonymize(self.people, self.plan(minimum))
        assert all(release.levels[name] >= least for name, least in minimum.items())
        assert ko.verify(release.data, self.plan(minimum), population=self.people).satisfied

    def test_of_a_population_file_as_well(self, tmp_path):
        ko.write_table(FRAME.select(NAMES), tmp_path / "people.csv", like=None, force=False)
        base = plan_of({"age": 1})
        plan = ko.Plan.from_dict(
            base.to_dict() | {"models": [{"model": "k-map", "k": 2, "population": "people.csv"}]}, folder=tmp_path
        )
        part = FRAME.filter(pl.int_range(pl.len()) % 2 == 0)
        release = ko.anonymize(part, plan)
        assert release.levels["age"] >= 1
        people = [
            tuple(QUASIS[name].level(release.levels[name], row[place]) for place, name in enumerate(NAMES))
            for row in FRAME.select(NAMES).rows()
        ]
        for row in release.data.select(NAMES).cast(pl.String).rows():
            assert Counter(people)[row] >= 2 or row == (STAR,) * 3
        assert ko.verify(release.data, plan).satisfied


class TestSpace:
    minimum = {"age": 1, "job": 2}  # noqa: RUF012

    def test_the_lattice_tells_levels_of_the_hierarchy(self):
        space = ko.solution_space(FRAME, plan_of(self.minimum))
        entry = json.loads(json.dumps(space.to_dict()))
        levels = [node["levels"] for node in entry["nodes"]]
        wanted = [[a, j, s] for a in (1, 2, 3) for j in (2, 3) for s in (0, 1)]
        assert sorted(levels) == wanted
        assert entry["best"] == list(ko.anonymize(FRAME, plan_of(self.minimum)).levels.values())
        assert entry["levels"] == [4, 4, 2]

    @pytest.mark.parametrize("kind", ["to_html", "to_svg"])
    def test_the_picture_tells_levels_of_the_hierarchy(self, kind):
        space = ko.solution_space(FRAME, plan_of(self.minimum))
        text = getattr(space, kind)()
        best = ko.anonymize(FRAME, plan_of(self.minimum)).levels
        shown = re.sub(r"<[^>]*>", "", text)
        tops = {"age": 3, "job": 3, "sex": 1}
        for name, level in best.items():
            assert re.search(rf"{name}: [^;()]*\([^()]*\b{level} of {tops[name]}\)", shown)
        assert not re.search(r"\bage: [^;()]*\([^()]*\b0 of 3\)", shown)
        assert not re.search(r"\bjob: [^;()]*\([^()]*\b[01] of 3\)", shown)


class TestPlans:
    def test_a_plan_is_read_as_it_is_written(self, tmp_path):
        plan = plan_of({"age": 2, "sex": 1})
        assert plan.to_dict()["attributes"]["age"]["minimum_level"] == 2
        assert "minimum_level" not in plan.to_dict()["attributes"]["job"]
        (tmp_path / "plan.yaml").write_text(plan.to_yaml(), encoding="utf-8")
        again = ko.Plan.from_yaml(tmp_path / "plan.yaml")
        assert again == plan
        assert again.fingerprint() == plan.fingerprint() != plan_of({"age": 1, "sex": 1}).fingerprint()
        assert again.minimum_levels == {"age": 2, "job": 0, "sex": 1}

    @pytest.mark.parametrize("level", [-1, 1.0, "1", True, None])
    def test_it_is_a_whole_number_of_at_least_0(self, level):
        with pytest.raises(ko.InputError) as caught:
            ko.Attribute("quasi-identifying", minimum_level=level)
        assert caught.value.code == "plan-minimum-level"

    @pytest.mark.parametrize("role", ["sensitive", "insensitive", "identifying"])
    def test_only_quasi_identifiers_have_it(self, role):
        with pytest.raises(ko.InputError, match=r"no meaning") as caught:
            ko.Plan.from_dict(
                {
                    "kohorte": 1,
                    "attributes": {"a": {"role": "quasi-identifying"}, "b": {"role": role, "minimum_level": 1}},
                    "models": [{"model": "k-anonymity", "k": 2}],
                }
            )
        assert caught.value.code == "plan-minimum-level"
        assert "attributes: b" in caught.value.message

    @pytest.mark.parametrize("name", ["optimal", "mondrian", "local_recoding"])
    def test_it_ends_with_the_hierarchy(self, name):
        with pytest.raises(ko.InputError, match=r"'sex': minimum_level is 2, .* ends with level 1") as caught:
            ko.anonymize(FRAME, plan_of({"sex": 2}, search=name))
        assert caught.value.code == "minimum-level-beyond"
        with pytest.raises(ko.InputError):
            ko.solution_space(FRAME, plan_of({"age": 4}))


@pytest.mark.parametrize(
    ("hierarchy", "raw", "shown"),
    [
        (Intervals(lower=0, upper=100, widths=[10], integer=True), ["34", "35"], ["30-39", "30-39"]),
        (Tree({"A": ["x", "y"], "B": ["z"]}), ["x", "y"], ["A", "A"]),
        (Dates(levels=["month", "year"]), ["2024-01-31", "2024-01-02"], ["2024-01", "2024-01"]),
    ],
)
def test_verify_tells_values_that_the_plan_hides(hierarchy, raw, shown):
    attributes = {"q": ko.Attribute("quasi-identifying", hierarchy, minimum_level=1)}
    plan = ko.Plan(attributes=attributes, models=[KAnonymity(k=1)])
    verdicts = [ko.verify(pl.DataFrame({"q": cells}), plan) for cells in (raw, shown, ["*", "*"])]
    assert [verdict.satisfied for verdict in verdicts] == [False, True, True]
    assert verdicts[0].problems == ("2 rows show values of 'q', which minimum_level: 1 does not allow",)
