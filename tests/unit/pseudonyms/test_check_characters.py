"""Check characters: every single error and every swap of neighbours is noticed, for alphabets of every size."""

from __future__ import annotations

import re
from itertools import product

import pytest

from kohorte import InputError
from kohorte.pseudonyms.alphabets import NAMED, Alphabet
from kohorte.pseudonyms.check_characters import CheckCharacters
from kohorte.pseudonyms.shape import Check, Shape

SMALL = ["01", "012", "0123", "01234", "012345", "0123456"]
ALL = [*SMALL, *NAMED.values()]


def mistakes(text: str, letters: str) -> set[str]:
    """All texts with one other character, or with two neighbours swapped."""
    others = {text[:at] + letter + text[at + 1 :] for at in range(len(text)) for letter in letters}
    swaps = {text[:at] + text[at + 1] + text[at] + text[at + 2 :] for at in range(len(text) - 1)}
    return (others | swaps) - {text}


@pytest.mark.parametrize("letters", SMALL)
def test_every_mistake_in_every_pseudonym_of_a_small_space_is_noticed(letters: str) -> None:
    alphabet = Alphabet(letters)
    checks = CheckCharacters(alphabet)
    for length in (1, 2, 3):
        for body in map("".join, product(letters, repeat=length)):
            text = body + checks.of(alphabet.number(body))
            assert checks.fit(text)
            assert not any(checks.fit(wrong) for wrong in mistakes(text, letters))


@pytest.mark.parametrize("letters", ALL)
def test_every_difference_that_a_mistake_can_make_is_noticed(letters: str) -> None:
    """A mistake changes the number by d * q^i or d * (q - 1) * q^i: none of these is 0 modulo the prime."""
    size, modulus = len(letters), CheckCharacters(Alphabet(letters)).modulus
    for place in range(66):
        weight = size**place % modulus
        for difference in range(1, size):
            assert difference * weight % modulus
            assert difference * (size - 1) * weight % modulus


