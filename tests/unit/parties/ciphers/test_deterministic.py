"""Encrypted cells, against AES-SIV written from RFC 5297 with nothing but the block cipher AES."""

import secrets

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import InputError, InternalError, ProtocolError
from kohorte.parties.ciphers.deterministic import ColumnCipher
from support.examples import examples

CELLS = st.lists(st.none() | st.text(max_size=10), max_size=12)
LENGTH = 40


def unhex(text):
    return bytes.fromhex(text)


def block(key, data):
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(data) + encryptor.finalize()


def doubled(data):
    value = int.from_bytes(data, "big") << 1
    return ((value & (2**128 - 1)) ^ (0x87 if value >> 128 else 0)).to_bytes(16, "big")


def xor(one, other):
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def cmac(key, data):
    """RFC 4493."""
    one = doubled(block(key, bytes(16)))
    whole = len(data) > 0 and len(data) % 16 == 0
    padded = data if whole else data + b"\x80" + bytes(-(len(data) + 1) % 16)
    last = xor(padded[-16:], one if whole else doubled(one))
    state = bytes(16)
    for at in range(0, len(padded) - 16, 16):
        state = block(key, xor(state, padded[at : at + 16]))
    return block(key, xor(state, last))


def siv(key, data, *associated):
    """RFC 5297, section 2."""
    first, second = key[: len(key) // 2], key[len(key) // 2 :]
    state = cmac(first, bytes(16))
    for text in associated:
        state = xor(doubled(state), cmac(first, text))
    if len(data) >= 16:
        vector = cmac(first, data[:-16] + xor(data[-16:], state))
    else:
        vector = cmac(first, xor(doubled(state), data + b"\x80" + bytes(15 - len(data))))
    counter = int.from_bytes(vector, "big") & ~((1 << 63) | (1 << 31))
    stream = b"".join(
        block(second, ((counter + i) % 2**128).to_bytes(16, "big")) for i in range((len(data) + 15) // 16)
    )
    return vector + xor(data, stream[: len(data)])


VECTORS = [
    (  # appendix A.1
        "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        ["101112131415161718191a1b1c1d1e1f2021222324252627"],
        "112233445566778899aabbccddee",
        "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c",
    ),
    (  # appendix A.2
        "7f7e7d7c7b7a79787776757473727170404142434445464748494a4b4c4d4e4f",
        [
            "00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100",
            "102030405060708090a0",
            "09f911029d74e35bd84156c5635688c0",
        ],
        "7468697320697320736f6d6520706c61696e7465787420746f20656e6372797074207573696e67205349562d414553",
        "7bdb6e3b432667eb06f4d14bff2fbd0fcb900f2fddbe404326601965c889bf17"
        "dba77ceb094fa663b7a3f748ba8af829ea64ad544a272e9c485b62a3fd5c0d",
    ),
]


@pytest.mark.parametrize(("key", "associated", "plain", "expected"), VECTORS)
def test_the_library_and_the_oracle_give_the_published_ciphertexts(key, associated, plain, expected):
    associated = [unhex(text) for text in associated]
    assert siv(unhex(key), unhex(plain), *associated).hex() == expected
    assert AESSIV(unhex(key)).encrypt(unhex(plain), associated).hex() == expected


@examples(30)
@given(CELLS)
def test_cells_are_encrypted_as_the_standard_says_and_come_back(cells):
    key = secrets.token_bytes(64)
    matrix = ColumnCipher(key, LENGTH).encrypt(cells)
    assert matrix.shape == (len(cells), 16 + 4 + LENGTH)
    for cell, row in zip(cells, matrix, strict=True):
        text = (cell or "").encode()
        length = 2**32 - 1 if cell is None else len(text)
        assert row.tobytes() == siv(key, length.to_bytes(4, "big") + text + bytes(LENGTH - len(text)))
    assert ColumnCipher(key, LENGTH).decrypt(matrix) == cells


def test_equal_cells_are_equal_and_missing_empty_and_zero_bytes_are_three_things():
    cipher = ColumnCipher(secrets.token_bytes(64), 5)
    rows = [row.tobytes() for row in cipher.encrypt(["a", None, "", "\0", "a", "a\0", None])]
    assert rows[0] == rows[4]
    assert rows[1] == rows[6]
    assert len(set(rows)) == 5
    assert len({len(row) for row in rows}) == 1


def test_another_column_has_other_ciphertexts():
    one, other = (ColumnCipher(secrets.token_bytes(64), 5).encrypt(["a"]).tobytes() for _ in range(2))
    assert one != other


def test_a_text_that_is_too_long_is_refused_with_its_row_and_without_its_value():
    cipher = ColumnCipher(secrets.token_bytes(64), 6)
    assert cipher.decrypt(cipher.encrypt(["Müller"[:5]])) == ["Mülle"]
    with pytest.raises(InputError, match="row 2: a cell has 7 bytes") as caught:
        cipher.encrypt(["ok", "Müller"])
    assert caught.value.code == "party-cell-too-long"
    assert "ller" not in str(caught.value)


def test_text_that_is_not_unicode_is_refused():
    with pytest.raises(InputError, match="row 1") as caught:
        ColumnCipher(secrets.token_bytes(64), 6).encrypt(["\ud800"])
    assert caught.value.code == "party-cell-text"


@pytest.mark.parametrize("place", [0, 15, 16, 20, 25])
def test_a_changed_ciphertext_is_refused(place):
    cipher = ColumnCipher(secrets.token_bytes(64), 6)
    matrix = cipher.encrypt(["a", "b", "c"]).copy()
    matrix[1, place] ^= 1
    with pytest.raises(ProtocolError, match="encrypted cell 2") as caught:
        cipher.decrypt(matrix)
    assert caught.value.code == "party-ciphertext"


def test_the_ciphertext_of_another_key_is_refused():
    one, other = (ColumnCipher(secrets.token_bytes(64), 6) for _ in range(2))
    with pytest.raises(ProtocolError):
        other.decrypt(one.encrypt(["a"]))


@pytest.mark.parametrize("shape", [(2, 25), (2, 27), (26,)])
def test_ciphertexts_of_another_length_are_refused(shape):
    with pytest.raises(ProtocolError, match="length"):
        ColumnCipher(secrets.token_bytes(64), 6).decrypt(np.zeros(shape, dtype=np.uint8))


@pytest.mark.parametrize("length", [7, 2**32 - 2])
def test_a_cell_with_a_wrong_length_inside_is_refused(length):
    key = secrets.token_bytes(64)
    row = siv(key, length.to_bytes(4, "big") + b"abcdef")
    with pytest.raises(ProtocolError):
        ColumnCipher(key, 6).decrypt(np.frombuffer(row, dtype=np.uint8).reshape(1, -1))


@pytest.mark.parametrize("inside", [b"\xff\xff\xff", b"ab\0def"])
def test_a_cell_that_is_not_padded_text_is_refused(inside):
    key = secrets.token_bytes(64)
    row = siv(key, (2).to_bytes(4, "big") + inside.ljust(6, b"x"))
    with pytest.raises(ProtocolError):
        ColumnCipher(key, 6).decrypt(np.frombuffer(row, dtype=np.uint8).reshape(1, -1))


def test_the_key_is_not_shown_and_must_have_64_bytes():
    key = secrets.token_bytes(64)
    assert repr(ColumnCipher(key, 6)) == "<ColumnCipher of cells with at most 6 bytes>"
    with pytest.raises(InternalError):
        ColumnCipher(key[:32], 6)
