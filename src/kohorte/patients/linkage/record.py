"""Identity data in the form in which it is compared."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from kohorte.patients.identity import Identity
from kohorte.patients.linkage.dates import NO_DATE, BirthDate, birth_date
from kohorte.patients.linkage.names import (
    NO_NAME,
    REMEMBERED,
    Name,
    first_names,
    last_name,
    letters,
    place,
    without_birth_name,
)
from kohorte.patients.linkage.scripts import other_spellings

_SEXES = {
    **dict.fromkeys(("m", "male", "man", "maennlich", "mann", "1"), "m"),
    **dict.fromkeys(("f", "w", "female", "woman", "weiblich", "frau", "2"), "f"),
}
_NO_SIGN = re.compile("[^0-9a-z]+")
SHORTEST_NUMBER = 5


Counted = tuple[Name, Name, str]
"""First names, family name and postcode: what is counted to know how common it is."""


@dataclass(frozen=True, slots=True)
class Record:
    """One description of a person, normalized; the repr shows no value."""

    first: Name = NO_NAME
    last: Name = NO_NAME
    birth: Name = NO_NAME
    date: BirthDate = NO_DATE
    sex: str = ""
    postcode: str = ""
    place: str = ""
    number: str = ""
    others: tuple[Record, ...] = field(default=(), compare=False)
    """The same description in other spellings, if names in it are Cyrillic; it is compared in all of them."""

    def __repr__(self) -> str:
        return "<Record>"

    @classmethod
    def of(cls, identity: Identity) -> Record:
        """Normalize identity data; a birth date that is not understood is missing."""
        names = (identity.first_names, identity.last_name, identity.birth_name)
        others = tuple(
            cls.of(replace(identity, first_names=first, last_name=last, birth_name=birth))
            for first, last, birth in other_spellings(*names)
        )
        family, born = without_birth_name(identity.last_name)
        last, birth = last_name(family), last_name(identity.birth_name or born)
        return cls(
            first=first_names(identity.first_names),
            last=last,
            birth=NO_NAME if birth == last else birth,
            date=birth_date(identity.birth_date) or NO_DATE,
            sex=_sex(identity.sex),
            postcode=_postcode(identity.postcode),
            place=place(identity.place),
            number=_number(identity.insurance_number),
            others=others,
        )

    @property
    def counted(self) -> Counted:
        """What is counted of this record."""
        return self.first, self.last, self.postcode

    @property
    def sufficient(self) -> bool:
        """Whether this says enough to look for the person.

        A family name with a birth date, or with first name and postcode; or an insurance number.
        """
        return bool(self.last and (self.date or (self.first and self.postcode))) or bool(self.number)

    @property
    def certain(self) -> bool:
        """Whether an equal description can be taken for the same person: full name and date, or a number."""
        return bool(self.first and self.last and self.date.whole) or bool(self.number and self.last)

    @property
    def key(self) -> str:
        """One text that two records share if they are equal in everything that is compared."""
        names = (" ".join(name.parts) for name in (self.first, self.last, self.birth))
        return "\x1f".join((*names, self.date.text, self.sex, self.postcode, self.place, self.number))


def counted_of(identity: Identity) -> Counted:
    """What is counted of a record of identity data, without the other fields."""
    family, _ = without_birth_name(identity.last_name)
    return first_names(identity.first_names), last_name(family), _postcode(identity.postcode)


@lru_cache(REMEMBERED)
def _sex(text: str) -> str:
    return _SEXES.get(letters(text).strip(" ."), "")


@lru_cache(REMEMBERED)
def _postcode(text: str) -> str:
    return _signs(text)


def _signs(text: str) -> str:
    return _NO_SIGN.sub("", letters(text))


def _number(text: str) -> str:
    """An insurance number; too short ones and repetitions of one digit, as in 0000000000, are placeholders."""
    signs = _signs(text)
    return "" if len(signs) < SHORTEST_NUMBER or len(set(signs)) <= 1 else signs
