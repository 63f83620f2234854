"""Pseudonyms of texts: how a text is read, and texts that come one by one, as a service is asked for them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from kohorte.errors import InputError
from kohorte.pseudonyms.dates import DateColumn, offsets
from kohorte.pseudonyms.definition import Definition
from kohorte.pseudonyms.domains import Domain
from kohorte.pseudonyms.kinds import Reversible
from kohorte.pseudonyms.made import Made, TextError
from kohorte.trust.keys import Key


@dataclass(frozen=True)
class Pseudonymized:
    """The pseudonyms of some texts, in their order; None for a text that says nothing. The repr shows none."""

    pseudonyms: list[str | None] = field(repr=False)
    key_version: int
    new: int
    """How many entries a list got."""
    dates: list[list[str | None]] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Dates:
    """The dates of each text, which move by one number of days per person, at most `within`."""

    of_texts: Sequence[Sequence[str]] = field(repr=False)
    within: int = 365
    format: str | None = None

    def shifted(self, days: Sequence[int | None]) -> list[list[str | None]]:
        """The dates, moved by the days of their text; dates of a text that says nothing are removed."""
        flat = pl.Series([one or None for dates in self.of_texts for one in dates], dtype=pl.String)
        by = pl.Series([day for day, dates in zip(days, self.of_texts, strict=True) for _ in dates], dtype=pl.Int32)
        moved = iter(DateColumn("dates", self.format).shift(flat, by).to_list())
        return [[next(moved) for _ in dates] for dates in self.of_texts]


def plain_texts(definition: Definition, texts: pl.Series) -> pl.Series:
    """Return the texts as the domain reads them: in NFC and without blanks around, unless it is exact."""
    if definition.exact:
        return texts
    trimmed = texts.str.normalize("NFC").str.strip_chars()
    return trimmed.set(trimmed == "", None)


def plain_text(definition: Definition, text: str) -> str | None:
    """Return one text as `plain_texts` does; None if nothing is left of it."""
    return (text if definition.exact else unicodedata.normalize("NFC", text).strip()) or None


def made(domain: Domain, originals: Sequence[str], key: Key) -> Made:
    """Make the pseudonyms of different texts.

    If the domain has a parent, the texts must have the shape of its pseudonyms. A text that can have no pseudonym is a
    `TextError` with its place.
    """
    if (parent := domain.parent) is not None:
        shape, any_length = parent.shape, parent.kind == Reversible.name
        for place, original in enumerate(originals):
            try:
                shape.body(original, any_length=any_length)
            except InputError as error:
                raise TextError(error.message, code=error.code, place=place) from None
    return domain.kind.pseudonyms(originals, key)


def pseudonymized(
    domain: Domain,
    texts: Sequence[str],
    *,
    key_version: int | None = None,
    dates: Dates | None = None,
    actor: str,
    discreet: bool = False,
) -> Pseudonymized:
    """Return the pseudonyms of some texts, and their dates shifted, with an entry in the log of the folder.

    An error names the position of a text, from 1, and never the text. `discreet` is for people who must not learn who
    is in a list: a list that would tell is refused, and known texts make as much work as new ones.
    """
    if dates is not None and len(dates.of_texts) != len(texts):
        raise InputError("dates: has one list of dates for each text", code="pseudonym-dates")
    if discreet:
        domain.kind.refuse_telling(len(texts))
    key = domain.key(key_version)
    given = plain_texts(domain.definition, pl.Series(texts, dtype=pl.String))
    originals = given.drop_nulls().unique(maintain_order=True).to_list()
    try:
        found = made(domain, originals, key)
    except TextError as error:
        position = given.to_list().index(originals[error.place]) + 1
        raise InputError(f"text {position}: {error.message}", code=error.code) from None
    if discreet:
        domain.kind.even_out(originals, new=found.new)
    if domain.kind.may_coincide and len(set(found.pseudonyms)) < len(originals):
        raise InputError(
            "two different texts would share their pseudonym; make a domain with longer pseudonyms",
            code="pseudonym-coincidence",
        )
    by_text = dict(zip(originals, found.pseudonyms, strict=True))
    shifted = None
    if dates is not None:
        days = dict(zip(originals, offsets(originals, found.versions, domain.keys, dates.within), strict=True))
        shifted = dates.shifted([None if one is None else days[one] for one in given.to_list()])
    missing = given.null_count()
    domain.kind.folder.log.append(
        "pseudonymize",
        f"domain {domain.definition.name}",
        actor=actor,
        key_version=key.version,
        pseudonymized=len(texts) - missing,
        missing=missing,
        new=found.new,
    )
    pseudonyms = [None if one is None else by_text[one] for one in given.to_list()]
    return Pseudonymized(pseudonyms, key.version, found.new, shifted)
