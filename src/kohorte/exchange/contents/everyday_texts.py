"""Texts of everyday words: which words, short numbers and signs may stand beside each other.

Words name nobody, but numbers beside them can: `employee 47`, `no. 47-11`, `on 14.3.`. A number is known only if it
tells which of a few something is (`grade 3`), or how much of something there is (`12 days`, `over 60`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from kohorte.exchange.contents.everyday_words import (
    ALSO_NAMES,
    BOUNDS,
    COUNTED,
    DIRECTIONS,
    HOUSES,
    JOBS,
    LINKS,
    LOWER_ONLY,
    NUMBERED,
    PERSONS,
    PHRASES,
    RANKED,
    ROMAN,
    SCORED,
    TELLING,
    TERMS,
    UNITS,
    set_of,
    states,
    words,
)

PART = re.compile(r"(?<![^\W_])[0-9]{1,2}[.,][0-9](?![^\W_])|[^\W_]+")
"""A word or a number, which may have one decimal."""
NUMBER = r"[0-9]{1,2}(?:[.,][0-9])?k?"
ORDINAL = r"(?:[1-9]|1[0-2])(?:st|nd|rd|th)"
GRADE = r"[a-e]|(?:i{1,3}|iv)[abc]"
"""One of a few: a letter or a stage."""
SHORT = r"p?[tnm][0-4][abc]?|g[1-4]|her2|covid19|l[1-5]|th(?:[1-9]|1[0-2])"
"""Words with a digit: stages of a tumour, vertebrae."""
WHOLE = (
    r"[A-Za-zÄÖÜäöü0-9]|[+-]{1,4}|(?:A|B|AB|O|0) ?(?:[+-]|(?:Rh )?(?:pos|neg)\.?)|(?:A|B|AB|O)"
    r"|(?:[<>]=?|[≤≥]) ?[0-9]{1,2}(?:0{0,4}|[.,][0-9])[kK]?"
)
"""Whole texts: one sign, a blood group, or a bound such as `>50K`."""
APART = r" ?[-–—/,;:()&+'’\"<>=≤≥~%_\[\]]{0,3} ?|(?:\.|\.,) "
"""What can be between two parts: a full stop only before a blank, because `home.at` is a web page."""
BEFORE, AFTER = r"[(\[\"'<>=≤≥~+–-]{0,3} ?", r" ?[)\]\"'.,;:!?%+–-]{0,3}"
SPAN = r" ?[-–] ?"
AND, BETWEEN, JOINED = ("and", "und"), "between", ("or", "and", "oder", "und")
MORE = "more less over above under below mehr weniger"
RACES, SEXES, YEARS = ("black", "white"), "female male women men woman man girl boy", "years year jahre jahr"
MOST_WORDS, MOST_NUMBERS = 8, 2
MOST_RANKS = 12
OLDEST = 90
"""A number without a unit can be an age, and no age over 89 is told apart from others."""


def is_state(text: str) -> bool:
    """Whether a text names a state, a country, or a larger part of the world."""
    plain = _plain(text)
    return " ".join(PART.findall(plain.casefold())) in states() and _signs_fit(plain)


@lru_cache(maxsize=1 << 16)
def is_everyday(text: str) -> bool:
    """Whether a text consists of everyday words, with at most two short numbers, or names a state or a country."""
    plain = _plain(text)
    if re.fullmatch(WHOLE, plain):
        return True
    parts = PART.findall(plain)
    if not parts or len(parts) > MOST_WORDS or not _signs_fit(plain):
        return False
    if " ".join(parts).casefold() in states() or " ".join(parts).casefold() in PHRASES:
        return True
    return _Parts(parts, PART.split(plain)[1:-1]).are_everyday()


def begins_everyday(text: str) -> bool:
    """Whether a text is the beginning or the end of an everyday word or of the name of a state."""
    small = text.casefold()
    return any(word.startswith(small) or word.endswith(small) for word in (*words(), *set_of(LOWER_ONLY), *states()))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _signs_fit(plain: str) -> bool:
    """Whether nothing but usual signs is between the words: others can be letters, such as those in circles."""
    before, *between, after = PART.split(plain)
    known = re.fullmatch(BEFORE, before) and re.fullmatch(AFTER, after)
    return bool(known) and all(re.fullmatch(APART, one) for one in between)


class _Parts:
    """The parts of a text in small letters, and the signs between them."""

    def __init__(self, written: Sequence[str], apart: Sequence[str]) -> None:
        self._written, self._apart = written, apart
        self._parts = [part.casefold() for part in written]
        self._numbers = [at for at, part in enumerate(self._parts) if re.fullmatch(NUMBER, part)]
        self._units = [at for at, part in enumerate(self._parts) if part in set_of(UNITS)]
        self._told = [at for at in range(len(self._parts)) if at not in self._numbers and self._is_told(at)]
        self._words = [at for at in range(len(self._parts)) if self._is_word(at)]

    def are_everyday(self) -> bool:
        """Whether each part is a word, a number of something, or one of a few, and names nobody by those beside it."""
        known = {*self._words, *self._numbers, *self._told, *self._units}
        if len(known) < len(self._parts) or len(self._numbers) + len(self._told) > MOST_NUMBERS:
            return False
        ordinal = any(re.fullmatch(ORDINAL, self._parts[at]) for at in self._told)
        alone = len(self._parts) == 1 and not re.fullmatch(f"{NUMBER}|{SHORT}", self._parts[0])
        if not (self._words or self._units or ordinal or alone):
            return False
        fit = self._units_fit() and self._letters_fit() and not self._names_somebody()
        return fit and all(map(self._is_number_of, self._numbers))

    def _is_word(self, at: int) -> bool:
        small = self._parts[at]
        if small in set_of(LOWER_ONLY):
            return self._written[at] == self._written[at].lower()
        return small in words()

    def _is_told(self, at: int) -> bool:
        """Whether a part tells one of a few: a letter, a roman number, an ordinal, or a code with one digit."""
        part = self._parts[at]
        return part in set_of(ROMAN) or re.fullmatch(f"{GRADE}|{ORDINAL}|{SHORT}", part) is not None

    def _only_units(self) -> bool:
        """Whether the text is a unit such as `mg/dl`: written otherwise, letters can be initials."""
        written = all(self._written[at] in UNITS.split() for at in self._units)
        return len(self._units) == len(self._parts) and written and all(one == "/" for one in self._apart)

    def _units_fit(self) -> bool:
        """Whether every unit has its number before it."""
        if self._only_units():
            return True
        return all(at and at - 1 in self._numbers for at in self._units)

    def _letters_fit(self) -> bool:
        """Whether no letter or number tells places or people apart: `ward II`, `nurse B`."""
        letters = [at for at in range(len(self._parts)) if len(self._parts[at]) == 1 and self._parts[at].isalpha()]
        if sum(at not in self._units or at - 1 not in self._numbers for at in letters) > 1:
            return False  # initials
        if any(part in set_of(NUMBERED) for part in self._parts) and (self._numbers or self._told):
            return False
        few = [at for at in self._told if not re.fullmatch(f"{ORDINAL}|{SHORT}", self._parts[at])]
        return not few or not any(part in set_of(PERSONS + JOBS) for part in self._parts)

    def _names_somebody(self) -> bool:
        """Whether a house is told apart from others, or a word that is also a name stands beside what makes it one.

        That is another name (`Herz-Stark`), an initial, or a word for a person or a house, on either side.
        """
        houses = [at for at, part in enumerate(self._parts) if part in set_of(HOUSES)]
        if houses and any(one in set_of(DIRECTIONS) for one in self._parts):
            return True
        if any({self._at(at - 1), self._at(at + 1)} & set_of(TELLING) for at in houses):
            return True
        return any(self._is_name_beside(at, step) for at in range(len(self._parts)) for step in (-1, 1))

    def _is_name_beside(self, at: int, step: int) -> bool:
        """Whether a part can be a name because of the nearest part on one side that links nothing."""
        other = at + step
        while self._at(other) in set_of(LINKS):
            other += step
        own, beside, first, last = self._at(at), self._at(other), min(at, other), max(at, other)
        if not beside or own not in set_of(ALSO_NAMES) or " ".join(self._parts[first : last + 1]) in TERMS:
            return False
        if own in RACES and beside in set_of(SEXES):
            return False
        people = beside in set_of(PERSONS + JOBS + HOUSES)
        if own == self._written[at]:  # in small letters, only `nurse stark` and `herz-stark`
            joined = "".join(self._apart[first:last])
            return (people and step < 0 and not joined.strip()) or (joined == "-" and beside in set_of(ALSO_NAMES))
        named = beside in set_of(ALSO_NAMES) and beside != self._written[other]
        return people or named or (len(beside) == 1 and beside.isalpha())

    def _is_number_of(self, at: int) -> bool:
        """Whether a number says which of a few, or how much of something, by itself or as an end of a span."""
        if at - 1 in self._numbers and not (re.fullmatch(SPAN, self._apart[at - 1]) and self._rises(at - 1, at)):
            return False
        first, last = self._span(at)
        before, after = self._at(first - 1), self._at(last + 1)
        if last + 1 in self._units or (before, self._parts[at]) == ("covid", "19"):
            return True
        if before in set_of(SCORED):
            return len(self._numbers) == 1 or last > first
        if before in set_of(RANKED):
            return self._number(last) <= MOST_RANKS
        if after in set_of(COUNTED):
            return after not in set_of(YEARS) or self._number(last) <= OLDEST
        bound = before in set_of(BOUNDS) or (after in JOINED and self._at(last + 2) in set_of(MORE))
        return (bound or last > first + 1) and self._number(last) <= OLDEST  # with `to` between two numbers

    def _span(self, at: int) -> tuple[int, int]:
        """The first and the last part of the span of numbers that a number belongs to."""
        for first, last in ((at - 2, at), (at, at + 2), (at - 1, at), (at, at + 1)):
            if first in self._numbers and last in self._numbers and self._spans(first, last):
                return first, last
        return at, at

    def _spans(self, first: int, last: int) -> bool:
        if not self._rises(first, last):
            return False
        if last == first + 1:
            return re.fullmatch(SPAN, self._apart[first]) is not None
        middle = self._parts[first + 1]
        return middle in ("to", "bis") or (middle in AND and self._at(first - 1) == BETWEEN)

    def _rises(self, first: int, last: int) -> bool:
        return self._number(first) < self._number(last)

    def _number(self, at: int) -> float:
        return float(self._parts[at].rstrip("k").replace(",", "."))

    def _at(self, at: int) -> str:
        return self._parts[at] if 0 <= at < len(self._parts) else ""
