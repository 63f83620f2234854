"""The risk profile against definitions in plain Python, on many small tables, raw and with stars."""

from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.models import KAnonymity
from kohorte.risks import compare_risks
from kohorte.risks.distribution import LOWER_ENDS
from support.examples import examples

NAMES = ("a", "b", "c")
PLAN = ko.Plan(
    attributes={name: {"role": "quasi-identifying"} for name in NAMES}, models=[KAnonymity(2)], suppression_limit=1.0
)

cells = st.sampled_from(["x", "y", "z", "[1-2]", "*", None])
tables = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=25)


def frame(rows):
    return pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.String), orient="row")


def kept(rows):
    return [row for row in rows if row != ("*", "*", "*")]


@examples(30)
@given(tables, st.sampled_from([0.05, 0.2, 0.25, 0.5, 1.0]))
def test_the_prosecutor_by_definition(rows, threshold):
    prosecutor = ko.risk(frame(rows), PLAN, threshold=threshold).attackers.prosecutor
    sizes = Counter(kept(rows))
    risks = [1 / sizes[row] for row in kept(rows)]
    if not risks:
        assert (prosecutor.success_rate, prosecutor.highest_risk, prosecutor.at_highest_risk) == (0, 0, 0)
        return
    assert prosecutor.success_rate == pytest.approx(len(sizes) / len(risks))
    assert prosecutor.average_risk == pytest.approx(sum(risks) / len(risks))
    assert (prosecutor.highest_risk, prosecutor.lowest_risk) == (max(risks), min(risks))
    assert prosecutor.at_highest_risk == risks.count(max(risks))
    assert prosecutor.at_lowest_risk == risks.count(min(risks))
    assert prosecutor.above_threshold == sum(risk > threshold for risk in risks)


@examples(30)
@given(tables)
def test_suppressed_rows_are_stated_and_in_no_class(rows):
    profile = ko.risk(frame(rows), PLAN)
    sizes = Counter(kept(rows))
    assert (profile.rows, profile.suppressed) == (len(rows), len(rows) - len(kept(rows)))
    assert profile.classes == len(sizes)
    assert profile.smallest_class == min(sizes.values(), default=None)
    assert profile.uniqueness.sample_uniques == list(sizes.values()).count(1)


@examples(30)
@given(tables)
def test_the_distribution_by_definition(rows):
    profile = ko.risk(frame(rows), PLAN)
    sizes = Counter(kept(rows))
    percents = [100 / sizes[row] for row in kept(rows)]
    upper = [101.0, *map(float, LOWER_ENDS[:-1])]
    for interval, low, high in zip(profile.distribution, map(float, LOWER_ENDS), upper, strict=True):
        assert interval.count == sum(low <= risk < high for risk in percents)
        at_most = sum(risk < high for risk in percents)
        assert interval.share_up_to == pytest.approx(at_most / len(percents) if percents else 0)
    assert sum(interval.count for interval in profile.distribution) == len(percents)


@examples(30)
@given(tables, st.integers(0, 30), st.randoms(use_true_random=False))
def test_with_a_table_of_the_population_everything_is_counted(rows, more, random):
    rows = [row for row in rows if "*" not in row]
    if not rows:
        return
    pool = rows + [tuple(random.choice("xyz") for _ in NAMES) for _ in range(more)]
    profile = ko.risk(frame(rows), PLAN, population=frame(pool).sample(fraction=1, shuffle=True, seed=more))
    sizes, people = Counter(rows), Counter(pool)
    risks = [1 / people[row] for row in rows]
    journalist = profile.attackers.journalist
    assert journalist.highest_risk == max(risks)
    assert journalist.at_highest_risk == risks.count(max(risks))
    assert journalist.average_risk == pytest.approx(sum(risks) / len(rows))
    by_people = len(sizes) / sum(people[row] for row in sizes)
    assert journalist.success_rate == pytest.approx(max(sum(risks) / len(rows), by_people))
    assert profile.attackers.marketer.success_rate == pytest.approx(sum(risks) / len(rows))
    uniqueness = profile.uniqueness
    assert uniqueness.by == "population"
    assert uniqueness.population_uniques == list(people.values()).count(1)
    assert uniqueness.unique_in_both == sum(people[row] == 1 for row in rows)
    assert [estimate.estimator for estimate in uniqueness.estimates] == ["dankar", "pitman", "snb", "zayatz"]


