"""Tables with so many quasi-identifiers that the combinations of their levels cannot be listed."""

import random

import polars as pl
import pytest

from kohorte.comparison import compare_algorithms
from kohorte.errors import InputError
from kohorte.models import KAnonymity
from kohorte.plans.plan import Plan
from kohorte.release import anonymize
from kohorte.space import solution_space

COLUMNS, ROWS = 31, 60


def wide_table() -> pl.DataFrame:
    draw = random.Random(1)
    return pl.DataFrame({f"q{at}": [draw.choice("abc") for _ in range(ROWS)] for at in range(COLUMNS)})


def wide_plan(algorithm: str) -> Plan:
    attributes = {f"q{at}": {"role": "quasi-identifying"} for at in range(COLUMNS)}
    return Plan(attributes=attributes, models=[KAnonymity(k=5)], suppression_limit=0.05, search=algorithm)


def test_a_heuristic_has_no_limit_of_combinations():
    release = anonymize(wide_table(), wide_plan("datafly"))
    assert release.smallest_class >= 5
    assert release.lattice == 2**COLUMNS


@pytest.mark.parametrize("algorithm", ["optimal", "exhaustive", "breadth_first", "mingen"])
def test_a_search_that_lists_all_combinations_names_what_can_be_used_instead(algorithm):
    with pytest.raises(InputError, match=r"these can: datafly, mu_argus\)") as caught:
        anonymize(wide_table(), wide_plan(algorithm))
    assert caught.value.code == "lattice-too-large"


def test_the_reason_of_a_recoder_is_not_hidden_by_the_size_of_a_lattice_it_does_not_use():
    with pytest.raises(InputError, match=r"attribute 'q0' has neither an order nor a hierarchy") as caught:
        anonymize(wide_table(), wide_plan("mondrian"))
    assert caught.value.code == "algorithm-unfit"


def test_local_recoding_says_that_its_searches_list_all_combinations():
    with pytest.raises(InputError, match=r"local_recoding cannot .*2,147,483,648 combinations .*these can: datafly"):
        anonymize(wide_table(), wide_plan("local_recoding"))


def test_a_comparison_refuses_the_searches_that_list_all_combinations_and_runs_the_others():
    compared = compare_algorithms(wide_table(), wide_plan("datafly"), algorithms=["optimal", "datafly"])
    outcomes = {outcome.algorithm: outcome for outcome in compared.outcomes}
    assert outcomes["datafly"].released
    assert "too many to list" in outcomes["optimal"].reason


def test_a_solution_space_of_too_many_combinations_is_refused():
    with pytest.raises(InputError, match="one point for each") as caught:
        solution_space(wide_table(), wide_plan("optimal"))
    assert caught.value.code == "lattice-too-large"
