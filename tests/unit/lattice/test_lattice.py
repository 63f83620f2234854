import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import InputError
from kohorte.lattice import Lattice, add_up

EXAMPLE = Lattice((3, 2, 6))  # age, sex, zip of the dissertation
NODE = (1, 0, 3)
SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=5).map(tuple)


def marked(lattice, where):
    marks = np.zeros(lattice.shape, dtype=bool)
    marks[where] = True
    return {node for node in itertools.product(*map(range, lattice.shape)) if marks[node]}


def paths_up(lattice, node):
    """Count the paths to the top by walking them all."""
    successors = lattice.successors(node)
    return sum(paths_up(lattice, up) for up in successors) if successors else 1


def test_the_example_lattice_has_36_nodes_on_9_levels():
    assert EXAMPLE.size == 36
    assert len(set(EXAMPLE.nodes())) == 36
    assert len(np.unique(EXAMPLE.heights)) == 9
    assert EXAMPLE.bottom == (0, 0, 0)
    assert EXAMPLE.top == (2, 1, 5)


def test_the_example_lattice_has_6_nodes_on_level_4():
    assert int((EXAMPLE.heights == 4).sum()) == 6


def test_the_example_node_has_3_direct_generalizations_and_2_direct_specializations():
    assert EXAMPLE.successors(NODE) == [(2, 0, 3), (1, 1, 3), (1, 0, 4)]
    assert EXAMPLE.predecessors(NODE) == [(0, 0, 3), (1, 0, 2)]


def test_the_example_node_reaches_7_nodes_downwards_and_11_upwards():
    assert len(marked(EXAMPLE, EXAMPLE.below(NODE)) - {NODE}) == 7
    assert len(marked(EXAMPLE, EXAMPLE.above(NODE)) - {NODE}) == 11


def test_the_example_lattice_has_168_strategies_and_342_sublattices():
    assert EXAMPLE.strategies() == 168 == paths_up(EXAMPLE, EXAMPLE.bottom)
    assert EXAMPLE.sublattices() == 342
    assert sum(len(marked(EXAMPLE, EXAMPLE.above(node))) - 1 for node in EXAMPLE.nodes()) == 342


def test_the_benchmark_lattices_have_the_published_sizes():
    assert Lattice((2, 5, 2, 3, 4, 3, 3, 3, 2)).size == 12_960
    assert Lattice((6, 5, 2, 3, 2, 5, 5, 5)).size == 45_000


@given(SHAPES, st.data())
def test_slices_hold_exactly_the_generalizations_and_specializations(shape, data):
    lattice = Lattice(shape)
    node = tuple(data.draw(st.integers(0, length - 1)) for length in shape)
    nodes = set(itertools.product(*map(range, shape)))
    assert marked(lattice, lattice.above(node)) == {n for n in nodes if all(map(int.__ge__, n, node))}
    assert marked(lattice, lattice.below(node)) == {n for n in nodes if all(map(int.__le__, n, node))}


@given(SHAPES)
def test_node_finds_the_levels_of_a_flat_index(shape):
    lattice = Lattice(shape)
    assert [lattice.node(index) for index in range(lattice.size)] == list(lattice.nodes())


@given(SHAPES)
def test_order_goes_by_height_then_by_levels_from_left_to_right(shape):
    lattice = Lattice(shape)
    nodes = sorted(lattice.nodes(), key=lambda node: lattice.order[node])
    assert nodes == sorted(itertools.product(*map(range, shape)), key=lambda node: (sum(node), node))


@given(SHAPES, st.data())
def test_the_sum_over_all_nodes_equals_the_sum_of_each_node_to_the_last_bit(shape, data):
    lattice = Lattice(shape)
    numbers = st.floats(-1e12, 1e12, allow_subnormal=False)
    parts = [np.array(data.draw(st.lists(numbers, min_size=n, max_size=n))) for n in shape]
    total = lattice.sum(parts)
    assert total.shape == shape
    for node in lattice.nodes():
        assert float(total[node]).hex() == add_up(parts, node).hex()
        exact = math.fsum(part[level] for part, level in zip(parts, node, strict=True))
        assert math.isclose(total[node], exact, rel_tol=1e-9, abs_tol=1e-2)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (-1,)])
def test_a_lattice_without_attributes_or_levels_is_refused(shape):
    with pytest.raises(InputError) as caught:
        Lattice(shape)
    assert caught.value.code == "lattice-empty"


def test_the_nodes_of_the_largest_lattice_can_be_listed_and_with_one_more_level_not():
    assert Lattice((2,) * 24).too_large is None
    with pytest.raises(InputError, match=r"100,663,296 combinations .* too many") as caught:
        Lattice((2,) * 25 + (3,)).refuse_listing()
    assert caught.value.code == "lattice-too-large"


def test_a_far_too_large_lattice_makes_no_array_but_still_knows_its_ends():
    huge = Lattice((10,) * 60)
    assert huge.top == (9,) * 60
    for array in ("heights", "order"):
        with pytest.raises(InputError, match=r"about 10\^60 combinations") as caught:
            getattr(huge, array)
        assert caught.value.code == "lattice-too-large"


def test_a_lattice_of_one_node_has_one_strategy_and_no_sublattice():
    single = Lattice((1, 1))
    assert single.bottom == single.top == (0, 0)
    assert (single.size, single.strategies(), single.sublattices()) == (1, 1, 0)
