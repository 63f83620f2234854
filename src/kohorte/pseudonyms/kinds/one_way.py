"""One-way pseudonyms: a keyed hash, and nothing is stored.

Guarantee
    Without the key nobody can compute the pseudonym of a text, or tell whether a text belongs to a pseudonym. Another
    domain has another key and gives unrelated pseudonyms.
Leaves open
    With the key all likely texts can be tried: people who hold the key can find out whose pseudonym it is. Two texts
    can get the same pseudonym; within one table this is an error.
Source
    Krawczyk, Bellare, Canetti: HMAC: Keyed-Hashing for Message Authentication, RFC 2104, 1997.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Sequence
from typing import ClassVar

from kohorte.errors import InputError
from kohorte.in_words import count
from kohorte.pseudonyms.definition import Definition
from kohorte.pseudonyms.kinds.base import PseudonymKind
from kohorte.pseudonyms.made import Made
from kohorte.trust.keys import Key

SMALLEST_SPACE = 1 << 32
LARGEST_SPACE = 1 << 192
"""The remainder of a hash of 256 bits is then as good as evenly distributed."""
ACCEPTED = 1e-6


class OneWay(PseudonymKind):
    """HMAC-SHA-256 of the text, written in the shape of the domain."""

    name: ClassVar[str] = "one-way"
    default_length: ClassVar[int] = 16
    may_coincide: ClassVar[bool] = True

    @classmethod
    def check(cls, definition: Definition) -> None:
        """Refuse spaces that are too small, where pseudonyms would coincide, or larger than a hash."""
        if definition.numbered or definition.keep_format:
            raise InputError("a one-way domain is neither numbered nor keeps a format", code="pseudonym-kind-option")
        alphabet = definition.shape.alphabet
        if not SMALLEST_SPACE <= definition.shape.space <= LARGEST_SPACE:
            raise InputError(
                f"length: one-way pseudonyms of {alphabet.size} characters have a length from "
                f"{alphabet.length_for(SMALLEST_SPACE)} to {alphabet.length_for(LARGEST_SPACE + 1) - 1}; "
                "shorter ones would often coincide",
                code="pseudonym-length",
            )

    @property
    def notes(self) -> list[str]:
        """How many values are safe from coincidence, and what is checked."""
        most = values_before_coincidence(self.definition.shape.space)
        return [
            f"with up to {count(most)} different values the chance that two get the same pseudonym is below one in a "
            "million; within one table that is an error, between tables nobody notices"
        ]

    @property
    def after_rotation(self) -> str:
        """New pseudonyms differ."""
        return "the same value gets another pseudonym from now on; --key-version chooses an old version"

    def pseudonyms(self, originals: Sequence[str], key: Key) -> Made:
        """Hash every text."""
        secret, shape = key.derived("one-way"), self.definition.shape
        space, text, digest, number = shape.space, shape.text, hmac.digest, int.from_bytes
        made = [text(number(digest(secret, original.encode(), "sha256"), "big") % space) for original in originals]
        return Made(made, [key.version] * len(made))

    def originals(self, pseudonyms: Sequence[str], version: int | None = None) -> list[str | None]:
        """Refuse: there is no way back."""
        del pseudonyms, version
        raise InputError(
            f"the domain {self.definition.name!r} is one-way: its pseudonyms lead back to nothing",
            code="pseudonym-one-way",
        )


def values_before_coincidence(space: int, chance: float = ACCEPTED) -> int:
    """How many different texts may have pseudonyms until two coincide with this chance (birthday bound)."""
    return math.floor(math.sqrt(-2 * space * math.log1p(-chance)))
