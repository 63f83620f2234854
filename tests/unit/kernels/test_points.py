"""The compiled loops over points and their twin in Python, against each other and against the published vectors."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.kernels import Ristretto, points_reference
from kohorte.parties.ciphers.libsodium import addresses
from support.examples import examples
from support.ristretto_vectors import (
    EQUAL_HASHES,
    HASHED_TEXTS,
    MULTIPLES_OF_THE_GENERATOR,
    NOT_POINTS,
    POINT_OF_EQUAL_HASHES,
)

TWIN = points_reference.Ristretto(**addresses())


def rows(texts):
    return np.array([list(bytes.fromhex(text)) for text in texts], dtype=np.uint8)


def hexes(matrix):
    return [row.tobytes().hex() for row in matrix]


def scalars(numbers):
    return rows([number.to_bytes(32, "little").hex() for number in numbers])


@pytest.fixture(params=["compiled", "twin"])
def points(request):
    if request.param == "twin":
        return TWIN
    native = pytest.importorskip("kohorte.kernels._native", reason="no compiled kernels")
    return native.Ristretto(**addresses())


def test_the_points_of_the_choice_are_those_of_the_kernels_in_use():
    assert Ristretto(**addresses()).multiply_base(scalars([3]))[0].shape == (1, 32)


def test_multiples_of_the_generator_are_the_published_ones(points):
    found, refused = points.multiply_base(scalars(range(1, 16)))
    assert hexes(found) == MULTIPLES_OF_THE_GENERATOR[1:]
    assert refused == points_reference.NONE


def test_adding_and_subtracting_the_generator_walks_the_published_multiples(points):
    multiples = rows(MULTIPLES_OF_THE_GENERATOR)
    assert hexes(points.add(multiples[:-1], multiples[1:2])[0]) == MULTIPLES_OF_THE_GENERATOR[1:]
    assert hexes(points.subtract(multiples[1:], multiples[1:2])[0]) == MULTIPLES_OF_THE_GENERATOR[:-1]


def test_one_point_times_many_scalars_and_many_points_times_one_scalar(points):
    multiples = rows(MULTIPLES_OF_THE_GENERATOR)
    assert hexes(points.multiply(scalars(range(1, 8)), multiples[2:3])[0]) == MULTIPLES_OF_THE_GENERATOR[2::2]
    assert hexes(points.multiply(scalars([2]), multiples[1:8])[0]) == MULTIPLES_OF_THE_GENERATOR[2::2]


def test_hashes_are_mapped_to_the_published_points(points):
    hashes = rows([hashlib.sha512(text.encode()).hexdigest() for text in HASHED_TEXTS])
    assert hexes(points.from_hash(hashes)[0]) == list(HASHED_TEXTS.values())
    assert set(hexes(points.from_hash(rows(EQUAL_HASHES))[0])) == {POINT_OF_EQUAL_HASHES}


@pytest.mark.parametrize("text", NOT_POINTS)
def test_what_is_published_as_no_point_is_refused(points, text):
    bad = rows([MULTIPLES_OF_THE_GENERATOR[1], text])
    assert points.first_invalid(bad) == 1
    for answers, refused in (
        points.multiply(scalars([5]), bad),
        points.add(bad, bad[:1]),
        points.subtract(bad[:1], bad),
        points.sum_groups(bad, np.array([0, 1], dtype=np.uint32), 2),
    ):
        assert refused == 1
        assert not answers[1].any()


def test_a_product_that_is_the_neutral_element_is_refused(points):
    neutral = rows(MULTIPLES_OF_THE_GENERATOR[:1])
    assert points.multiply(scalars([5]), neutral)[1] == 0
    assert points.multiply_base(scalars([0]))[1] == 0
    assert points.first_invalid(neutral) == points_reference.NONE


def test_a_refused_point_is_named_even_if_there_are_fewer_groups_than_its_row(points):
    many = rows(MULTIPLES_OF_THE_GENERATOR[1:] * 10 + NOT_POINTS[7:9])
    sums, refused = points.sum_groups(many, np.zeros(len(many), dtype=np.uint32), 1)
    assert refused == 150
    assert hexes(sums) == hexes(points.multiply_base(scalars([120 * 10]))[0])


def test_wrong_use_is_a_value_error(points):
    five = rows(MULTIPLES_OF_THE_GENERATOR[:5])
    for wrong in (
        lambda: points.add(five, five[:2]),
        lambda: points.multiply(five[:, :16].copy(), five),
        lambda: points.from_hash(five),
        lambda: points.sum_groups(five, np.zeros(4, dtype=np.uint32), 1),
        lambda: points.sum_groups(five, np.full(5, 3, dtype=np.uint32), 3),
    ):
        with pytest.raises(ValueError, match=r"unequal|another length|fit together|does not exist"):
            wrong()


@examples(25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2, 63, 64, 65, 200]), st.sampled_from([1, 2, 7, 300]))
def test_compiled_loops_and_their_twin_give_the_same_answers(seed, count, groups):
    native = pytest.importorskip("kohorte.kernels._native", reason="no compiled kernels").Ristretto(**addresses())
    random = np.random.default_rng(seed)
    pool = rows([*MULTIPLES_OF_THE_GENERATOR, *NOT_POINTS[:: 1 + seed % 29]])
    one, other = pool[random.integers(len(pool), size=count)], pool[random.integers(len(pool), size=count)]
    factors = random.integers(256, size=(count, 32)).astype(np.uint8)
    group_of = random.integers(groups, size=count).astype(np.uint32)
    same(native.sum_groups(one, group_of, groups), TWIN.sum_groups(one, group_of, groups))
    same(native.multiply(factors, one), TWIN.multiply(factors, one))
    same(native.multiply_base(factors), TWIN.multiply_base(factors))
    same(native.add(one, other), TWIN.add(one, other))
    same(native.subtract(one, other), TWIN.subtract(one, other))
    same(native.from_hash(np.hstack([factors, one])), TWIN.from_hash(np.hstack([factors, one])))
    assert native.first_invalid(one) == TWIN.first_invalid(one)


def same(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[0].dtype == np.uint8
    assert found[1] == expected[1]
