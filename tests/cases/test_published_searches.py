"""The published searches on the worked example of the dissertation: figures 3.6 to 3.10.

The figures draw a level of the lattice with the highest first attribute first, and the searches of section 3.5 visit
it in this order.
"""

import math
from collections import Counter

import polars as pl
import pytest

from kohorte.hierarchies import Bounds, Intervals, Redaction, Tree
from kohorte.lattice import Lattice
from kohorte.metrics import metric_named
from kohorte.models import KAnonymity
from kohorte.search import Evaluation, Problem, search_named
from kohorte.sources import Missing, encode_rows
from support.problems import problem_of
from support.tables import SmallTable, flat_levels

AGES = [34, 45, 66, 70, 35, 21, 18, 19]
SEXES = ["m", "f", "m", "m", "f", "m", "f", "f"]
ZIPS = ["82667", "81775", "81925", "81931", "81951", "82451", "82931", "82004"]
DIAGNOSES = ["pneumonia"] * 2 + ["gastritis"] + ["pneumonia"] * 2 + ["gastritis", "pneumonia", "gastritis"]
HIERARCHIES = {
    "age": Intervals(levels=[Bounds([0, 20, 61, 130], labels=["<=19", "20-60", ">=61"])], integer=True),
    "sex": Tree(["m", "f"]),
    "zip": Redaction(length=5),
}


@pytest.fixture(scope="module")
def table():
    frame = pl.DataFrame({"age": AGES, "sex": SEXES, "zip": ZIPS})
    return encode_rows(frame, HIERARCHIES, missing=Missing.REFUSE)


def run(name, problem):
    """Run a search; return its result and the nodes that it counted, in their order."""
    counted, count = [], problem.count

    def watch(node):
        counted.append(node)
        return count(node)

    problem.count = watch
    return search_named(name).run(problem), counted


def run_case_1(name, table, metric="non_uniform_entropy"):
    """2-anonymity without suppression."""
    result, counted = run(name, problem_of(table, metric, [KAnonymity(k=2)], limit=0))
    assert result.best.node == (1, 0, 3)
    assert (result.checked, result.tagged) == (len(counted), 36 - len(counted))
    return counted


class TestSamarati:
    """Figure 3.6."""

    def test_levels_4_1_2_and_3_are_searched_up_to_their_first_solution(self, table):
        counted = run_case_1("samarati", table, "height")
        assert counted[:4] == [(2, 1, 1), (2, 0, 2), (1, 1, 2), (1, 0, 3)]
        assert counted[4:7] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
        assert [sum(node) for node in counted[7:18]] == [2] * 5 + [3] * 6

    def test_the_rest_of_the_lowest_level_with_a_solution_is_counted_for_the_sake_of_ties(self, table):
        assert run_case_1("samarati", table, "height")[18:] == [(0, 1, 3), (0, 0, 4)]


class TestIncognito:
    """Figure 3.7: a subset of age, sex and zip are the nodes with the others at their tops 2, 1 and 5."""

    def test_single_attributes_come_first_each_up_to_its_first_solution(self, table):
        counted = run_case_1("incognito", table)
        assert counted[:2] == [(0, 1, 5), (1, 1, 5)]
        assert counted[2:3] == [(2, 0, 5)]
        assert counted[3:7] == [(2, 1, 0), (2, 1, 1), (2, 1, 2), (2, 1, 3)]

    def test_pairs_start_where_their_attributes_hold_alone_and_1_0_3_is_all_that_is_left_of_the_whole(self, table):
        age_and_sex, age_and_zip, sex_and_zip = (1, 0, 5), (1, 1, 3), (2, 0, 3)
        assert run_case_1("incognito", table)[7:] == [age_and_sex, age_and_zip, sex_and_zip, (1, 0, 3)]

    def test_several_roots_of_a_subset_are_rolled_up_from_their_superroot(self):
        """ "a" and "b" hold alone, but together only when one of them is generalized: two roots with "c"."""
        halves = (("1", "2"), ("1 or 2", "1 or 2"), ("*", "*"))
        rows = (("1", "1", "p"), ("1", "2", "p"), ("1", "2", "p"), ("2", "1", "p"), ("2", "1", "p"))
        table = SmallTable((halves, halves, flat_levels("p", "q")), rows)
        result, counted = run("incognito", problem_of(table.encoded, "height", [KAnonymity(k=2)], limit=0))
        assert counted[:3] == [(0, 2, 1), (2, 0, 1), (2, 2, 0)]
        assert counted[3:8] == [(0, 0, 1), (1, 0, 1), (0, 1, 1), (0, 2, 0), (2, 0, 0)]
        superroot, *roots = counted[8:]
        assert superroot == (0, 0, 0)
        assert roots == [(1, 0, 0), (0, 1, 0)]
        assert result.best.node == (0, 1, 0)


