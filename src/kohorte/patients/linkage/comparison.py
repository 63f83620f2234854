"""How two records agree, field by field, in levels; no weights yet.

Source of the distances: RapidFuzz (optimal string alignment, Jaro-Winkler).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from rapidfuzz.distance import OSA, JaroWinkler

from kohorte.patients.linkage.dates import BirthDate
from kohorte.patients.linkage.names import REMEMBERED, Name
from kohorte.patients.linkage.record import Record

SIMILAR = 0.9
"""Jaro-Winkler similarity from which on two names are similar."""
SHORT_FORMS = (
    "hans/johannes johann/johannes hans/johann fritz/friedrich sepp/josef josef/joseph heinz/heinrich "
    "willi/wilhelm lisa/elisabeth elli/elisabeth kaethe/katharina gretel/margarete grete/margarete toni/anton "
    "rolf/rudolf bernd/bernhard klaus/nikolaus joerg/georg juergen/georg jochen/joachim achim/joachim "
    "hannes/johannes uschi/ursula gitta/brigitte moni/monika sascha/alexander mike/michael bob/robert "
    "bill/william"
)
_SHORT_FORMS = frozenset(frozenset(pair.split("/")) for pair in SHORT_FORMS.split())


class Level(StrEnum):
    """How far two values of a field agree, from equal to different."""

    EQUAL = "equal"
    NEARLY = "equal but for further names"
    BIRTH_NAME = "equal to the birth name"
    SWAPPED = "swapped"
    TYPING = "differs by a typing error"
    ALIKE = "sounds or looks alike"
    PARTLY = "partly equal"
    DIFFERENT = "different"
    MISSING = "missing"


_CLOSE = (Level.EQUAL, Level.NEARLY, Level.TYPING)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The levels of all fields, and the values whose frequencies matter; the repr shows no value."""

    first: Level
    last: Level
    date: Level
    sex: Level
    address: Level
    number: Level
    shared_first: tuple[str, ...] = ()
    shared_last: tuple[str, ...] = ()
    shared_postcode: str = ""
    first_names: tuple[str, str] = ("", "")

    def __repr__(self) -> str:
        return f"<Agreement {self.levels}>"

    @property
    def levels(self) -> dict[str, str]:
        """The level of each field, in words."""
        return {
            "first names": self.first.value,
            "family name": self.last.value,
            "birth date": self.date.value,
            "sex": self.sex.value,
            "address": self.address.value,
            "insurance number": self.number.value,
        }


def compare(one: Record, other: Record) -> Agreement:
    """Compare two records."""
    first, shared_first = compare_names(one.first, other.first)
    last, shared_last = _families(one, other)
    if Level.DIFFERENT in (first, last) and _are_swapped(one, other):
        first = last = Level.SWAPPED
        shared_first = one.first.joined, other.first.joined
        shared_last = one.last.joined, other.last.joined
    return Agreement(
        first=first,
        last=last,
        date=compare_dates(one.date, other.date),
        sex=_equal_or_not(one.sex, other.sex),
        address=_addresses(one, other),
        number=_numbers(one.number, other.number),
        shared_first=shared_first,
        shared_last=shared_last,
        shared_postcode=one.postcode,
        first_names=(one.first.joined, other.first.joined),
    )


@lru_cache(REMEMBERED)
def compare_names(one: Name, other: Name) -> tuple[Level, tuple[str, ...]]:
    """The level of two names, and the names or parts on which they agree; of a typing error both spellings."""
    if not one or not other:
        return Level.MISSING, ()
    a, b = one.joined, other.joined
    if a == b or set(one.parts) == set(other.parts):
        return Level.EQUAL, (min(a, b, key=len),)  # a name that is written twice is not rarer
    shorter, longer = sorted((one, other), key=lambda name: len(name.parts))
    if shorter.parts == longer.parts[: len(shorter.parts)]:
        return Level.NEARLY, (shorter.joined,)
    if _is_typing_error(a, b):
        return Level.TYPING, (a, b)
    shared = set(one.parts) & set(other.parts)
    if shared:
        return Level.PARTLY, (max(sorted(shared), key=len),)
    if _are_alike(one, other):
        return Level.ALIKE, (a, b)
    return Level.PARTLY if _parts_alike(one, other) else Level.DIFFERENT, ()


