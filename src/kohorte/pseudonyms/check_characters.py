"""Check characters: what notices that a pseudonym was mistyped.

`two`: the pseudonym, read as a number in the base of its alphabet, leaves the remainder 1 modulo the largest prime that
two characters can express. This is the pure system of ISO/IEC 7064 (MOD 97-10 for digits, as in an IBAN), for alphabets
of any size.

Guarantee
    Every single wrong character and every swap of two neighbours is noticed, also within the check characters. With q
    characters and the prime p, a wrong character changes the number by d * q^i with 0 < |d| < q, a swap by
    d * (q - 1) * q^i; no factor is divisible by p, because p is prime and larger than q.
Leaves open
    Of other errors one in p stays unnoticed: one in 97 for digits, one in 1021 for 32 characters.
Source
    ISO/IEC 7064:2003, Information technology, Security techniques, Check character systems.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isqrt

from kohorte.in_words import listed
from kohorte.pseudonyms.alphabets import Alphabet

CHARACTERS = 2


@dataclass(frozen=True)
class CheckCharacters:
    """Two check characters for an alphabet."""

    alphabet: Alphabet

    @cached_property
    def modulus(self) -> int:
        """The largest prime that two characters can express."""
        number: int = self.alphabet.size**CHARACTERS
        while not _is_prime(number):
            number -= 1
        return number

    @cached_property
    def _texts(self) -> list[str]:
        return [self.alphabet.text(number, CHARACTERS) for number in range(self.modulus)]

    @cached_property
    def _shift(self) -> int:
        return pow(self.alphabet.size, CHARACTERS, self.modulus)

    def of(self, number: int) -> str:
        """The check characters that follow a number."""
        return self._texts[(1 - number * self._shift) % self.modulus]

    def fit(self, text: str) -> bool:
        """Whether a text of the alphabet ends with its check characters."""
        return self.alphabet.number(text) % self.modulus == 1

    def suspicion(self, text: str, *, before: int = 0) -> str:
        """Where one wrong character, or one swap of neighbours, would explain that they do not fit.

        Places count from 1, with so many characters before the text. Two check characters leave several places open.
        """
        size, prime = self.alphabet.size, self.modulus
        values = [self.alphabet.number(character) for character in text]
        weights = [pow(size, len(text) - place, prime) for place in range(1, len(text) + 1)]
        lacking = (1 - self.alphabet.number(text)) % prime
        wrong, swapped = [], []
        for place, (value, weight) in enumerate(zip(values, weights, strict=True)):
            more = lacking * pow(weight, -1, prime) % prime
            if more < size - value or prime - more <= value:
                wrong.append(place)
        for place, (value, other) in enumerate(pairwise(values)):
            if (other - value) * (weights[place] - weights[place + 1]) % prime == lacking:
                swapped.append(place)
        return _in_words([place + before + 1 for place in wrong], [place + before + 1 for place in swapped])


def _in_words(wrong: list[int], swapped: list[int]) -> str:
    parts = []
    if wrong:
        parts.append(f"if one character is wrong, it is {listed([str(one) for one in wrong], 'or')}")
    if swapped:
        pairs = [f"{one} and {one + 1}" for one in swapped]
        parts.append(f"if two neighbours are swapped, they are {listed(pairs, 'or')}")
    return "; ".join(parts) or "two or more characters seem to be wrong"


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, isqrt(number) + 1))
