"""What rules leave in resources that may identify people: elements and counts, never values.

Elements that name a person, by the 18 classes of HIPAA Safe Harbor, stay only if a rule names them with `keep`. They
are recognised by what they consist of, because the same types of data stand in many elements. Every other text that
stays is listed unless it can be nothing but a code, a unit or an address of a standard (`codes`): what nobody foresaw
is listed, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kohorte.errors import InputError
from kohorte.identifiers import CLASSES
from kohorte.in_words import count
from kohorte.pseudonyms.fhir.codes import is_harmless
from kohorte.pseudonyms.fhir.json_text import Decimal

NAME, PLACE, DATE, CONTACT, NUMBER, DEVICE, ADDRESS, PHOTO = 1, 2, 3, 4, 18, 13, 15, 17
"""Classes of HIPAA (identifiers/classes.py) by which elements are recognised."""
_PARTS = ((NAME, ("family", "given")), (PLACE, ("line", "city", "postalCode", "district")))
_CONTACTS = ("phone", "fax", "email", "pager", "url", "sms")
_LEAVES = {
    "birthDate": DATE,
    "deceasedDateTime": DATE,
    "subscriberId": NUMBER,
    "serialNumber": DEVICE,
    "distinctIdentifier": DEVICE,
    "deviceIdentifier": DEVICE,
    "carrierHRF": DEVICE,
    "carrierAIDC": DEVICE,
    "latitude": PLACE,
    "longitude": PLACE,
    "address": ADDRESS,
}
_PHOTOS = ("photo",)
_OF_RELATIVES = {("FamilyMemberHistory", "name"): NAME}
_NO_PEOPLE = """
ActivityDefinition CodeSystem Endpoint HealthcareService InsurancePlan Library Location Measure Medication
MedicationKnowledge Organization OrganizationAffiliation PlanDefinition Questionnaire StructureDefinition Substance
ValueSet
"""
THINGS = frozenset(_NO_PEOPLE.split())
"""Types that describe no person: what identifies them is listed, and not refused."""
_WORDS = "text div display comment conclusion description valueString valueMarkdown data title name note"
_TEXTS = frozenset(_WORDS.split())
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2}(T.*)?)?")
_NAME = re.compile(r"_?[A-Za-z][A-Za-z0-9]{0,63}")


class Kind(StrEnum):
    """What stays, as far as it can be told from its form."""

    IDENTIFIER = "identifier-like"
    DATE = "date"
    TEXT = "free text"


@dataclass
class Kept:
    """Counts what stays; an element that names a person is refused unless `only_lists`, as in a dry run."""

    only_lists: bool = False
    stays: dict[tuple[str, Kind], int] = field(default_factory=dict)
    unnamed: dict[str, int] = field(default_factory=dict)
    """Elements that name a person and that no rule names: a dry run goes on after them."""

    @property
    def verdict(self) -> str:
        """Red if the rules would be refused, amber if something stays that may identify people."""
        return "red" if self.unnamed else "amber" if self.stays else "green"

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        kept = [{"element": name, "kind": str(kind), "values": n} for (name, kind), n in sorted(self.stays.items())]
        refused = [{"element": name, "values": n} for name, n in sorted(self.unnamed.items())]
        return {"verdict": self.verdict, "kept": kept} | ({"refused": refused} if self.only_lists else {})

    @property
    def in_words(self) -> list[str]:
        """The counts in sentences."""
        lines = [
            f"  {name}: {count(n, 'element')} that {'names' if n == 1 else 'name'} people, and no rule names it"
            for name, n in sorted(self.unnamed.items())
        ]
        lines += [f"  {name}: {count(n, 'value')}, {kind}" for (name, kind), n in sorted(self.stays.items())]
        heads = {
            "red": "red: the rules are refused",
            "amber": "amber: the rules keep what may identify people",
            "green": "green: nothing stays as it was that looks like an identifier, a date or free text",
        }
        return [f"{heads[self.verdict]}{':' if lines else ''}", *lines]

    def refuse(self, path: Sequence[str], number: int, where: str, *, is_named: bool) -> None:
        """Refuse to keep an element that names a person because of a rule that does not name it."""
        if is_named or path[0] in THINGS:
            return
        name = shown(path)
        if self.only_lists:
            self.unnamed[name] = self.unnamed.get(name, 0) + 1
            return
        raise InputError(
            f"{where}: {name} would stay, which identifies people ({CLASSES[number]}), and no rule names it; remove or "
            f"pseudonymize it, or write '{shown(path[1:])}: keep' if it has to stay (--dry-run lists all of them)",
            code="fhir-identifying",
        )

    def leaf(self, path: Sequence[str], value: object, *, is_inside: bool, beside: Mapping[str, Any]) -> None:
        """Count a value that stays; `is_inside` an element that names a person, `beside` other elements."""
        kind = _kind(path, value, is_inside=is_inside, beside=beside)
        if kind is not None:
            self.add(path, kind)

    def add(self, path: Sequence[str], kind: Kind) -> None:
        """Count something that stays."""
        place = (shown(path), kind)
        self.stays[place] = self.stays.get(place, 0) + 1


def shown(path: Sequence[str]) -> str:
    """A path without anything that is not the name of an element."""
    return ".".join(step if _NAME.fullmatch(step) else "(no name)" for step in path)


def identifying(path: Sequence[str], value: object) -> int | None:
    """The class of HIPAA of an element that names a person by itself; None for all others."""
    key = path[-1]
    if isinstance(value, Mapping):
        if key in _PHOTOS:
            return PHOTO
        for number, parts in _PARTS:
            if any(part in value for part in parts):
                return number
        if type(value.get("value")) is str and "url" not in value:
            return CONTACT if value.get("system") in _CONTACTS else NUMBER
        return NAME if key == "name" and "text" in value else None
    return _LEAVES.get(key, _OF_RELATIVES.get((path[0], key)))


def _kind(path: Sequence[str], value: object, *, is_inside: bool, beside: Mapping[str, Any]) -> Kind | None:
    key = path[-1]
    if isinstance(value, Decimal) or not isinstance(value, str):
        return Kind.IDENTIFIER if key in _LEAVES or (is_inside and type(value) is not bool) else None
    if _DATE.fullmatch(value):
        return Kind.DATE
    if key in _LEAVES:
        return Kind.IDENTIFIER
    if key not in _TEXTS and (is_harmless(key, value, beside) or _TIME.fullmatch(value)):
        return None
    if is_inside:
        return Kind.IDENTIFIER
    looks_like_text = (
        key in _TEXTS or any(map(str.isspace, value)) or not any(sign in "/:@" or sign.isdigit() for sign in value)
    )
    return Kind.TEXT if looks_like_text else Kind.IDENTIFIER
