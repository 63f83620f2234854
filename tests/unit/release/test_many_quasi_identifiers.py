"""Tables with so many quasi-identifiers that the combinations of their levels cannot be listed."""

import random
from collections.abc import Sequence

import polars as pl
import pytest

from kohorte.algorithm_names import ALGORITHM_NAMES
from kohorte.comparison import compare_algorithms
from kohorte.errors import InputError, PrivacyViolation
from kohorte.models import KAnonymity
from kohorte.plans.plan import Plan
from kohorte.release import anonymize
from kohorte.space import solution_space

COLUMNS, ROWS = 31, 60
NAMES = [f"q{at}" for at in range(COLUMNS)]
NOTHING = {f"n{at}": ["a", "b"] * (ROWS // 2) for at in range(COLUMNS)}
"""Columns that say the same as the first one."""
WITHOUT_LIMIT = ("best_first", "datafly", "mondrian", "mondrian_relaxed", "least_loss", "local_recoding")
WITHOUT_LIMIT = (*WITHOUT_LIMIT, "cell_suppression", "k_optimize", "hill_climbing")


def wide_table() -> pl.DataFrame:
    draw = random.Random(1)
    return pl.DataFrame({f"q{at}": [draw.choice("abc") for _ in range(ROWS)] for at in range(COLUMNS)})


def wide_plan(algorithm: str, names: Sequence[str] = NAMES) -> Plan:
    attributes = {name: {"role": "quasi-identifying"} for name in names}
    return Plan(attributes=attributes, models=[KAnonymity(k=5)], suppression_limit=0.05, search=algorithm)


def test_a_heuristic_has_no_limit_of_combinations():
    release = anonymize(wide_table(), wide_plan("datafly"))
    assert release.smallest_class >= 5
    assert release.lattice == 2**COLUMNS


@pytest.mark.parametrize("algorithm", ["optimal", "exhaustive", "breadth_first", "mingen"])
def test_a_search_that_lists_all_combinations_names_what_can_be_used_instead(algorithm):
    able = r"these can: best_first, datafly, least_loss, local_recoding, cell_suppression, mu_argus\)"
    with pytest.raises(InputError, match=able) as caught:
        anonymize(wide_table(), wide_plan(algorithm))
    assert caught.value.code == "lattice-too-large"


def test_the_reason_of_a_recoder_is_not_hidden_by_the_size_of_a_lattice_it_does_not_use():
    with pytest.raises(InputError, match=r"attribute 'q0' has neither an order nor a hierarchy") as caught:
        anonymize(wide_table(), wide_plan("mondrian"))
    assert caught.value.code == "algorithm-unfit"


@pytest.mark.parametrize("algorithm", ["least_loss", "local_recoding", "cell_suppression"])
def test_a_recoding_has_no_limit_of_combinations(algorithm):
    release = anonymize(wide_table(), wide_plan(algorithm))
    assert release.smallest_class >= 5
    assert release.cost < anonymize(wide_table(), wide_plan("datafly")).cost


NUMBERS = {"a": "1", "b": "2", "c": "3"}
ABLE = ", ".join((*WITHOUT_LIMIT, "mu_argus"))


@pytest.mark.parametrize("algorithm", WITHOUT_LIMIT)
def test_an_algorithm_without_a_list_takes_31_quasi_identifiers(algorithm, monkeypatch):
    monkeypatch.setattr("kohorte.search.best_first.SECONDS", 0.3)
    assert anonymize(wide_table().with_columns(pl.all().replace_strict(NUMBERS)), wide_plan(algorithm)).classes > 1


@pytest.mark.parametrize("algorithm", sorted({*ALGORITHM_NAMES} - {*WITHOUT_LIMIT, "mu_argus"}))
def test_an_algorithm_that_refuses_31_quasi_identifiers_names_those_that_take_them(algorithm):
    with pytest.raises(InputError, match=rf"these can: {ABLE}") as caught:
        anonymize(wide_table().with_columns(pl.all().replace_strict(NUMBERS)), wide_plan(algorithm))
    assert caught.value.code in ("lattice-too-large", "algorithm-unfit")


def test_mu_argus_that_fails_names_no_algorithm_that_refuses_so_many_quasi_identifiers():
    with pytest.raises(PrivacyViolation, match="cell_suppression makes classes of all attributes"):
        anonymize(wide_table().select(NAMES[:13]), wide_plan("mu_argus", NAMES[:13]))


def test_the_search_without_a_list_takes_the_better_one_of_two_attributes():
    draw = random.Random(2)
    rows = [("x" if row % 2 else "y", str(draw.random())) for row in range(ROWS)]
    table = pl.DataFrame({"fine": [own for own, _ in rows], "alone": [own for _, own in rows]} | NOTHING)
    release = anonymize(table, wide_plan("local_recoding", ["fine", "alone", *NOTHING]))
    assert set(release.data["fine"]) == {"x", "y"}
    assert set(release.data["alone"]) == {"*"}


def test_a_comparison_refuses_the_searches_that_list_all_combinations_and_runs_the_others():
    compared = compare_algorithms(wide_table(), wide_plan("datafly"), algorithms=["optimal", "datafly"])
    outcomes = {outcome.algorithm: outcome for outcome in compared.outcomes}
    assert outcomes["datafly"].released
    assert "too many to list" in outcomes["optimal"].reason


def test_a_solution_space_of_too_many_combinations_is_refused():
    with pytest.raises(InputError, match="one point for each") as caught:
        solution_space(wide_table(), wide_plan("optimal"))
    assert caught.value.code == "lattice-too-large"
