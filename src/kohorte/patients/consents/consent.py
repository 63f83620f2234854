"""What a person agreed to: purposes, kinds of data, from when until when; and what was taken back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from enum import StrEnum
from typing import Any, Self

from kohorte.errors import InputError

_WORD = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
SCOPE = "http://terminology.hl7.org/CodeSystem/consentscope"
CATEGORY = "http://terminology.hl7.org/CodeSystem/consentcategorycodes"
OWN = "urn:kohorte:consent"


class Kind(StrEnum):
    """What an event of a consent is."""

    GIVEN = "given"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class Event:
    """One entry of the history of a person's consents; `number` counts the entries of a PID from 1."""

    number: int
    kind: Kind
    at: str
    actor: str
    purposes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    start: str | None = None
    until: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the event as plain data."""
        return {
            "number": self.number,
            "kind": str(self.kind),
            "at": self.at,
            "actor": self.actor,
            "purposes": list(self.purposes),
            "categories": list(self.categories),
            "start": self.start,
            "until": self.until,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        lists = {name: tuple(data[name]) for name in ("purposes", "categories")}
        return cls(**{**data, **lists, "kind": Kind(data["kind"])})


@dataclass(frozen=True)
class Consent:
    """A consent as it stands: without categories it is for all kinds of data; without an end for good."""

    purposes: tuple[str, ...]
    categories: tuple[str, ...]
    start: str | None
    until: str | None
    given_at: str
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    """When each purpose was taken back."""

    def covers(self, purpose: str, now: datetime) -> bool:
        """Whether data may be used for a purpose now."""
        begun = self.start is None or now >= _beginning(self.start)
        ended = self.until is not None and now > end_of(self.until)
        return purpose in self.purposes and purpose not in self.withdrawn and begun and not ended

    def is_active(self, now: datetime) -> bool:
        """Whether anything is covered now, or will be."""
        ended = self.until is not None and now > end_of(self.until)
        return not ended and not set(self.purposes) <= set(self.withdrawn)

    def to_dict(self, now: datetime) -> dict[str, Any]:
        """Return the consent as plain data."""
        return {
            "status": "active" if self.is_active(now) else "inactive",
            "purposes": list(self.purposes),
            "categories": list(self.categories),
            "from": self.start,
            "until": self.until,
            "given_at": self.given_at,
            "withdrawn": dict(self.withdrawn),
        }

    def to_fhir(self, pid: str, now: datetime) -> dict[str, Any]:
        """Return the consent as a FHIR resource (R4, Consent); purposes that were withdrawn are denied in it."""
        period = {name: value for name, value in (("start", self.start), ("end", self.until)) if value is not None}
        kinds = {"code": [_concept(name) for name in self.categories]} if self.categories else {}
        denied = [
            {"type": "deny", "period": {"start": at}, "purpose": [_coding(purpose)]}
            for purpose, at in self.withdrawn.items()
        ]
        provision: dict[str, Any] = {
            "type": "permit",
            **({"period": period} if period else {}),
            "purpose": [_coding(purpose) for purpose in self.purposes],
            **kinds,
            **({"provision": denied} if denied else {}),
        }
        return {
            "resourceType": "Consent",
            "status": "active" if self.is_active(now) else "inactive",
            "scope": {"coding": [{"system": SCOPE, "code": "research"}]},
            "category": [{"coding": [{"system": CATEGORY, "code": "research"}]}],
            "patient": {"identifier": {"system": "urn:kohorte:pid", "value": pid}},
            "dateTime": self.given_at,
            "policyRule": {"text": "as recorded by the patient list"},
            "provision": provision,
        }


def standing(events: Iterable[Event]) -> list[Consent]:
    """What the events amount to: a withdrawal ends what was given before it, for its purposes or for all."""
    consents: list[Consent] = []
    for event in events:
        if event.kind is Kind.GIVEN:
            consents.append(Consent(event.purposes, event.categories, event.start, event.until, event.at))
            continue
        consents = [_without(consent, event) for consent in consents]
    return consents


def _without(consent: Consent, event: Event) -> Consent:
    gone = [purpose for purpose in consent.purposes if not event.purposes or purpose in event.purposes]
    withdrawn = dict.fromkeys(gone, event.at) | dict(consent.withdrawn)
    return Consent(consent.purposes, consent.categories, consent.start, consent.until, consent.given_at, withdrawn)


def checked_words(words: Sequence[str], what: str) -> tuple[str, ...]:
    """Purposes or kinds of data, each once; a name that is none is refused."""
    for word in words:
        if not _WORD.fullmatch(word):
            raise InputError(
                f"{what}: is a word of small letters, digits and . _ -, such as diabetes-research", code="consent-word"
            )
    return tuple(dict.fromkeys(words))


def checked_day(day: str | None, what: str) -> str | None:
    """A date such as 2026-12-24, or None."""
    if day is None:
        return None
    try:
        if datetime.strptime(day, "%Y-%m-%d").strftime("%Y-%m-%d") == day:
            return day
    except ValueError:
        pass
    raise InputError(f"{what}: is a date such as 2026-12-24", code="consent-date")


def _beginning(day: str) -> datetime:
    return datetime.combine(datetime.strptime(day, "%Y-%m-%d").date(), time.min, tzinfo=UTC)


def end_of(day: str) -> datetime:
    """The last moment of a day, in UTC."""
    return datetime.combine(datetime.strptime(day, "%Y-%m-%d").date(), time.max, tzinfo=UTC)


def _coding(word: str) -> dict[str, str]:
    return {"system": OWN, "code": word}


def _concept(word: str) -> dict[str, Any]:
    return {"coding": [_coding(word)]}
