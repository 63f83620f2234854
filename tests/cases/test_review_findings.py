"""What reviewers found, so that it stays mended."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte import release
from kohorte.release.picture import style


def plan_of(models, **options):
    attributes = {"region": ko.Attribute("quasi-identifying"), "d": ko.Attribute("sensitive")}
    return ko.Plan(attributes=attributes, models=models, **options)


@pytest.mark.parametrize("algorithm", ["optimal", "exhaustive", "flash_two_phase"])
def test_n_t_closeness_is_judged_among_the_classes_that_other_models_keep(algorithm):
    table = pl.DataFrame({"region": list("AAAABBBC"), "d": list("xyyyxxyx")})
    models = [ko.KAnonymity(k=2), ko.NTCloseness("d", n=6, t=0.2)]
    release = ko.anonymize(table, plan_of(models, suppression_limit=0.4, search=algorithm))
    assert (release.levels, release.suppressed) == ({"region": 0}, 1)


@pytest.mark.parametrize("algorithm", ["optimal", "exhaustive", "flash_two_phase", "flash_depth_first"])
@pytest.mark.parametrize("metric", ["entropy", "height"])
def test_nothing_but_stars_is_no_solution_where_excluded_rows_spoil_it(algorithm, metric):
    """Four rows without a region are suppressed; among stars nobody can tell them from the others."""
    values = [f"{number:02}" for number in range(42) for _ in "xy"] + [None] * 4
    table = pl.DataFrame({"region": values, "d": list("xy") * 42 + ["x"] * 4})
    plan = plan_of(
        [ko.AlphaKAnonymity("d", alpha=0.5, k=4)],
        suppression_limit=0.1,
        missing="suppress",
        metric=metric,
        search=algorithm,
    )
    thirds = ko.Attribute("quasi-identifying", ko.Intervals(lower=0, upper=42, widths=[3], integer=True))
    plan = replace(plan, attributes={**plan.attributes, "region": thirds})
    release = ko.anonymize(table, plan)
    assert release.levels == {"region": 1}
    assert ko.verify(release.data, plan).satisfied
    assert not ko.solution_space(table, plan).at((2,)).solution


def test_equal_numbers_are_one_value_also_where_others_are_missing():
    plan = plan_of([ko.DistinctLDiversity("d", l=2)])
    table = pl.DataFrame({"region": list("AABBCC"), "d": ["1", "1.0", "1", "2", None, "3"]})
    assert not ko.verify(table, plan).satisfied


@pytest.mark.parametrize(
    "model",
    [
        ko.EqualTCloseness("d", t=1),
        ko.DistinctLDiversity("d", l=1),
        ko.RecursiveLDiversity("d", c=2, l=1),
        ko.AlphaKAnonymity("d", alpha=1, k=2),
        ko.NTCloseness("d", n=1, t=0.2),
    ],
    ids=repr,
)
def test_a_model_that_promises_nothing_does_not_silence_the_warning(model):
    table = pl.DataFrame({"region": list("AABB"), "d": list("xxyy")})
    plan = plan_of([ko.KAnonymity(k=2), model])
    warnings = ko.certify(ko.anonymize(table, plan)).facts["warnings"]
    assert any("no model" in warning for warning in warnings)


def test_entropy_diversity_a_rounding_error_above_a_whole_number_is_searched_as_it_is_judged():
    table = pl.DataFrame({"region": list("AAABBB"), "d": list("xyzxyz")})
    plan = plan_of([ko.EntropyLDiversity("d", l=1.1 * 3 - 0.3)])
    assert ko.anonymize(table, plan).levels == {"region": 0}


def test_a_raw_table_is_no_release_of_its_subset():
    table = pl.DataFrame({"region": list("111122"), "in": [1, 0, 0, 1, 0, 0], "d": list("xyxyxy")})
    attributes = {"region": ko.Attribute("quasi-identifying"), "in": ko.Attribute("insensitive")}
    plan = ko.Plan(attributes={**attributes, "d": ko.Attribute("insensitive")}, models=[ko.KMap(k=2, subset="in")])
    verdict = ko.verify(table, plan, population=table)
    assert not verdict.satisfied
    assert len(verdict.problems) == 2


def test_one_suppressed_row_excuses_no_empty_class_of_a_subset():
    people = pl.DataFrame({"region": list("A" * 10 + "B" * 10 + "C" * 100), "in": ([1] * 5 + [0] * 5) * 2 + [0] * 100})
    plan = ko.Plan(
        attributes={"region": ko.Attribute("quasi-identifying"), "in": ko.Attribute("insensitive")},
        models=[ko.DeltaPresence(minimum=0.1, maximum=0.6, subset="in")],
        suppression_limit=0.1,
    )
    (verdict,) = ko.verify(pl.DataFrame({"region": [*"AAAAABBBB", "*"]}), plan, population=people).models
    assert not verdict.satisfied
    assert verdict.reached == (0.0, 0.5)


@pytest.mark.parametrize("page", ["picture/page.css", "comparison/page.css"])
def test_the_style_of_a_page_closes_what_it_opens_in_light_and_in_dark(page):
    """A rule of several lines lost its end in the dark half, and swallowed the rules after it."""
    rules = (Path(release.__file__).parent / page).read_text(encoding="utf-8")
    filled = style.css(rules)
    dark = filled.split("prefers-color-scheme:dark)", 1)[1]
    assert filled.count("{") == filled.count("}")
    assert all(line.count("{") == line.count("}") for line in dark.strip().removeprefix("{").splitlines()[1:-1])
