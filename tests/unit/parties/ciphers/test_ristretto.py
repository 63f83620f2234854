"""Points of ristretto255, against published vectors and against the group in plain Python."""

import hashlib
import hmac

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import InternalError, ProtocolError
from kohorte.parties.ciphers import ristretto
from kohorte.parties.ciphers.libsodium import ristretto as loops
from support import ristretto_oracle as oracle
from support.examples import examples
from support.ristretto_vectors import HASHED_TEXTS, MULTIPLES_OF_THE_GENERATOR, NOT_POINTS

SCALARS = st.integers(1, oracle.ORDER - 1)


def points(texts):
    return np.array([list(bytes.fromhex(text)) for text in texts], dtype=np.uint8)


def some_points(count):
    return ristretto.hash_to_group([str(i).encode() for i in range(count)], b"key")


def as_bytes(number):
    return number.to_bytes(32, "little")


def test_texts_are_hashed_with_the_key_and_mapped_to_the_group():
    texts = [b"", b"diabetes", "Müller".encode()]
    hashes = [hmac.new(b"column", text, hashlib.sha512).digest() for text in texts]
    expected = loops().from_hash(np.array([list(value) for value in hashes], dtype=np.uint8))[0]
    np.testing.assert_array_equal(ristretto.hash_to_group(texts, b"column"), expected)


def test_the_map_to_the_group_is_the_published_one():
    hashes = [list(hashlib.sha512(text.encode()).digest()) for text in HASHED_TEXTS]
    found = loops().from_hash(np.array(hashes, dtype=np.uint8))[0]
    np.testing.assert_array_equal(found, points(HASHED_TEXTS.values()))


def test_another_key_gives_other_points_and_no_texts_give_no_points():
    one, other = (ristretto.hash_to_group([b"diabetes"], key) for key in (b"sex", b"diagnosis"))
    assert one.tobytes() != other.tobytes()
    assert ristretto.hash_to_group([], b"key").shape == (0, 32)


@examples(8)
@given(SCALARS, SCALARS)
def test_products_sums_and_differences_are_those_of_plain_python(one, other):
    base = ristretto.multiply_base(ristretto.scalars_of([one, other]))
    assert [row.tobytes() for row in base] == [oracle.product(n, oracle.GENERATOR) for n in (one, other)]
    assert ristretto.multiply(base[:1], as_bytes(other)).tobytes() == oracle.product(other, base[0].tobytes())
    total = ristretto.add(base[:1], base[1:])
    assert total.tobytes() == oracle.sum_of([row.tobytes() for row in base])
    assert ristretto.subtract(total, base[1:]).tobytes() == base[0].tobytes()


@examples(8)
@given(st.lists(st.integers(0, 4), max_size=12))
def test_sums_of_groups_are_those_of_plain_python(group_of):
    given_points = some_points(len(group_of))
    sums = ristretto.sum_groups(given_points, np.array(group_of, dtype=np.uint32), 5)
    for group, found in enumerate(sums):
        members = [row.tobytes() for row, own in zip(given_points, group_of, strict=True) if own == group]
        assert found.tobytes() == oracle.sum_of(members)


@given(SCALARS)
def test_an_inverse_undoes_the_multiplication(scalar):
    before = some_points(2)
    after = ristretto.multiply(before, as_bytes(scalar))
    inverse = ristretto.invert(as_bytes(scalar))
    assert int.from_bytes(inverse, "little") * scalar % oracle.ORDER == 1
    np.testing.assert_array_equal(ristretto.multiply(after, bytes(inverse)), before)


def test_random_scalars_are_below_the_order_and_never_the_same():
    drawn = [int.from_bytes(row.tobytes(), "little") for row in ristretto.random_scalars(1000)]
    assert len(set(drawn)) == 1000
    assert 2**245 < max(drawn) < 2**252 < oracle.ORDER
    assert len(ristretto.random_scalar()) == 32


def test_scalars_use_all_252_bits():
    together = np.bitwise_or.reduce(ristretto.random_scalars(200))
    assert together.tolist() == [255] * 31 + [15]


