"""Every scheme of encrypted counters keeps the same contract."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import InternalError, ProtocolError
from kohorte.parties.ciphers.counters import COUNTERS
from support.examples import examples

KEYS = {scheme.name: scheme.derived(b"the secret of the group, always the same") for scheme in COUNTERS}


@pytest.fixture(params=KEYS, scope="module")
def key(request):
    return KEYS[request.param]


def counts(*values):
    return np.array(values, dtype=np.int64)


def groups(*values):
    return np.array(values, dtype=np.uint32)


@pytest.mark.parametrize("name", KEYS)
@examples(5)
@given(st.lists(st.integers(0, 3000) | st.integers(0, 2**20), max_size=6))
def test_counts_come_back(name, values):
    key = KEYS[name]
    encrypted = key.public.encrypt(counts(*values))
    assert encrypted.shape == (len(values), key.public.bytes_per_counter)
    assert encrypted.dtype == np.uint8
    decrypted = key.decrypt(encrypted, 2**20)
    assert decrypted.tolist() == values
    assert decrypted.dtype == np.int64


@pytest.mark.parametrize("name", KEYS)
@examples(5)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 3)), max_size=12))
def test_sums_of_groups_are_the_sums_of_the_counts(name, cells):
    key = KEYS[name]
    encrypted = key.public.encrypt(counts(*(count for count, _ in cells)))
    sums = key.public.sum_groups(encrypted, groups(*(group for _, group in cells)), 4)
    expected = [sum(count for count, own in cells if own == group) for group in range(4)]
    assert key.decrypt(sums, 1000).tolist() == expected


def test_equal_counts_have_different_ciphertexts(key):
    encrypted = key.public.encrypt(counts(*[1] * 20))
    for half in np.split(encrypted, 2, axis=1):
        assert len({row.tobytes() for row in half}) == 20


def test_refreshing_changes_every_ciphertext_and_no_count(key):
    before = key.public.encrypt(counts(0, 1, 0, 1, 7))
    after = key.public.refresh(before)
    for old, new in zip(np.split(before, 2, axis=1), np.split(after, 2, axis=1), strict=True):
        assert {row.tobytes() for row in old}.isdisjoint({row.tobytes() for row in new})
    assert key.decrypt(after, 10).tolist() == [0, 1, 0, 1, 7]
    again = key.public.refresh(before)
    assert (after != again).any(axis=1).all()


def test_an_empty_group_is_an_encrypted_zero_that_is_never_the_same(key):
    encrypted = key.public.encrypt(counts(5))
    sums = [key.public.sum_groups(encrypted, groups(1), 3) for _ in range(2)]
    assert key.decrypt(sums[0], 10).tolist() == [0, 5, 0]
    assert len({row.tobytes() for row in (sums[0][0], sums[0][2], sums[1][0], sums[1][2])}) == 4


def test_a_sum_of_sums_can_be_refreshed_and_added_again(key):
    encrypted = key.public.encrypt(counts(1, 2, 3, 4))
    halves = key.public.refresh(key.public.sum_groups(encrypted, groups(0, 0, 1, 1), 2))
    assert key.decrypt(key.public.sum_groups(halves, groups(0, 0), 1), 10).tolist() == [10]


def test_a_count_above_the_limit_is_refused_with_its_row(key):
    encrypted = key.public.encrypt(counts(3, 40_000, 7))
    assert key.decrypt(encrypted, 40_000).tolist() == [3, 40_000, 7]
    for most in (39_999, 7, 3):
        with pytest.raises(ProtocolError, match="encrypted counter 2 is larger") as caught:
            key.decrypt(encrypted, most)
        assert caught.value.code == "party-ciphertext"
    with pytest.raises(ProtocolError, match="encrypted counter 1 "):
        key.decrypt(encrypted, 0)


def test_counters_of_another_key_are_refused(key):
    other = type(key).derived(b"another secret")
    with pytest.raises(ProtocolError):
        key.decrypt(other.public.encrypt(counts(1)), 1000)


def test_counters_of_another_length_are_refused_everywhere(key):
    right = key.public.encrypt(counts(1, 1))
    for bad in (right[:, :-1], np.hstack([right, right]), right.ravel(), right.astype(np.int16)):
        for use in (
            lambda bad: key.decrypt(bad, 10),
            key.public.refresh,
            lambda bad: key.public.sum_groups(bad, groups(0, 0), 1),
        ):
            with pytest.raises(ProtocolError, match="length"):
                use(bad)


@pytest.mark.parametrize("byte", [0, 255])
def test_rows_that_are_no_ciphertexts_are_refused_everywhere(key, byte):
    bad = key.public.encrypt(counts(1, 1, 1))
    bad[1] = byte
    for use in (
        lambda: key.decrypt(bad, 10),
        lambda: key.public.refresh(bad),
        lambda: key.public.sum_groups(bad, groups(0, 0, 0), 1),
        lambda: key.public.sum_groups(bad, groups(0, 1, 2), 3),
    ):
        with pytest.raises(ProtocolError, match=r"(row|counter) 2 of a message") as caught:
            use()
        assert caught.value.code == "party-ciphertext"


def test_the_public_key_travels_as_bytes(key):
    public = key.public_type.from_bytes(key.public.to_bytes())
    assert public.to_bytes() == key.public.to_bytes()
    assert key.decrypt(public.encrypt(counts(4)), 10).tolist() == [4]


def test_a_malformed_public_key_is_refused(key):
    data = key.public.to_bytes()
    for bad in (b"", data[:-1], data + b"\0", bytes(len(data)), b"\xff" * len(data)):
        with pytest.raises(ProtocolError) as caught:
            key.public_type.from_bytes(bad)
        assert caught.value.code == "party-ciphertext"


def test_all_who_know_the_secret_of_the_group_have_the_same_key(key):
    one, other = (type(key).derived(secret) for secret in (b"secret", bytearray(b"secret")))
    assert one.data == other.data != key.data
    assert one.public.to_bytes() == other.public.to_bytes()


def test_drawn_keys_differ(key):
    assert type(key).random().data != key.data


def test_the_private_key_is_not_shown(key):
    for text in (repr(key), str(key), repr(key.public), repr([key])):
        assert key.data.hex()[:8] not in text
        assert repr(key.data)[2:20] not in text
        assert str(int.from_bytes(key.data, "little"))[:12] not in text


@pytest.mark.parametrize("bad", [-1, 2**32 + 1])
def test_a_count_that_cannot_be_one_is_a_bug(key, bad):
    for use in (lambda: key.public.encrypt(counts(1, bad)), lambda: key.decrypt(key.public.encrypt(counts(1)), bad)):
        with pytest.raises(InternalError):
            use()


def test_names_are_those_of_the_study_file():
    assert [scheme.name for scheme in COUNTERS] == ["elgamal", "paillier"]
