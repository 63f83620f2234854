"""The shape of the pseudonyms of a domain: prefix, characters, check characters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from kohorte.errors import InputError
from kohorte.pseudonyms.alphabets import Alphabet
from kohorte.pseudonyms.check_characters import CHARACTERS, CheckCharacters
from kohorte.trust import pid

LONGEST = 64
_PREFIX = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.:-]{0,31})?")


class Check(StrEnum):
    """How a pseudonym is checked."""

    NONE = "none"
    TWO = "two"
    PID = "pid"


@dataclass(frozen=True)
class Shape:
    """How numbers are written as pseudonyms; `length` counts neither prefix nor check characters.

    With `pid` the pseudonyms are those of Faldum and Pommerening: six characters and two check characters.
    """

    alphabet: Alphabet
    length: int
    prefix: str = ""
    check: Check = Check.TWO

    def __post_init__(self) -> None:
        if not 1 <= self.length <= LONGEST:
            raise InputError(f"length: is a number from 1 to {LONGEST}", code="pseudonym-length", field="length")
        if not _PREFIX.fullmatch(self.prefix):
            raise InputError(
                "prefix: has at most 32 letters, digits, and _ . : - after the first",
                code="pseudonym-prefix",
                field="prefix",
            )
        if self.check is Check.PID and (self.alphabet.characters, self.length) != (pid.ALPHABET, pid.CARRIERS):
            raise InputError(
                f"check: pid has its own alphabet (unambiguous) and length ({pid.CARRIERS}); give no others",
                code="pseudonym-check",
                field="check",
            )

    @cached_property
    def space(self) -> int:
        """How many pseudonyms there are."""
        space: int = self.alphabet.size**self.length
        return space

    @cached_property
    def _checks(self) -> CheckCharacters:
        return CheckCharacters(self.alphabet)

    @property
    def in_words(self) -> str:
        """The shape for people."""
        prefix = f"{self.prefix!r} and " if self.prefix else ""
        checks = {Check.NONE: "", Check.TWO: " and 2 check characters", Check.PID: " and 2 check characters (PID)"}
        return f"{prefix}{self.length} of {self.alphabet.size} characters{checks[self.check]}"

    def text(self, number: int, length: int | None = None) -> str:
        """Write a number below `space`; a kind with texts of other lengths gives the length."""
        if self.check is Check.PID:
            return self.prefix + pid.pid_of(number)
        body = self.alphabet.text(number, length or self.length)
        return self.prefix + body + (self._checks.of(number) if self.check is Check.TWO else "")

    def checked(self, body: str) -> str:
        """Put prefix and check characters around characters of the alphabet."""
        return self.prefix + body + (self._checks.of(self.alphabet.number(body)) if self.check is Check.TWO else "")

    def body(self, text: str, *, any_length: bool = False) -> str:
        """Return the characters without prefix and check characters; the error says what is wrong, and where."""
        if not text.startswith(self.prefix):
            raise _wrong(f"it does not begin with the prefix {self.prefix!r}")
        rest, checks = text[len(self.prefix) :], 0 if self.check is Check.NONE else CHARACTERS
        if len(rest) <= checks or (not any_length and len(rest) != self.length + checks):
            raise _wrong(f"it has {len(text)} characters, expected are {len(self.prefix) + self.length + checks}")
        strange = self.alphabet.first_strange(rest)
        if strange is not None:
            raise _wrong(f"character {len(self.prefix) + strange} is not one of the alphabet")
        if self.check is Check.PID:
            pid.number_of(rest, before=len(self.prefix))
        elif self.check is Check.TWO and not self._checks.fit(rest):
            where = self._checks.suspicion(rest, before=len(self.prefix))
            raise _wrong(f"its check characters do not fit: {where}")
        return rest[: len(rest) - checks]


def _wrong(reason: str) -> InputError:
    return InputError(f"this is not a pseudonym of the domain: {reason}", code="pseudonym-wrong")
