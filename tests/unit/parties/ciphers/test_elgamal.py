"""Counters under ElGamal, against the group in plain Python."""

import numpy as np
import pytest

from kohorte.errors import ProtocolError
from kohorte.parties.ciphers.counters import ElGamal, ElGamalPublic
from support import ristretto_oracle as oracle
from support.ristretto_vectors import NOT_POINTS


def counts(*values):
    return np.array(values, dtype=np.int64)


def scalar(key):
    return int.from_bytes(key.data, "little")


def opened(key, row):
    """The second point without the share of the key, in plain Python."""
    first, second = row[:32].tobytes(), row[32:].tobytes()
    return oracle.sum_of([second, oracle.product(oracle.ORDER - scalar(key), first)])


@pytest.mark.parametrize("private", [False, True])
def test_a_counter_is_what_the_scheme_says(private):
    key = ElGamal.random()
    assert key.public.to_bytes() == oracle.product(scalar(key), oracle.GENERATOR)
    rows = (key if private else key.public).encrypt(counts(0, 1, 9))
    assert len({row[:32].tobytes() for row in rows}) == 3
    for count, row in zip((0, 1, 9), rows, strict=True):
        assert opened(key, row) == oracle.product(count, oracle.GENERATOR)


def test_a_sum_adds_both_points():
    key = ElGamal.random()
    rows = key.public.encrypt(counts(1, 2))
    total = key.public.sum_groups(rows, np.zeros(2, dtype=np.uint32), 1)[0]
    assert total[:32].tobytes() == oracle.sum_of([row[:32].tobytes() for row in rows])
    assert total[32:].tobytes() == oracle.sum_of([row[32:].tobytes() for row in rows])


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_parties_with_a_joint_key_decrypt_one_after_another(order):
    keys = [ElGamal.random() for _ in range(3)]
    joint = ElGamalPublic.joint([key.public for key in keys])
    counters = joint.refresh(joint.encrypt(counts(0, 1, 500)))
    for party in order[:-1]:
        counters = keys[party].strip(counters)
    assert keys[order[-1]].decrypt(counters, 1000).tolist() == [0, 1, 500]


def test_the_joint_key_is_the_sum_of_the_keys():
    keys = [ElGamal.random() for _ in range(3)]
    joint = ElGamalPublic.joint([key.public for key in keys])
    assert joint.to_bytes() == oracle.product(sum(map(scalar, keys)) % oracle.ORDER, oracle.GENERATOR)


def test_without_the_share_of_one_party_nobody_decrypts():
    keys = [ElGamal.random() for _ in range(3)]
    counters = ElGamalPublic.joint([key.public for key in keys]).encrypt(counts(1))
    with pytest.raises(ProtocolError):
        keys[1].decrypt(keys[0].strip(counters), 1000)


def test_keys_that_cancel_each_other_are_refused():
    key = ElGamal.random()
    opposite = ElGamal(((oracle.ORDER - scalar(key)) % oracle.ORDER).to_bytes(32, "little"))
    with pytest.raises(ProtocolError):
        ElGamalPublic.joint([key.public, opposite.public])


def refused_everywhere(key, bad, reason):
    for use in (
        lambda: key.decrypt(bad, 100),
        lambda: key.strip(bad),
        lambda: key.public.refresh(bad),
        lambda: key.public.sum_groups(bad, np.zeros(len(bad), dtype=np.uint32), 1),
    ):
        with pytest.raises(ProtocolError, match=reason):
            use()


@pytest.mark.parametrize("half", [slice(0, 32), slice(32, 64)])
@pytest.mark.parametrize("text", [NOT_POINTS[0], NOT_POINTS[12]])
def test_an_invalid_point_in_either_half_is_refused(half, text):
    key = ElGamal.random()
    bad = key.public.encrypt(counts(*range(70)))
    bad[65, half] = list(bytes.fromhex(text))
    refused_everywhere(key, bad, "row 66 of a message")


def test_a_counter_that_is_not_encrypted_is_refused():
    key = ElGamal.random()
    plain = key.public.encrypt(counts(1, 1))
    plain[1, :32] = 0
    refused_everywhere(key, plain, "counter 2 of a message is not encrypted")


@pytest.mark.parametrize("text", [NOT_POINTS[0], "00" * 32])
def test_a_public_key_that_is_no_point_is_refused(text):
    with pytest.raises(ProtocolError):
        ElGamalPublic.from_bytes(bytes.fromhex(text))
