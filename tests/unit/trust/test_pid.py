"""PIDs: the published code, and every error that it must notice."""

from __future__ import annotations

import itertools
import random

import pytest

from kohorte import InputError
from kohorte.trust.pid import ALPHABET, NUMBERS, is_pid, number_of, pid_of, random_pid

NUMBERS_TRIED = [0, 1, 31, 32, NUMBERS - 1, *(random.Random(7).randrange(NUMBERS) for _ in range(60))]


def times(value: int, other: int) -> int:
    """Multiply polynomials over two elements bit by bit, modulo t^5 + t^2 + 1: the oracle's own arithmetic."""
    product = 0
    for bit in range(5):
        product ^= value << bit if other >> bit & 1 else 0
    for bit in range(9, 4, -1):
        product ^= 0b100101 << (bit - 5) if product >> bit & 1 else 0
    return product


def power(exponent: int) -> int:
    found = 1
    for _ in range(exponent):
        found = times(found, 2)
    return found


@pytest.mark.parametrize("pid", ["0003Y0WZ", "0007W0W9", "000GR0W0"])
def test_pids_that_patient_lists_publish_as_examples_are_valid(pid: str) -> None:
    assert is_pid(pid)
    assert pid_of(number_of(pid)) == pid


@pytest.mark.parametrize("number", NUMBERS_TRIED)
def test_the_check_characters_are_two_weighted_sums_in_the_field(number: int) -> None:
    values = [ALPHABET.index(character) for character in pid_of(number)]
    first = second = 0
    for place, value in enumerate(values[:6], start=1):
        first ^= times(value, power(place))
        second ^= times(value, power(2 * place))
    assert values[6:] == [first, second]
    assert number_of(pid_of(number)) == number


@pytest.mark.parametrize("number", NUMBERS_TRIED[:20])
def test_every_wrong_character_and_every_two_are_noticed(number: int) -> None:
    pid = pid_of(number)
    for place in range(8):
        for character in ALPHABET:
            wrong = pid[:place] + character + pid[place + 1 :]
            assert is_pid(wrong) == (character == pid[place])
    for one, other in itertools.combinations(range(8), 2):
        for shift, further in itertools.product(range(1, 32, 5), range(1, 32, 3)):
            letters = list(pid)
            letters[one] = ALPHABET[(ALPHABET.index(letters[one]) + shift) % 32]
            letters[other] = ALPHABET[(ALPHABET.index(letters[other]) + further) % 32]
            assert not is_pid("".join(letters))


def test_the_code_is_linear_so_that_no_pair_of_errors_anywhere_is_missed() -> None:
    """A word with one or two characters other than 0 is never valid: with linearity this covers every PID."""
    for one, other in itertools.combinations(range(8), 2):
        for first, second in itertools.product(ALPHABET, ALPHABET):
            letters = ["0"] * 8
            letters[one], letters[other] = first, second
            assert is_pid("".join(letters)) == (first == second == "0")
    for a, b in itertools.pairwise(NUMBERS_TRIED):
        values = [ALPHABET.index(x) ^ ALPHABET.index(y) for x, y in zip(pid_of(a), pid_of(b), strict=True)]
        assert is_pid("".join(ALPHABET[value] for value in values))


def test_every_swap_of_neighbours_is_noticed() -> None:
    """Swapping neighbours adds the same difference to both: by linearity such words must not be valid."""
    for place in range(7):
        for character in ALPHABET[1:]:
            letters = ["0"] * 8
            letters[place] = letters[place + 1] = character
            assert not is_pid("".join(letters))


@pytest.mark.parametrize("number", NUMBERS_TRIED[5:25])
def test_the_error_says_which_character_or_which_swap_seems_wrong(number: int) -> None:
    pid = pid_of(number)
    for place in range(8):
        wrong = pid[:place] + ALPHABET[ALPHABET.index(pid[place]) ^ 9] + pid[place + 1 :]
        with pytest.raises(InputError, match=f"character {place + 1} seems to be wrong") as caught:
            number_of(wrong)
        assert wrong not in caught.value.message
    for place in range(7):
        swapped = pid[:place] + pid[place + 1] + pid[place] + pid[place + 2 :]
        if swapped != pid:
            with pytest.raises(InputError, match=f"characters {place + 1} and {place + 2} seem to be swapped"):
                number_of(swapped)


def test_a_place_is_named_only_if_a_swap_there_would_make_a_pid() -> None:
    """Two wrong neighbours can look like a swap from the check characters alone; swapping them back tells."""
    pid, told = pid_of(NUMBERS_TRIED[9]), 0
    for first, second in itertools.product(range(1, 32), range(1, 32)):
        letters = list(pid)
        letters[2] = ALPHABET[ALPHABET.index(letters[2]) ^ first]
        letters[3] = ALPHABET[ALPHABET.index(letters[3]) ^ second]
        with pytest.raises(InputError) as caught:
            number_of("".join(letters))
        if "seem to be swapped" in caught.value.message:
            place = int(caught.value.message.split("characters ")[2].split(" ")[0]) - 1
            letters[place], letters[place + 1] = letters[place + 1], letters[place]
            assert is_pid("".join(letters))
            told += 1
    assert told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has 0"),
        ("0003Y0W", "has 7"),
        ("0003Y0WZ0", "has 9"),
        ("0003Y0WO", "character 8"),
        ("Ä003Y0WZ", "character 1"),
    ],
)
def test_a_text_that_is_no_pid_is_refused_with_the_place(text: str, words: str) -> None:
    assert not is_pid(text)
    with pytest.raises(InputError, match=words) as caught:
        number_of(text)
    assert caught.value.code == "trust-pid-wrong"


def test_small_letters_and_blanks_around_are_read_as_people_type_them() -> None:
    assert number_of(" 0003y0wz ") == number_of("0003Y0WZ")


@pytest.mark.parametrize("number", [-1, NUMBERS])
def test_a_number_that_does_not_fit_is_refused(number: int) -> None:
    with pytest.raises(InputError) as caught:
        pid_of(number)
    assert caught.value.code == "trust-pid-number"


def test_random_pids_are_valid_and_differ() -> None:
    drawn = [random_pid() for _ in range(50)]
    assert all(map(is_pid, drawn))
    assert len(set(drawn)) == 50
