"""Names in one spelling: umlauts, accents, other scripts, titles, name parts."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache

from kohorte.patients.linkage.phonetic import cologne, soundex
from kohorte.patients.linkage.scripts import in_latin_letters

REMEMBERED = 1 << 16
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "oe", "å": "aa"})
_APOSTROPHES = re.compile(r"['’`´ʼʹ]")
_BORN = re.compile(r"[\s,(]+(?:geb\.?|geborene[rn]?|née|born)\s+", re.IGNORECASE)
_NO_LETTERS = re.compile("[^a-z]+")
TITLES = (
    "dr drs prof med dent vet phil nat rer jur pol ing dipl mag hc habil pd univ msc bsc frau herr fr hr mr mrs "
    "ms jun sen jr sr"
)
PARTICLES = (
    "von vom van de der den des di da do dos du del della dela la le zu zum zur ten ter te und al el ibn bin abu "
    "af av freiherr freifrau"
)
NOBODY = "unbekannt unknown nn xxx xx anonym anonymus keineangabe ohneangabe unbenannt namenlos"
"""What is written where no name is known."""
NEWBORN = (
    "knabe maedchen junge sohn tochter baby saeugling neugeborenes neugeborener zwilling zwillinga zwillingb "
    "drilling kind"
)
"""What is written as first name of newborn children who have none yet; some of these are family names, too."""
_TITLES, _PARTICLES, _NOBODY, _NEWBORN = (frozenset(words.split()) for words in (TITLES, PARTICLES, NOBODY, NEWBORN))


@dataclass(frozen=True)
class Name:
    """A name as it is compared: its parts in lower-case letters a to z, without titles and particles."""

    parts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Name of {len(self.parts)} parts>"

    def __bool__(self) -> bool:
        return bool(self.parts)

    @cached_property
    def joined(self) -> str:
        """The parts as one word, so that `Anna-Lena`, `Anna Lena` and `Annalena` are the same."""
        return "".join(self.parts)

    @cached_property
    def sounds(self) -> tuple[str, ...]:
        """The Cologne code of each part."""
        return tuple(cologne(part) for part in self.parts)

    @cached_property
    def sound(self) -> str:
        """The Cologne code of the whole name."""
        return cologne(self.joined)

    @cached_property
    def soundex(self) -> str:
        """The Soundex code of the whole name."""
        return soundex(self.joined)


NO_NAME = Name()


@lru_cache(REMEMBERED)
def first_names(text: str) -> Name:
    """The given names of a person."""
    return _name(text, dropped=_TITLES, nobody=_NOBODY | _NEWBORN)


@lru_cache(REMEMBERED)
def last_name(text: str) -> Name:
    """A family name; particles such as `von` are left out, because they are often forgotten."""
    return _name(text, dropped=_TITLES | _PARTICLES, nobody=_NOBODY)


@lru_cache(REMEMBERED)
def without_birth_name(text: str) -> tuple[str, str]:
    """Family name and birth name, where both are written in one field: `Bauer geb. Koch`."""
    found = _BORN.split(text, maxsplit=1)
    return (found[0], found[1]) if len(found) == 2 and found[0].strip(" ,(") else (text, "")


@lru_cache(REMEMBERED)
def place(text: str) -> str:
    """The name of a place as one word, without what stands in parentheses or behind a comma."""
    return "".join(_words(re.split(r"[(,/]", text, maxsplit=1)[0]))


def letters(text: str) -> str:
    """The text in lower-case letters of English and what was between them; German umlauts with an e."""
    composed = unicodedata.normalize("NFC", text).lower().translate(_GERMAN)
    return composed if composed.isascii() else in_latin_letters(composed)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in _NO_LETTERS.split(_APOSTROPHES.sub("", letters(text))) if word)


def _name(text: str, *, dropped: frozenset[str], nobody: frozenset[str]) -> Name:
    words = _words(text)
    if "".join(words) in nobody:
        return NO_NAME
    kept = tuple(word for word in words if word not in dropped)
    return Name(kept or tuple(word for word in words if word not in _TITLES))
