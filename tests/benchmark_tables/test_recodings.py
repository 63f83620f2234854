"""Recodings of ADULT: what must hold for them on a public table."""

from dataclasses import replace

import pytest

import kohorte as ko
from kohorte.kernels import KERNELS
from testbed import tables

compiled = pytest.mark.skipif(KERNELS == "reference", reason="the NumPy kernels have the published bound alone")
pytestmark = pytest.mark.skipif(not tables.available(), reason="the public benchmark tables are not there")


@pytest.fixture(scope="module")
def adult():
    return ko.read_table(tables.DATA / "adult.csv").frame


@pytest.mark.slow
@compiled
@pytest.mark.parametrize(("k", "least"), [(1000, 46_071_298), (100, 12_812_556)])
def test_k_optimize_proves_the_optimum_with_age_in_fifteen_steps(adult, k, least):
    plan = tables.plan("adult", k=k, limit=0.0, metric="discernibility", algorithm="k_optimize")
    steps = {**plan.attributes, "age": replace(plan.attributes["age"], minimum_level=1)}
    release = ko.anonymize(adult, replace(plan, attributes=steps, search=replace(plan.search, time_limit=280)))
    assert (release.optimal, release.cost) == (True, least)
    assert release.smallest_class >= k


@pytest.mark.slow
def test_for_small_k_k_optimize_tells_how_far_its_bound_is(adult):
    plan = tables.plan("adult", k=5, limit=0.0, metric="discernibility", algorithm="k_optimize")
    release = ko.anonymize(adult, replace(plan, search=replace(plan.search, time_limit=2)))
    assert not release.optimal
    assert 0 < release.result.lower_bound < release.cost
    assert "the optimum costs at least" in release.verdict


@pytest.mark.parametrize("algorithm", ["mondrian", "mondrian_relaxed"])
def test_mondrian_keeps_far_more_than_any_levels_for_all(adult, algorithm):
    best = ko.anonymize(adult, tables.plan("adult", k=5, limit=0.0, metric="loss"))
    release = ko.anonymize(adult, tables.plan("adult", k=5, limit=0.0, metric="loss", algorithm=algorithm))
    assert release.cost < best.cost / 10
    assert release.to_dict()["algorithm_facts"]["rows_per_region_and_k"] < 2
    assert release.suppressed == 0
