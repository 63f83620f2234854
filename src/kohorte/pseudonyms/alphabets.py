"""Alphabets of pseudonyms: numbers as texts of a fixed length, and back."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from kohorte.errors import InputError
from kohorte.trust.pid import ALPHABET as UNAMBIGUOUS

NAMED = {
    "unambiguous": UNAMBIGUOUS,
    "digits": "0123456789",
    "hexadecimal": "0123456789abcdef",
    "letters": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "alphanumeric": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
}
"""Alphabets with a name; `unambiguous` leaves out B, I, O and S."""

FEWEST = 2
LARGEST_TABLE = 2000


@dataclass(frozen=True)
class Alphabet:
    """The characters of a pseudonym; the place of a character is its value."""

    characters: str

    def __post_init__(self) -> None:
        letters = self.characters
        if len(letters) < FEWEST or len(set(letters)) < len(letters):
            raise InputError(
                "an alphabet has at least two characters, each of them once; known by name are " + ", ".join(NAMED),
                code="pseudonym-alphabet",
            )
        if not letters.isalnum() or unicodedata.normalize("NFC", letters) != letters:
            raise InputError(
                "an alphabet has letters and digits only, so that no program takes a pseudonym for something else",
                code="pseudonym-alphabet",
            )

    @classmethod
    def named(cls, name: str) -> Alphabet:
        """Return an alphabet by its name, or one made of the given characters."""
        return cls(NAMED.get(name, name))

    @property
    def size(self) -> int:
        """The number of characters."""
        return len(self.characters)

    @property
    def name(self) -> str:
        """The name if it has one, otherwise its characters."""
        return next((name for name, letters in NAMED.items() if letters == self.characters), self.characters)

    def text(self, number: int, length: int) -> str:
        """Write a number with so many characters, the most significant first; it must fit."""
        blocks, base, width = self._blocks
        found = []
        for _ in range(-(-length // width)):
            number, rest = divmod(number, base)
            found.append(blocks[rest])
        return "".join(reversed(found))[-length:]

    def number(self, text: str) -> int:
        """Read a number; characters must be of the alphabet (`first_strange`)."""
        values, found = self._values, 0
        for character in text:
            found = found * self.size + values[character]
        return found

    def first_strange(self, text: str) -> int | None:
        """The place, from 1, of the first character that is not of the alphabet."""
        return next((place for place, character in enumerate(text, 1) if character not in self._values), None)

    def length_for(self, space: int) -> int:
        """How many characters are needed to write every number below `space`."""
        length = max(math.ceil(space.bit_length() / math.log2(self.size)) - 1, 1)
        while self.size**length < space:
            length += 1
        while length > 1 and self.size ** (length - 1) >= space:
            length -= 1
        return length

    @cached_property
    def _values(self) -> dict[str, int]:
        return {character: value for value, character in enumerate(self.characters)}

    @cached_property
    def _blocks(self) -> tuple[list[str], int, int]:
        """All texts of a few characters, so that a number is written in few divisions."""
        width = max(int(math.log(LARGEST_TABLE, self.size)), 1)
        return ["".join(letters) for letters in product(self.characters, repeat=width)], self.size**width, width
