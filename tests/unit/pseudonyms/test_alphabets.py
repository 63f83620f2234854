"""Alphabets: numbers as texts."""

from __future__ import annotations

import pytest

from kohorte import InputError
from kohorte.pseudonyms.alphabets import NAMED, Alphabet


def written(number: int, letters: str, length: int) -> str:
    """The oracle: one digit at a time."""
    found = ""
    for _ in range(length):
        number, rest = divmod(number, len(letters))
        found = letters[rest] + found
    return found


@pytest.mark.parametrize(
    "letters", [*NAMED.values(), "01", "abc", "äöüß€"[:4], "".join(map(chr, range(0x4E00, 0x5E00)))]
)
def test_a_number_is_written_in_the_base_of_the_alphabet(letters: str) -> None:
    alphabet = Alphabet(letters)
    for length in (1, 2, 3, 5, 16):
        space = len(letters) ** length
        for number in {0, 1, space // 2, space // 3, space - 1}:
            text = alphabet.text(number, length)
            assert text == written(number, letters, length)
            assert alphabet.number(text) == number


@pytest.mark.parametrize("name", NAMED)
def test_an_alphabet_is_known_by_its_name(name: str) -> None:
    assert Alphabet.named(name).characters == NAMED[name]
    assert Alphabet.named(name).name == name
    assert Alphabet.named("XYZ").name == "XYZ"


@pytest.mark.parametrize("letters", ["", "a", "aa", "abca", "a b", "a,b", "a-b", "=1", 'a"', "a\u0308b", "\u212b1"])
def test_an_alphabet_has_different_letters_and_digits_only(letters: str) -> None:
    with pytest.raises(InputError) as caught:
        Alphabet(letters)
    assert caught.value.code == "pseudonym-alphabet"


def test_the_first_character_of_another_alphabet_is_found() -> None:
    assert Alphabet("0123456789").first_strange("12O4") == 3
    assert Alphabet("0123456789").first_strange("1204") is None


@pytest.mark.parametrize("letters", ["01", "0123456789", "abc", NAMED["unambiguous"], NAMED["alphanumeric"]])
@pytest.mark.parametrize("space", [1, 2, 9, 10, 11, 100, 1 << 32, (1 << 32) + 1, 1 << 256, 36**5, 36**5 + 1])
def test_the_length_for_a_space_is_the_least(letters: str, space: int) -> None:
    length = Alphabet(letters).length_for(space)
    assert len(letters) ** length >= space
    assert length == 1 or len(letters) ** (length - 1) < space


def test_the_unambiguous_alphabet_leaves_out_letters_that_are_mistaken() -> None:
    assert not set("BIOS") & set(NAMED["unambiguous"])
    assert len(NAMED["unambiguous"]) == 32