def test_a_release_is_compared_with_the_population_at_its_own_levels():
    plan = ko.Plan(
        attributes={"zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}}},
        models=[KAnonymity(2)],
        suppression_limit=0.5,
    )
    everybody = pl.DataFrame({"zip": ["81667", "81669", "81675", "10115", "10117", "10119"]})
    profile = ko.risk(pl.DataFrame({"zip": ["8166*", "8167*", "*", "*"]}), plan, population=everybody)
    assert profile.suppressed == 2
    assert profile.attackers.journalist.highest_risk == 1.0
    assert profile.attackers.journalist.lowest_risk == 0.5
    assert profile.uniqueness.population_uniques == 1


def test_without_a_population_the_journalist_is_a_prosecutor_and_nothing_is_estimated():
    profile = ko.risk(frame([("x", "x", "x"), ("y", "x", "x"), ("y", "x", "x")]), PLAN)
    assert profile.attackers.journalist.highest_risk == profile.attackers.prosecutor.highest_risk == 1
    assert "population unknown" in profile.attackers.journalist.basis
    assert profile.uniqueness.population_uniques is None
    assert profile.measures["population_uniques"] is None


def test_an_estimator_without_an_estimate_says_why():
    profile = ko.risk(frame([("x", "x", "x"), ("y", "x", "x")]), PLAN, population_size=100)
    reasons = {estimate.estimator: estimate.reason for estimate in profile.uniqueness.estimates}
    assert "no maximum" in reasons["pitman"]
    assert "two rows" in reasons["snb"]
    assert reasons["zayatz"] == ""
    assert profile.uniqueness.by == "zayatz"


def test_a_size_and_a_fraction_say_the_same():
    rows = frame([("x", "x", "x")] * 3 + [("y", "x", "x")] * 2 + [("z", "x", "x")])
    by_size = ko.risk(rows, PLAN, population_size=60)
    by_fraction = ko.risk(rows, PLAN, sampling_fraction=0.1)
    assert by_size.to_dict() == by_fraction.to_dict()


def test_the_names_of_appendix_e():
    answer = ko.risk(frame([("x", "x", "x")] * 10), PLAN, sampling_fraction=1).to_dict()["risk_profile"]
    assert answer["attacker_success_rate"] == {
        "journalist_attacker_success_rate": 0.1,
        "marketer_attacker_success_rate": 0.1,
        "prosecutor_attacker_success_rate": 0.1,
    }
    assert answer["re_identification_risk"] == {
        "average_prosecutor_risk": 0.1,
        "estimated_journalist_risk": 0.1,
        "estimated_marketer_risk": 0.1,
        "estimated_prosecutor_risk": 0.1,
        "highest_journalist_risk": 0.1,
        "highest_prosecutor_risk": 0.1,
        "lowest_risk": 0.1,
        "population_uniques": 0,
        "records_affected_by_highest_journalist_risk": 1,
        "records_affected_by_highest_prosecutor_risk": 1,
        "records_affected_by_lowest_risk": 1,
        "sample_uniques": 0,
    }
    intervals = answer["distribution_of_risk"]
    assert [interval["interval"] for interval in intervals[:3]] == ["[50,100]", "[33.4,50)", "[25,33.4)"]
    assert intervals[0]["records_with_maximal_risk_within_interval"] == 1
    assert intervals[0]["records_with_risk_within_interval"] == 0
    inside = {interval["interval"]: interval["records_with_risk_within_interval"] for interval in intervals}
    assert inside["[10,12.5)"] == 1


@examples(30)
@given(tables)
def test_the_riskiest_rows_come_first_and_have_numbers_only(rows):
    profile = ko.risk(frame(rows), PLAN)
    sizes = Counter(kept(rows))
    found = profile.riskiest_rows(5)
    assert [row.class_size for row in found] == sorted(sizes[row] for row in kept(rows))[:5]
    for risky in found:
        own = rows[risky.row - 1]
        assert risky.class_size == sizes[own]
        for number, name in enumerate(NAMES):
            alike = [
                other
                for other in kept(rows)
                if other[:number] + other[number + 1 :] == own[:number] + own[number + 1 :]
            ]
            assert risky.alike_without[name] == len(alike)
    assert len({row.row for row in found}) == len(found)


def test_suspected_identifiers_are_a_problem_where_the_plan_does_not_say_so():
    people = pl.DataFrame(
        {"e_mail": [f"p{n}@example.org" for n in range(30)], "ssn": range(30), "sex": ["m", "f"] * 15}
    )
    plan = ko.Plan(
        attributes={
            "e_mail": {"role": "insensitive"},
            "ssn": {"role": "identifying"},
            "sex": {"role": "quasi-identifying"},
        },
        models=[KAnonymity(2)],
    )
    found = ko.risk(people, plan).suspected_identifiers
    assert {(suspect.attribute, suspect.number, suspect.problem) for suspect in found} == {
        ("e_mail", 6, True),
        ("ssn", 7, False),
    }


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"population_size": 2}, "risk-population-small"),
        ({"population": frame([("x", "x", "x")])}, "risk-population-small"),
        ({"population_size": 0}, "risk-population-size"),
        ({"population_size": float("nan")}, "risk-population-size"),
        ({"population_size": "many"}, "risk-population-size"),
        ({"sampling_fraction": 0}, "risk-sampling-fraction"),
        ({"sampling_fraction": 1.5}, "risk-sampling-fraction"),
        ({"sampling_fraction": 0.5, "population_size": 10}, "risk-population-twice"),
        ({"population": frame([("x", "x", "y")] * 5)}, "population-lacks-rows"),
        ({"population": frame([("x", "x", "x"), *[("y", "y", "y")] * 5])}, "population-lacks-rows"),
        ({"population": pl.DataFrame({"a": ["x"] * 5, "b": ["x"] * 5})}, "population-columns"),
        ({"threshold": 0}, "risk-threshold"),
        ({"threshold": True}, "risk-threshold"),
        ({"largest_set": -1}, "risk-sets"),
        ({"largest_set": 2.0}, "risk-sets"),
        ({"policy": {"weights": {}}}, "policy-type"),
    ],
)
def test_bad_input_is_refused(options, code):
    with pytest.raises(ko.InputError) as caught:
        ko.risk(frame([("x", "x", "x")] * 3), PLAN, **options)
    assert caught.value.code == code


