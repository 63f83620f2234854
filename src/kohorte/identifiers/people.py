"""Columns that number people, by their names: patient numbers, pseudonyms, social security numbers, case numbers."""

from __future__ import annotations

import re
from enum import IntEnum

from kohorte.identifiers.names import told_by_name, words_of

_NUMBER = r"(?: ?(?:ids?|uid|uuid|guid|nr|no|num|number|nummer|code|key|kennung|schluessel|identifier|hash|index))"
_PERSON = re.compile(
    rf"\b(?:pat(?:ients?|ienten|ientin)?|persons?|personen|subjects?|probands?|probanden|participants?|teilnehmer"
    rf"|individuals?|donors?|spender|member|versicherten){_NUMBER}\b"
    r"|\b(?:pids?|mrns?|psn|pseudonym\w*|e?mpi|medical ?record ?(?:no|nr|number))\b"
    r"|\b(?:pseudo|aktenzeichen)\b"
    r"|^(?:pat|subj|subject|patient(?:in)?(?: patient(?:in)?)?|person|proband|participant|teilnehmer)$"
)
_CASE = re.compile(rf"\b(?:cases?|fall|aufnahme|encounter|stay|visit|hadm|admission|chart|hospital){_NUMBER}\b")
_OF_PEOPLE = (7, 9)
"""Classes of identifiers that belong to one person each: social security numbers and numbers of health plans."""
_EVENT = re.compile(r"\b(?:cases?|fall|aufnahme|encounters?|stays?|visits?|admissions?|episodes?|aufenthalt|besuch)\b")
_DATE = re.compile(r"\b(?:date|datum|day|tag)\b|datum$")
_DATES = 3
_OF_SEVERAL = (1, 2, 3, 4, 5)
"""Classes whose values several people can have in common: names, places, dates, telephone and fax numbers."""


_FOR_LIFE = re.compile(
    r"\b(?:birth ?(?:date|day|year|month)?|dob|yob|geb(?:oren|dat|datum|jahr|tag)?|geburts?(?: ?(?:datum|jahr|tag))?"
    r"|sex|gender|geschl(?:echt)?|blood ?(?:group|type)|blutgruppe)\b|^(?:birth|geburt)"
)
_THING = re.compile(
    r"\b(?:icd|ops|atc|drg|mdc|loinc|snomed|pzn|ndc|cpt|hcpcs|drug|substance|wirkstoff|product|produkt|item|artikel|test"
    r"|lab|analyte|procedure|prozedur|device|ward|station|department|abteilung|team|operator|batch|charge|lot|plate|run"
    r"|year|jahr|month|monat|week|woche|hour|stunde|price|preis|cost|kosten|amount|betrag|dose|dosis|weight|gewicht"
    r"|height|groesse|size|length|dauer|duration|score|value|wert|income|region|state|country|land)\b|diag|medi[ck]|therap"
)
_WITHIN = re.compile(
    r"\b(?:wards?|stations?|dept|departments?|abteilung|fachabteilung|room|zimmer|bed|bett|seq|sequence|lfd|line|zeile"
    r"|icd|ops|atc|drg|loinc|drug|procedure|prozedur|item|test|analyte)\b|diag|medi[ck]ation|medikament"
)
"""What one patient has several of: places within a house, diagnoses, drugs, tests, lines."""


class Numbering(IntEnum):
    """What the values of a column number, by its name."""

    PEOPLE = 0
    CASES = 1


def numbering(name: str) -> Numbering | None:
    """What a column numbers by its name; None if its name says neither people nor cases."""
    words = words_of(name)
    if _PERSON.search(words) or any(number in _OF_PEOPLE for number, _ in told_by_name(name)):
        return Numbering.PEOPLE
    return Numbering.CASES if _CASE.search(words) else None


def tells_events(name: str) -> bool:
    """Whether a column tells the cases, stays or dates of one person apart, by its name."""
    return numbering(name) is Numbering.CASES or bool(_EVENT.search(words_of(name))) or _is_date(name)


def _is_date(name: str) -> bool:
    return any(number == _DATES for number, _ in told_by_name(name)) or bool(_DATE.search(words_of(name)))


def may_be_shared(name: str) -> bool:
    """Whether several people can have the same value, by the name of the column: names, places, dates, telephones."""
    return any(number in _OF_SEVERAL for number, _ in told_by_name(name))


def keeps_for_life(name: str) -> bool:
    """Whether people keep the value of a column for life, by its name: sex, birth, blood group."""
    return bool(_FOR_LIFE.search(words_of(name)))


def names_a_thing(name: str) -> bool:
    """Whether a column is about a thing, a place, a time or an amount by its name, and does not number people."""
    return bool(_THING.search(words_of(name)))


def within_a_house(name: str) -> bool:
    """Whether a column tells wards, rooms, diagnoses, drugs or lines apart, by its name: these number no people."""
    return bool(_WITHIN.search(words_of(name)))
