"""Models of sensitive attributes in a search and a verification."""

from dataclasses import replace

import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import Intervals
from kohorte.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    NTCloseness,
)


def plan_of(models, **options):
    attributes = {"region": ko.Attribute("quasi-identifying"), "d": ko.Attribute("sensitive")}
    return ko.Plan(attributes=attributes, models=models, **options)


@pytest.mark.parametrize("algorithm", ["optimal", "exhaustive", "flash_two_phase"])
def test_n_t_closeness_is_judged_among_the_classes_that_other_models_keep(algorithm):
    table = pl.DataFrame({"region": list("AAAABBBC"), "d": list("xyyyxxyx")})
    models = [KAnonymity(k=2), NTCloseness("d", n=6, t=0.2)]
    release = ko.anonymize(table, plan_of(models, suppression_limit=0.4, search=algorithm))
    assert (release.levels, release.suppressed) == ({"region": 0}, 1)


@pytest.mark.parametrize("algorithm", ["optimal", "exhaustive", "flash_two_phase", "flash_depth_first"])
@pytest.mark.parametrize("metric", ["entropy", "height"])
def test_nothing_but_stars_is_no_solution_where_excluded_rows_spoil_it(algorithm, metric):
    """Four rows without a region are suppressed; among stars nobody can tell them from the others."""
    values = [f"{number:02}" for number in range(42) for _ in "xy"] + [None] * 4
    table = pl.DataFrame({"region": values, "d": list("xy") * 42 + ["x"] * 4})
    plan = plan_of(
        [AlphaKAnonymity("d", alpha=0.5, k=4)],
        suppression_limit=0.1,
        missing="suppress",
        metric=metric,
        search=algorithm,
    )
    thirds = ko.Attribute("quasi-identifying", Intervals(lower=0, upper=42, widths=[3], integer=True))
    plan = replace(plan, attributes={**plan.attributes, "region": thirds})
    release = ko.anonymize(table, plan)
    assert release.levels == {"region": 1}
    assert ko.verify(release.data, plan).satisfied
    assert not ko.solution_space(table, plan).at((2,)).solution


def test_equal_numbers_are_one_value_also_where_others_are_missing():
    plan = plan_of([DistinctLDiversity("d", l=2)])
    table = pl.DataFrame({"region": list("AABBCC"), "d": ["1", "1.0", "1", "2", None, "3"]})
    assert not ko.verify(table, plan).satisfied


def test_entropy_diversity_a_rounding_error_above_a_whole_number_is_searched_as_it_is_judged():
    table = pl.DataFrame({"region": list("AAABBB"), "d": list("xyzxyz")})
    plan = plan_of([EntropyLDiversity("d", l=1.1 * 3 - 0.3)])
    assert ko.anonymize(table, plan).levels == {"region": 0}
