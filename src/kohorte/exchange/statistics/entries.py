"""Entries of a table of frequencies: which share of which people has a value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from kohorte.exchange.statistics.origin import Origin

OLDEST = 150
"""Nobody is older; an open span of ages ends here."""

SEXES = {
    "f": "female", "female": "female", "w": "female", "women": "female", "weiblich": "female",
    "m": "male", "male": "male", "men": "male", "männlich": "male",
    "d": "diverse", "diverse": "diverse", "divers": "diverse", "x": "diverse",
}  # fmt: skip
"""The spellings of a sex; any other text stands for itself."""

_SPAN = re.compile(r"([0-9]{1,3}) ?[-\u2013] ?([0-9]{1,3})")
_OPEN = re.compile(r"([0-9]{1,3}) ?\+")
_ONE = re.compile(r"[0-9]{1,3}")

Ages = tuple[int, int]


@dataclass(frozen=True)
class Entry:
    """The share of people who have a value, among people of these ages, this sex and this country; None: of any.

    `source` is the publication of this one figure, if the table is made from several.
    """

    value: str
    share: float
    ages: Ages | None = None
    sex: str | None = None
    country: str | None = None
    source: str | None = None

    @property
    def narrowness(self) -> int:
        """How many of age, sex and country the entry is restricted to."""
        return sum(part is not None for part in (self.ages, self.sex, self.country))


@dataclass(frozen=True)
class StatisticsTable:
    """A table of frequencies with its origin and version."""

    origin: Origin
    entries: Sequence[Entry] = field(repr=False)
    version: int = 1

    @property
    def title(self) -> str:
        """The table in words, for reasons and pages."""
        return self._titled(self.origin.source)

    def title_of(self, entry: Entry) -> str:
        """The table in words, with the publication of one of its figures."""
        return self._titled(entry.source or self.origin.source)

    def _titled(self, cited_title: str) -> str:
        return f"{self.origin.name} version {self.version} ({cited_title}, {self.origin.date})"


def comparable(value: str) -> str:
    """A value as it is compared: capital letters and blanks around it do not count."""
    return " ".join(value.split()).casefold()


def one_sex(text: str) -> str:
    """The one spelling of a sex."""
    return SEXES.get(comparable(text), comparable(text))


def ages_of(text: str) -> Ages | None:
    """The ages that a text such as `40-49`, `90+` or `47` stands for, both included; None if it is none of these."""
    text = text.strip()
    if found := _SPAN.fullmatch(text):
        low, high = int(found[1]), int(found[2])
    elif found := _OPEN.fullmatch(text):
        low, high = int(found[1]), OLDEST
    elif _ONE.fullmatch(text):
        low = high = int(text)
    else:
        return None
    return (low, high) if low <= high <= OLDEST else None