@pytest.mark.parametrize("letters", ALL)
@pytest.mark.parametrize("length", [4, 16, 17])
def test_every_mistake_in_some_long_pseudonyms_is_noticed(letters: str, length: int) -> None:
    shape = Shape(Alphabet(letters), length)
    for number in (0, 1, shape.space - 1, shape.space // 3, shape.space // 7):
        text = shape.text(number)
        assert len(text) == length + 2
        assert shape.alphabet.number(shape.body(text)) == number
        for wrong in mistakes(text, letters):
            with pytest.raises(InputError):
                shape.body(wrong)


def test_digits_are_checked_as_in_an_iban() -> None:
    """ISO/IEC 7064 MOD 97-10: the example of the standard is 794, whose check characters are 44."""
    checks = CheckCharacters(Alphabet("0123456789"))
    assert checks.modulus == 97
    assert checks.of(794) == "44"
    assert int("794" + checks.of(794)) % 97 == 1


@pytest.mark.parametrize(("letters", "modulus"), [("01", 3), ("0123456789", 97), (NAMED["unambiguous"], 1021)])
def test_the_modulus_is_the_largest_prime_of_two_characters(letters: str, modulus: int) -> None:
    assert CheckCharacters(Alphabet(letters)).modulus == modulus


def test_a_wrong_pseudonym_is_refused_with_the_place_and_not_with_the_pseudonym() -> None:
    shape = Shape(Alphabet.named("digits"), 6, "P-")
    text = shape.text(123456)
    wrong = {
        text[2:]: "does not begin with the prefix 'P-'",
        text[:-1]: "it has 9 characters, expected are 10",
        text + "0": "it has 11 characters, expected are 10",
        text[:4] + "x" + text[5:]: "character 5 is not one of the alphabet",
        text[:4] + str(9 - int(text[4])) + text[5:]: "check characters do not fit",
    }
    for given, reason in wrong.items():
        with pytest.raises(InputError, match=reason) as caught:
            shape.body(given)
        assert caught.value.code == "pseudonym-wrong"
        assert given not in caught.value.message


def explanations(text: str) -> tuple[list[int], list[int]]:
    """Where one other digit, or one swap, would make MOD 97-10 fit: tried out, without the package."""
    wrong = {
        at + 1
        for at in range(len(text))
        for digit in "0123456789"
        if digit != text[at] and int(text[:at] + digit + text[at + 1 :]) % 97 == 1
    }
    swaps = (text[:at] + text[at + 1] + text[at] + text[at + 2 :] for at in range(len(text) - 1))
    return sorted(wrong), [at for at, swap in enumerate(swaps, start=1) if int(swap) % 97 == 1]


def test_an_error_says_where_one_mistake_would_explain_it() -> None:
    shape = Shape(Alphabet.named("digits"), 6, "P-")
    told = set()
    for given in mistakes(shape.text(123456)[2:], "0123456789"):
        wrong, swapped = explanations(given)
        with pytest.raises(InputError) as caught:
            shape.body(f"P-{given}")
        places = re.fullmatch(
            r".*do not fit: (?:if one character is wrong, it is (.*?))?(?:; )?"
            r"(?:if two neighbours are swapped, they are (.*))?",
            caught.value.message,
        )
        assert places is not None
        assert [int(one) - 2 for one in re.findall(r"\d+", places[1] or "")] == wrong
        assert [int(one) - 2 for one in re.findall(r"(\d+) and", places[2] or "")] == swapped
        told.add((bool(wrong), bool(swapped)))
        assert given not in caught.value.message
    assert {(True, False), (True, True)} <= told


def test_more_than_one_mistake_is_said_to_be_more_than_one() -> None:
    shape = Shape(Alphabet.named("unambiguous"), 4)
    number = next(
        number for number in range(1, 2000) if not re.search("[1-9]", _told(shape, shape.text(number)[:4] + "00"))
    )
    assert _told(shape, shape.text(number)[:4] + "00").endswith("two or more characters seem to be wrong")


def _told(shape: Shape, text: str) -> str:
    try:
        shape.body(text)
    except InputError as error:
        return error.message
    return "1"


def test_pids_have_their_own_alphabet_and_length() -> None:
    shape = Shape(Alphabet.named("unambiguous"), 6, "", Check.PID)
    assert shape.text(shape.alphabet.number("0003Y0")) == "0003Y0WZ"
    assert shape.body("0003Y0WZ") == "0003Y0"
    with pytest.raises(InputError, match="character 4 seems to be wrong"):
        shape.body("0004Y0WZ")
    with pytest.raises(InputError, match="character 6 seems to be wrong"):
        Shape(shape.alphabet, 6, "P-", Check.PID).body("P-0004Y0WZ")
    with pytest.raises(InputError, match="characters 6 and 7 seem to be swapped"):
        Shape(shape.alphabet, 6, "P-", Check.PID).body("P-000Y30WZ")
    for wrong in (Shape(Alphabet.named("digits"), 6), Shape(Alphabet.named("unambiguous"), 7)):
        with pytest.raises(InputError) as caught:
            Shape(wrong.alphabet, wrong.length, "", Check.PID)
        assert caught.value.code == "pseudonym-check"


@pytest.mark.parametrize("prefix", ["-A", "=1", "a b", "x" * 33, "ä", "a\n"])
def test_a_prefix_that_other_programs_could_misread_is_refused(prefix: str) -> None:
    with pytest.raises(InputError) as caught:
        Shape(Alphabet.named("digits"), 6, prefix)
    assert caught.value.code == "pseudonym-prefix"


@pytest.mark.parametrize("length", [-1, 0, 65])
def test_a_length_that_is_none_is_refused(length: int) -> None:
    with pytest.raises(InputError) as caught:
        Shape(Alphabet.named("digits"), length)
    assert caught.value.code == "pseudonym-length"