def _families(one: Record, other: Record) -> tuple[Level, tuple[str, ...]]:
    """Compare family names; somebody who married may now have the earlier name as birth name."""
    level, shared = compare_names(one.last, other.last)
    if level not in (Level.DIFFERENT, Level.PARTLY, Level.ALIKE):
        return level, shared
    pairs = ((one.last, other.birth), (one.birth, other.last), (one.birth, other.birth))
    crossed = [compare_names(mine, theirs) for mine, theirs in pairs]
    agreed = {name for found, names in crossed if found in _CLOSE for name in names}
    return (Level.BIRTH_NAME, tuple(agreed)) if agreed else (level, shared)


def _are_swapped(one: Record, other: Record) -> bool:
    """Whether the family name stands where the first name should, and the other way round."""
    return compare_names(one.first, other.last)[0] in _CLOSE and compare_names(one.last, other.first)[0] in _CLOSE


def _is_typing_error(a: str, b: str) -> bool:
    """One wrong, missing, additional or swapped letter; two in long names."""
    longest = max(len(a), len(b))
    allowed = 0 if longest < 4 else 1 if longest < 9 else 2
    return allowed > 0 and OSA.distance(a, b, score_cutoff=allowed) <= allowed


def _are_alike(one: Name, other: Name) -> bool:
    a, b = one.joined, other.joined
    if JaroWinkler.similarity(a, b) >= SIMILAR or frozenset((a, b)) in _SHORT_FORMS:
        return True
    sounds = one.sound == other.sound and len(one.sound) > 1
    return sounds or (one.soundex == other.soundex and abs(len(a) - len(b)) <= 2)


def _parts_alike(one: Name, other: Name) -> bool:
    """Whether a part of a name with several parts is like a part of the other, or an initial of it."""
    if len(one.parts) == len(other.parts) == 1 and min(len(one.joined), len(other.joined)) > 1:
        return False
    return any(_part_alike(a, b) for a in one.parts for b in other.parts)


def _part_alike(a: str, b: str) -> bool:
    if min(len(a), len(b)) == 1:
        return a[0] == b[0]
    return _is_typing_error(a, b) or frozenset((a, b)) in _SHORT_FORMS


@lru_cache(REMEMBERED)
def compare_dates(one: BirthDate, other: BirthDate) -> Level:
    """The level of two birth dates; parts that are not known on both sides are left out."""
    if not one or not other:
        return Level.MISSING
    if not (one.whole and other.whole):
        known = ((a, b) for a, b in zip(_parts(one), _parts(other), strict=True) if a and b)
        return Level.PARTLY if all(a == b for a, b in known) else Level.DIFFERENT
    if one == other:
        return Level.EQUAL
    if (one.year, one.month, one.day) == (other.year, other.day, other.month):
        return Level.SWAPPED
    differing = [(a, b) for a, b in zip(_parts(one), _parts(other), strict=True) if a != b]
    if len(differing) > 1:
        return Level.DIFFERENT
    a, b = differing[0]
    return Level.TYPING if OSA.distance(f"{a:02}", f"{b:02}") == 1 else Level.ALIKE


def _parts(date: BirthDate) -> tuple[int, int, int]:
    return date.year, date.month, date.day


def _equal_or_not(one: str, other: str) -> Level:
    if not one or not other:
        return Level.MISSING
    return Level.EQUAL if one == other else Level.DIFFERENT


def _addresses(one: Record, other: Record) -> Level:
    """Postcode and place together, because the one follows from the other."""
    level = _equal_or_not(one.postcode, other.postcode)
    if level is Level.EQUAL:
        return level
    places = _equal_or_not(one.place, other.place)
    if level is Level.MISSING:
        return Level.PARTLY if places is Level.EQUAL else places
    if places is Level.EQUAL:
        return Level.PARTLY
    return Level.TYPING if OSA.distance(one.postcode, other.postcode, score_cutoff=1) <= 1 else Level.DIFFERENT


def _numbers(one: str, other: str) -> Level:
    level = _equal_or_not(one, other)
    if level is Level.DIFFERENT and OSA.distance(one, other, score_cutoff=1) <= 1:
        return Level.TYPING
    return level
