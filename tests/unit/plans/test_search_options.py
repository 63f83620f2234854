"""The options of single algorithms, in a plan and on the command line."""

import pickle

import polars as pl
import pytest

import kohorte as ko
from kohorte.models import KAnonymity
from kohorte.plans.search_options import SearchOptions

ATTRIBUTES = {"zip": {"role": "quasi-identifying"}, "age": {"role": "quasi-identifying"}}


def plan(**search):
    return ko.Plan(attributes=ATTRIBUTES, models=[KAnonymity(k=2)], search=search)


@pytest.mark.parametrize(
    "search",
    [
        {"algorithm": "datafly", "weights": {"zip": 1.5}},
        {"algorithm": "datafly", "weights": {"zip": -0.1}},
        {"algorithm": "datafly", "weights": {"zip": "much"}},
        {"algorithm": "datafly", "weights": {"zip": True}},
        {"algorithm": "datafly", "weights": 0.5},
        {"algorithm": "datafly", "weights": None},
        {"algorithm": "datafly", "weights": {"height": 1}},
        {"algorithm": "optimal", "weights": {"zip": 1}},
        {"algorithm": "mu_argus", "identification": {"zip": "mots"}},
        {"algorithm": "mu_argus", "identification": ["zip"]},
        {"algorithm": "hill_climbing", "steps": 0},
        {"algorithm": "hill_climbing", "steps": 1.5},
        {"algorithm": "hill_climbing", "steps": {"zip": 1}},
        {"algorithm": "hill_climbing", "steps": {}},
        {"algorithm": "hill_climbing", "seed": -1},
        {"algorithm": "hill_climbing", "seed": {}},
        {"algorithm": "hill_climbing", "seed": None},
        {"algorithm": "mondrian", "seed": 1},
        {"algorithm": "mondrian", "cells": "sets"},
        {"algorithm": "mondrian", "strict": True},
        {"algorithm": "least_loss", "cells": "boxes"},
        {"algorithm": "least_loss", "cells": 1},
        {"algorithm": "least_loss", "strict": 1},
        {"algorithm": "least_loss", "strict": None},
    ],
)
def test_settings_that_do_not_fit_are_refused_with_the_option(search):
    with pytest.raises(ko.InputError) as caught:
        plan(**search)
    assert caught.value.code == "plan-search-option"
    named = next(option for option in search if option != "algorithm")
    assert named in caught.value.message or "not a quasi-identifying attribute" in caught.value.message


def test_a_weight_outside_0_to_1_is_refused_with_its_attribute():
    with pytest.raises(ko.InputError, match="search: weights: zip: is a number from 0"):
        plan(algorithm="datafly", weights={"age": 0.5, "zip": 1.5})


def test_options_survive_yaml_pickling_and_equality(tmp_path):
    for search in (
        {"algorithm": "datafly", "weights": {"zip": 0, "age": 0.25}},
        {"algorithm": "mu_argus", "identification": {"zip": "most"}},
        {"algorithm": "hill_climbing", "steps": 7, "seed": 3, "time_limit": 2.0},
        {"algorithm": "least_loss", "seed": 3, "cells": "intervals", "strict": True},
    ):
        made = plan(**search)
        path = tmp_path / "plan.yaml"
        path.write_text(made.to_yaml(), encoding="utf-8")
        assert ko.Plan.from_yaml(path) == made == pickle.loads(pickle.dumps(made))
        assert made.search.to_dict() == search


def test_another_algorithm_takes_over_what_it_knows_and_leaves_out_the_rest():
    options = SearchOptions("datafly", time_limit=3, threads=2, weights={"zip": 0.5})
    assert options.for_algorithm("optimal") == SearchOptions("optimal", time_limit=3, threads=2)
    assert options.for_algorithm("datafly") == options
    with pytest.raises(ko.InputError, match="did you mean 'mondrian'"):
        options.for_algorithm("mondrain")


def test_the_same_seed_climbs_to_the_same_release_and_more_steps_never_cost_more():
    rows = pl.DataFrame({"zip": [n * 7 % 50 for n in range(200)], "age": [n * n % 37 for n in range(200)]})
    costs = []
    for steps in (5, 50, 500):
        made = ko.Plan(
            attributes=ATTRIBUTES,
            models=[KAnonymity(k=5)],
            metric="discernibility",
            search={"algorithm": "hill_climbing", "steps": steps, "seed": 4},
            order="input",
        )
        first, second = ko.anonymize(rows, made), ko.anonymize(rows, made)
        assert first.data.equals(second.data)
        costs.append(first.cost)
    assert costs == sorted(costs, reverse=True)
    best = ko.anonymize(rows, ko.Plan(**{**vars(made), "search": "k_optimize"}))
    assert best.optimal
    assert best.cost <= costs[-1]


@pytest.mark.parametrize(
    "search",
    [
        {"algorithm": "mondrian", "levels": {"zip": 1, "age": 1}},
        {"algorithm": "optimal", "levels": {"zip": 1}},
        {"algorithm": "optimal", "levels": {"zip": 1, "age": -1}},
        {"algorithm": "optimal", "levels": {"zip": 1, "age": True}},
        {"algorithm": "optimal", "levels": {"zip": 1, "age": 0, "sex": 1}},
        {"algorithm": "optimal", "levels": [1, 1]},
    ],
)
def test_levels_are_those_of_every_quasi_identifier_and_of_a_search(search):
    with pytest.raises(ko.InputError) as caught:
        plan(**search)
    assert caught.value.code == "plan-search-option"


def test_levels_below_the_minimum_level_are_refused():
    attributes = {**ATTRIBUTES, "age": {"role": "quasi-identifying", "minimum_level": 1}}
    with pytest.raises(ko.InputError, match="at least its minimum_level"):
        ko.Plan(attributes=attributes, models=[KAnonymity(k=2)], search={"levels": {"zip": 0, "age": 0}})


def test_levels_survive_yaml_and_another_algorithm_searches_again():
    made = plan(algorithm="optimal", levels={"zip": 0, "age": 1})
    assert ko.Plan.from_dict(made.to_dict()) == made == pickle.loads(pickle.dumps(made))
    assert made.search.for_algorithm("flash") == SearchOptions("flash")
