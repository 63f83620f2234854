"""Places in resources that get a pseudonym or a shifted date when the pseudonyms of a whole batch are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import polars as pl

from kohorte.errors import InputError
from kohorte.pseudonyms.coincidences import Coincidences
from kohorte.pseudonyms.dates import offsets, stands_for_none
from kohorte.pseudonyms.domains import Domain
from kohorte.pseudonyms.fhir.references import ID
from kohorte.pseudonyms.made import Made, TextError
from kohorte.pseudonyms.texts import made

MIDDLE = {4: "-07-01", 7: "-15"}
"""What completes a date without day or month before it is shifted; the result is as precise as the date was."""
DAY = 10


@dataclass(frozen=True)
class Pending:
    """A text that becomes a pseudonym of a domain; `write` makes the whole value of it, such as a reference."""

    domain: str
    text: str
    where: str
    write: Callable[[str], str] | None = None
    is_id: bool = False


@dataclass(frozen=True)
class PendingDate:
    """A date that moves with the other dates of a person."""

    person: str
    text: str
    where: str


class Batch:
    """The places of one batch of resources; `fill` puts in what belongs there."""

    def __init__(self) -> None:
        self._places: dict[str, list[tuple[Any, Any, Pending]]] = {}
        self._dates: list[tuple[Any, Any, PendingDate]] = []

    def add(self, container: Any, key: Any, value: Pending | PendingDate) -> None:
        """Remember a place in a dictionary or a list."""
        if isinstance(value, Pending):
            self._places.setdefault(value.domain, []).append((container, key, value))
        else:
            self._dates.append((container, key, value))

    def fill(self, makers: Mapping[str, Maker], dates: tuple[str, int] | None) -> None:
        """Make all pseudonyms of the batch, at once for each domain, and shift its dates."""
        for domain, places in self._places.items():
            pseudonyms = makers[domain].pseudonyms(places)
            for container, key, value in places:
                pseudonym = pseudonyms[value.text]
                if value.is_id and not ID.fullmatch(pseudonym):
                    raise InputError(
                        f"pseudonyms of the domain {domain!r} cannot be ids in FHIR, which have at most 64 letters, "
                        "digits, - and .; take a one-way domain or a list without other characters in its prefix",
                        code="fhir-id",
                    )
                container[key] = pseudonym if value.write is None else value.write(pseudonym)
        if self._dates and dates is not None:
            domain, within = dates
            days = makers[domain].days([dated for _, _, dated in self._dates], within)
            for container, key, dated in self._dates:
                container[key] = _moved(dated, days[dated.person])


class Maker:
    """Makes pseudonyms of one domain for all batches of a file."""

    def __init__(self, domain: Domain) -> None:
        self.domain, self.values, self.new = domain, 0, 0
        self._key = domain.key(None)
        self._coincidences = Coincidences() if domain.kind.may_coincide else None

    @property
    def key_version(self) -> int:
        """The version of the key that is used."""
        return self._key.version

    def pseudonyms(self, places: list[tuple[Any, Any, Pending]]) -> dict[str, str]:
        """The pseudonym of every text."""
        first = {value.text: value.where for _, _, value in reversed(places)}
        found = self._made(first)
        self.values, self.new = self.values + len(places), self.new + found.new
        if self._coincidences is not None:
            self._coincidences.add(pl.Series(list(first), dtype=pl.String), found.pseudonyms)
        return dict(zip(first, found.pseudonyms, strict=True))

    def days(self, dates: list[PendingDate], within: int) -> dict[str, int]:
        """By how many days the dates of every person move; people who are not in a list yet are added."""
        people = {value.person: value.where for value in dates}
        versions = [self._key.version] * len(people)
        if not self.domain.kind.chooses_version:  # a list remembers with which version a person was added
            listed = self._made(people)
            versions, self.new = listed.versions, self.new + listed.new
        found = offsets(list(people), versions, self.domain.keys, within)
        return dict(zip(people, found, strict=True))

    def finish(self) -> None:
        """Refuse the file if two texts got the same pseudonym."""
        if self._coincidences is not None and (shared := self._coincidences.found()):
            raise InputError(
                f"{shared} different values would share their pseudonym of the domain "
                f"{self.domain.definition.name!r} with another one; make a domain with longer pseudonyms (--length)",
                code="pseudonym-coincidence",
            )

    def _made(self, first: Mapping[str, str]) -> Made:
        texts = list(first)
        try:
            return made(self.domain, texts, self._key)
        except TextError as error:
            where = first[texts[error.place]]
            raise InputError(f"{where}: {error.message}", code=error.code) from None


def is_placeholder(text: str) -> bool:
    """Whether a date stands for none, such as 9999-12-31; one that cannot be read is refused when it is shifted."""
    day = text[:DAY]
    try:
        return stands_for_none(date.fromisoformat(day + MIDDLE.get(len(day), "")))
    except ValueError:
        return False


def _moved(value: PendingDate, days: int) -> str:
    """A date after so many days, as precise as before; times of day stay."""
    text = value.text
    day, rest = text[:DAY], text[DAY:]
    try:
        moved = date.fromisoformat(day + MIDDLE.get(len(day), "")) + timedelta(days=days)
    except (ValueError, OverflowError):
        raise InputError(f"{value.where}: is not a date that can be shifted", code="fhir-date") from None
    return f"{moved.isoformat()[: len(day)]}{rest}"