def test_too_many_attribute_sets_are_refused_with_a_size_that_would_do():
    names = [f"c{number}" for number in range(45)]
    wide = pl.DataFrame({name: ["x", "y"] for name in names})
    plan = ko.Plan(attributes={name: {"role": "quasi-identifying"} for name in names}, models=[KAnonymity(1)])
    with pytest.raises(ko.InputError, match="of at most 3"):
        ko.risk(wide, plan, largest_set=4)
    assert len(ko.risk(wide, plan, largest_set=2).attribute_sets) == 45 + 45 * 44 // 2


def test_a_comparison_has_both_figures_of_every_measure():
    before = ko.risk(frame([("x", "x", "x"), ("y", "x", "x")]), PLAN)
    after = ko.risk(frame([("*", "x", "x"), ("*", "x", "x")]), PLAN)
    figures = {name: (one, other) for name, one, other in compare_risks(before, after).figures}
    assert figures["highest_prosecutor_risk"] == (1.0, 0.5)
    assert figures["unique_rows"] == (2, 0)
    assert set(before.measures) <= set(figures)
    with pytest.raises(ko.InputError, match="two profiles"):
        compare_risks(before, before.to_dict())
    other_plan = ko.Plan(attributes={"a": {"role": "quasi-identifying"}}, models=[KAnonymity(2)])
    with pytest.raises(ko.InputError, match="different quasi-identifiers"):
        compare_risks(before, ko.risk(frame([("x", "x", "x")]).select("a"), other_plan))


def test_pandas_and_arrow_tables_have_the_same_risk():
    polars = frame([("x", "x", "x"), ("y", "x", None)])
    expected = ko.risk(polars, PLAN).to_dict()
    assert ko.risk(polars.to_pandas(), PLAN).to_dict() == expected
    assert ko.risk(polars.to_arrow(), PLAN).to_dict() == expected


@pytest.mark.parametrize(("limit", "stars", "suppressed"), [(0.5, 5, 5), (0.5, 6, 0), (0.0, 10, 0), (1.0, 10, 10)])
def test_risk_and_verify_agree_on_which_rows_of_stars_are_suppressed(limit, stars, suppressed):
    table = frame([("*", "*", "*")] * stars + [("x", "y", "z")] * (10 - stars))
    plan = replace(PLAN, suppression_limit=limit)
    measured, verified = ko.risk(table, plan), ko.verify(table, plan)
    assert (measured.suppressed, measured.classes, measured.smallest_class) == (
        verified.suppressed,
        verified.classes,
        verified.smallest_class,
    )
    assert measured.suppressed == suppressed