REFUSING = [
    lambda bad: ristretto.multiply(bad, as_bytes(7)),
    lambda bad: ristretto.multiply_each(ristretto.random_scalars(len(bad)), bad),
    lambda bad: ristretto.add(bad, some_points(1)),
    lambda bad: ristretto.subtract(some_points(1), bad),
    lambda bad: ristretto.sum_groups(bad, np.arange(len(bad), dtype=np.uint32), len(bad)),
    lambda bad: ristretto.sum_groups(bad, np.zeros(len(bad), dtype=np.uint32), 1),
    ristretto.check_points,
]


@pytest.mark.parametrize("refusing", REFUSING)
def test_an_invalid_point_is_refused_with_its_row_and_without_its_bytes(refusing):
    bad = np.vstack([some_points(3), points(NOT_POINTS[9:10]), some_points(1)])
    with pytest.raises(ProtocolError, match="row 4 of a message is not a valid point") as caught:
        refusing(bad)
    assert caught.value.code == "party-ciphertext"
    assert NOT_POINTS[9][:8] not in str(caught.value)


@pytest.mark.parametrize("refusing", REFUSING)
@pytest.mark.parametrize(
    "shape",
    [np.zeros((2, 31), np.uint8), np.zeros((2, 33), np.uint8), np.zeros(32, np.uint8), np.zeros((1, 32), np.int64)],
)
def test_points_of_another_length_are_refused(refusing, shape):
    with pytest.raises(ProtocolError, match="points of 32 bytes"):
        refusing(shape)


def test_the_neutral_element_is_refused_from_outside():
    neutral = points([MULTIPLES_OF_THE_GENERATOR[1], MULTIPLES_OF_THE_GENERATOR[0]])
    for refusing in (ristretto.check_points, lambda bad: ristretto.multiply(bad, as_bytes(7))):
        with pytest.raises(ProtocolError, match="row 2"):
            refusing(neutral)
    both = np.vstack([neutral, points(NOT_POINTS[:1])])
    with pytest.raises(ProtocolError, match="row 2"):
        ristretto.check_points(both)
    np.testing.assert_array_equal(ristretto.check_points(neutral[:1]), neutral[:1])


def test_points_that_are_a_part_of_a_larger_matrix_are_taken():
    wide = np.hstack([some_points(5), some_points(5)])
    np.testing.assert_array_equal(
        ristretto.add(wide[:, :32], wide[:, 32:]), ristretto.multiply(some_points(5), as_bytes(2))
    )
    np.testing.assert_array_equal(
        ristretto.multiply(wide[::2, :32], as_bytes(3)), ristretto.multiply(some_points(5)[::2], as_bytes(3))
    )


@pytest.mark.parametrize("scalar", [b"", bytes(32), b"\x07" * 31])
def test_a_scalar_of_another_length_or_zero_is_a_bug(scalar):
    for use in (lambda: ristretto.multiply(some_points(1), scalar), lambda: ristretto.invert(scalar)):
        with pytest.raises(InternalError):
            use()


def test_many_points_are_computed_in_pieces_so_that_a_role_can_be_interrupted(monkeypatch):
    texts, scalars = [str(i).encode() for i in range(23)], ristretto.random_scalars(23)
    group_of = np.array([3, 0, 3, 1, 3] * 4 + [5, 3, 0], dtype=np.uint32)

    def computed():
        some = ristretto.hash_to_group(texts, b"key")
        return [
            some,
            ristretto.multiply(some, as_bytes(7)),
            ristretto.multiply_each(scalars, some),
            ristretto.multiply_base(scalars),
            ristretto.add(some, some[:1]),
            ristretto.subtract(some[:1], some[1:]),
            ristretto.sum_groups(some, group_of, 7),
        ]

    whole = computed()
    monkeypatch.setattr(ristretto, "PIECE", 4)
    for one, other in zip(computed(), whole, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("bad", [2, 9, 10])
def test_the_row_of_a_point_that_is_refused_is_named_in_any_piece(monkeypatch, bad):
    monkeypatch.setattr(ristretto, "PIECE", 4)
    some = some_points(11)
    some[bad] = points(NOT_POINTS[:1])
    for refused in (lambda: ristretto.multiply(some, as_bytes(7)), lambda: ristretto.sum_groups(some, some[:, 0], 256)):
        with pytest.raises(ProtocolError, match=f"row {bad + 1} "):
            refused()