class TestOla:
    """Figure 3.8."""

    def test_the_first_node_of_level_4_leads_to_the_local_optimum_2_1_3(self, table):
        assert run_case_1("ola", table)[:3] == [(2, 1, 1), (2, 1, 3), (2, 1, 2)]

    def test_2_0_2_is_known_to_fail_and_leads_on_upwards(self, table):
        counted = run_case_1("ola", table)
        assert (2, 0, 2) not in counted
        assert counted[3] == (2, 0, 3)


class TestTraversals:
    def test_breadth_first_counts_all_that_fail_and_the_least_of_what_holds(self, table):
        counted = run_case_1("breadth_first", table)
        assert counted[:5] == [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 0, 0)]
        assert [sum(node) for node in counted] == sorted(sum(node) for node in counted)
        assert [node for node in counted if node[0] >= 1 and node[2] >= 3] == [(1, 0, 3)]
        assert len(counted) == 25

    def test_depth_first_climbs_to_the_first_solution_before_it_turns_aside(self, table):
        first_path = [(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0), (2, 1, 1), (2, 1, 2), (2, 1, 3)]
        assert run_case_1("depth_first", table)[:7] == first_path


class TestFlash:
    """Figure 3.9."""

    @pytest.mark.parametrize("name", ["flash", "flash_two_phase", "flash_parallel"])
    def test_0_0_4_is_counted_first_and_2_1_2_last(self, table, name):
        counted = run_case_1(name, table)
        assert counted[:3] == [(0, 0, 4), (1, 0, 5), (0, 0, 5)]  # the text has a slip here: "(2,0,5)"
        assert counted[-1] == (2, 1, 2)

    def test_the_second_path_leads_from_0_0_4_to_2_1_4(self, table):
        assert run_case_1("flash", table)[3:5] == [(2, 0, 4), (1, 0, 4)]

    def test_the_search_goes_on_from_1_0_0_when_the_queue_is_empty(self, table):
        assert run_case_1("flash", table)[7:10] == [(1, 0, 2), (2, 0, 3), (1, 0, 3)]

    def test_depth_first_flash_climbs_by_zip_first(self, table):
        assert run_case_1("flash_depth_first", table)[:7] == [*((0, 0, digits) for digits in range(6)), (1, 0, 5)]


def recursive_diversity(node):
    """Judge recursive-(4,2)-diversity at a limit of 2 rows and AECS, in plain Python; 2-anonymity is monotone."""
    shown = [
        (
            (age, (age > 19) + (age > 60), "*")[node[0]],
            (sex, "*")[node[1]],
            digits[: 5 - node[2]],
        )
        for age, sex, digits in zip(AGES, SEXES, ZIPS, strict=True)
    ]
    kept, gone = [], 0
    for found, size in Counter(shown).items():
        values = Counter(diagnosis for row, diagnosis in zip(shown, DIAGNOSES, strict=True) if row == found)
        most, *others = sorted(values.values(), reverse=True)
        kept += [size] if most < 4 * sum(others) else []
        gone += size if size < 2 else 0
    suppressed = 8 - sum(kept)
    cost = 8 / ((len(kept) + (suppressed > 0)) * 2) if suppressed <= 2 else math.inf
    return Evaluation(node, suppressed <= 2, cost, suppressed, len(kept), min(kept, default=None), small=gone)


class TestTwoPhaseFlash:
    """Figure 3.10: recursive-(4,2)-diversity, 25 % suppression (2 rows), AECS; only 2-anonymity is monotone."""

    @pytest.fixture
    def problem(self, table):
        marginals = table.marginals({})
        costing = metric_named("aecs").costing(marginals, smallest_class=2, limit=2)
        assert not costing.monotone
        return Problem(Lattice(table.shape), recursive_diversity, costing, marginals, limit=2, monotone=False)

    def test_all_above_the_lowest_possible_node_of_the_first_path_is_counted_before_the_second_path(self, problem):
        _, counted = run("flash_two_phase", problem)
        assert counted[:3] == [(0, 0, 4), (1, 0, 5), (0, 0, 5)]
        assert counted[3:6] == [(2, 0, 5), (2, 1, 5), (1, 1, 5)]

    def test_2_0_2_and_2_1_2_are_counted_last(self, problem):
        assert run("flash_two_phase", problem)[1][-2:] == [(2, 0, 2), (2, 1, 2)]

    @pytest.mark.parametrize("name", ["flash_two_phase", "flash_depth_first", "breadth_first", "depth_first"])
    def test_the_optimum_is_1_0_3(self, problem, name):
        result, counted = run(name, problem)
        assert result.optimal
        assert result.best.node == (1, 0, 3)
        assert len(counted) == result.checked
