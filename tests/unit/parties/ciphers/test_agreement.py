import hashlib
import hmac
import itertools

import pytest

from kohorte.errors import ProtocolError
from kohorte.parties.ciphers.agreement import KeyPair, PairKey, column_key, derived, random_group_secret

WHO = {"study": "sha256:12", "run": "run-1", "names": ("clinic-a", "clinic-b")}


@pytest.fixture
def pairs():
    return KeyPair.random(), KeyPair.random()


def labels(*texts):
    return b"".join(len(text.encode()).to_bytes(4, "big") + text.encode() for text in ("kohorte parties", *texts))


def hkdf(secret, info, length):
    """RFC 5869."""
    key = hmac.new(bytes(32), secret, hashlib.sha256).digest()
    blocks, last = b"", b""
    for number in itertools.count(1):
        if len(blocks) >= length:
            return blocks[:length]
        last = hmac.new(key, last + info + bytes([number]), hashlib.sha256).digest()
        blocks += last
    return None


def test_both_parties_derive_the_same_key(pairs):
    one, other = pairs
    key = one.shared(other.public, **WHO)
    assert key.data == other.shared(one.public, **WHO | {"names": ("clinic-b", "clinic-a")}).data
    assert len(key.data) == 32


@pytest.mark.parametrize(
    "change",
    [
        {"study": "sha256:13"},
        {"run": "run-2"},
        {"names": ("clinic-a", "clinic-c")},
        {"names": ("clinic-", "aclinic-b")},
    ],
)
def test_another_study_run_or_party_gives_another_key(pairs, change):
    one, other = pairs
    assert one.shared(other.public, **WHO).data != one.shared(other.public, **WHO | change).data


def test_a_party_in_between_gets_other_keys(pairs):
    one, other = pairs
    between = KeyPair.random()
    assert one.shared(between.public, **WHO).data != other.shared(between.public, **WHO).data


def test_the_key_of_a_pair_is_derived_as_documented(pairs):
    from cryptography.hazmat.primitives.asymmetric import x25519

    one, other = pairs
    agreed = x25519.X25519PrivateKey.from_private_bytes(one.data).exchange(
        x25519.X25519PublicKey.from_public_bytes(other.public)
    )
    halves = sorted([one.public.hex(), other.public.hex()])
    info = labels("pair", "sha256:12", "run-1", "clinic-a", "clinic-b", *halves)
    assert one.shared(other.public, **WHO).data == hkdf(agreed, info, 32)


@pytest.mark.parametrize("bad", [b"", bytes(31), bytes(33), bytes(32), b"\1" + bytes(31)])
def test_a_public_key_that_is_none_is_refused(bad):
    with pytest.raises(ProtocolError) as caught:
        KeyPair.random().shared(bad, **WHO)
    assert caught.value.code == "party-ciphertext"


def test_what_is_sealed_opens_at_the_other_party_only(pairs):
    one, other = pairs
    sealed = one.shared(other.public, **WHO).seal(b"group secret", about="secret")
    assert other.shared(one.public, **WHO).open(sealed, about="secret") == b"group secret"
    assert b"group secret" not in sealed
    with pytest.raises(ProtocolError):
        KeyPair.random().shared(one.public, **WHO).open(sealed, about="secret")


def test_sealing_twice_gives_different_bytes():
    key = PairKey(bytes(32))
    assert key.seal(b"x", about="y") != key.seal(b"x", about="y")


def test_what_was_changed_or_is_about_something_else_is_refused():
    key = PairKey(bytes(32))
    sealed = key.seal(b"group secret", about="secret")
    changed = [sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :] for at in (0, 11, 12, len(sealed) - 1)]
    for bad in (*changed, b"", sealed[:11], sealed[:20], sealed + b"\0"):
        with pytest.raises(ProtocolError) as caught:
            key.open(bad, about="secret")
        assert caught.value.code == "party-ciphertext"
    with pytest.raises(ProtocolError):
        key.open(sealed, about="another secret")


def test_column_keys_are_derived_as_documented_and_differ():
    secret = bytes(range(32))
    assert column_key(secret, "age") == hkdf(secret, labels("column", "age"), 64)
    assert column_key(secret, "age") != column_key(secret, "sex")
    assert column_key(secret, "age") != column_key(bytes(32), "age")


def test_labels_cannot_be_joined_in_two_ways():
    assert derived(b"s" * 32, "ab", "c") != derived(b"s" * 32, "a", "bc")


def test_group_secrets_are_random():
    assert random_group_secret() != random_group_secret()
    assert len(random_group_secret()) == 32
