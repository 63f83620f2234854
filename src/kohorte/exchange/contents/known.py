"""The contents that a column can have, and whether a text is one of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kohorte.exchange.contents.code_systems import SYSTEMS
from kohorte.exchange.contents.everyday_texts import is_everyday, is_state
from kohorte.exchange.contents.measures import UNITS, fits_unit, unit_by_name
from kohorte.identifiers import Form

WORDS, YEAR = "words", "year"
CONTENTS = (WORDS, YEAR, *SYSTEMS, *UNITS)
"""What a house can say that a column contains, besides statistics: everyday words, years of the calendar, codes of a
system, or numbers of a unit. A year may be one of birth, so that the policy limits it as such."""

OF_KIND = {"disease": "icd-10", "medication": "atc", "country": "country-code"}
"""The codes in which values of a kind of statistics are written."""
REGION = "region"

_YEAR = r"(?:1[89]|20)[0-9]{2}"
_MONTH = (
    r"(?:jan(?:uary?|uar)?|jänner|feb(?:ruary?|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?"
    r"|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\.?"
)
_AGE = r"[0-9]{1,3}(?:\.[0-9]+)?"
_SHAPES: Mapping[Form, str] = {
    Form.DATE: (
        rf"(?:(?:[<>]=?|[≤≥])? ?[\[(]?{_YEAR}(?:-(?:0[1-9]|1[0-2])|-?Q[1-4]|s)?(?: ?[-–,] ?{_YEAR})?[\])\[]?"
        rf"(?: or (?:earlier|later|before|after))?|{_MONTH} {_YEAR})"
    ),
    Form.AGE: (
        rf"(?:[<>]=?|[≤≥])? ?[\[(]?{_AGE}(?: ?(?:-|–|,|to|bis) ?(?:{_AGE}|inf|∞))?[\])\[]?"
        r"(?: ?\+| (?:years?|jahre?|(?:or|and) (?:older|over|above|more)|(?:und|oder) (?:älter|mehr)))*"
    ),
    Form.ZIP: r"(?:(?:A|D|CH)[- ])?[0-9]{0,5}\**",
}
LIMITED = {**_SHAPES, Form.BIRTH: _SHAPES[Form.DATE]}
"""How a text looks that shows a date, an age or a ZIP code in a detail that a policy may allow."""


@dataclass(frozen=True)
class Content:
    """What a column contains: statistics of a kind, and everyday words, codes or numbers of a unit.

    A text that is none of these is not known: it may be anything, also an identifier.
    """

    kind: str | None = None
    stated: str = WORDS

    def is_known(self, text: str) -> bool:
        """Whether a text is known to name nobody by what it is; figures about it are looked up elsewhere."""
        if self.kind == REGION:
            return is_state(text)
        system = OF_KIND.get(self.kind or "")
        if system is not None and SYSTEMS[system](text.strip()):
            return True
        if self.stated in SYSTEMS and SYSTEMS[self.stated](text.strip()):
            return True
        return (self.stated in UNITS and fits_unit(text, self.stated)) or is_everyday(text)

    def to_dict(self) -> dict[str, str | None]:
        """The content as plain data."""
        return {"statistics": self.kind, "contents": self.stated}

    @property
    def form(self) -> Form | None:
        """The form that the statement of the house gives the column."""
        return Form.BIRTH if self.stated == YEAR else None

    @property
    def trusts_statistics(self) -> bool:
        """Whether a text is known because there are figures about it; a region may be smaller than a state."""
        return self.kind is not None and self.kind != REGION


def content_of(name: str, statistics: Mapping[str, str], contents: Mapping[str, str]) -> Content:
    """What a house says about a column, by its statistics, by its contents, or by a unit at the end of its name."""
    return Content(statistics.get(name), contents.get(name) or unit_by_name(name) or WORDS)


def limited_shape(text: str, form: Form) -> bool:
    """Whether a text is nothing but a date, an age or a ZIP code, in a detail that a policy may allow."""
    return re.fullmatch(LIMITED[form], text.strip(), re.IGNORECASE) is not None
