"""Columns that number people, by their names: patient numbers, pseudonyms, social security numbers, case numbers."""

from __future__ import annotations

import re
from enum import IntEnum

from kohorte.identifiers.names import told_by_name, words_of

_NUMBER = r"(?: ?(?:ids?|uid|uuid|guid|nr|no|num|number|nummer|code|key|kennung|schluessel|identifier|hash|index))"
_ENDS_LIKE_NUMBER = re.compile(rf"\b{_NUMBER}$")
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
_NAMES, _DATES = 1, 3
_OF_SEVERAL = (1, 2, 3, 4, 5)
"""Classes whose values several people can have in common: names, places, dates, telephone and fax numbers."""
_OF_THINGS = (6, 12, 13, 14, 15, 16, 17)
"""Classes that say how somebody is reached or which thing was used: e-mail, vehicles, devices, web pages, IP addresses,
prints and pictures. A practice has one e-mail address for all its patients, and a ward one device."""
_ROW = re.compile(
    r"\b(?:rows?|zeilen?|lfd|laufende?|index|idx|orders?|auftrags?\w*|befund\w*|reports?|samples?|proben?\w*|lines?|records?"
    r"|eintrag\w*|datensatz\w*|messung\w*|measurements?|results?|ergebnis\w*|accession|events?|ereignis\w*"
    r"|rezept\w*|prescriptions?|verordnung\w*|invoices?|rechnungs?\w*|documents?|dokument\w*|untersuchungs?\w*|exams?)\b"
)

_FOR_LIFE = re.compile(
    r"\b(?:birth ?(?:date|day|year|month)?|dob|yob|geb(?:oren|dat|datum|jahr|tag)?|geburts?(?: ?(?:datum|jahr|tag))?"
    r"|sex|gender|geschl(?:echt)?|blood ?(?:group|type)|blutgruppe)\b|^(?:birth|geburt)"
)
_THING = re.compile(
    r"\b(?:icd|ops|atc|drg|mdc|loinc|snomed|pzn|ndc|cpt|hcpcs|drug|substance|wirkstoff|product|produkt|item|artikel|test"
    r"|lab|labor|analyte|procedure|prozedur|devices?|geraete?|ward|station|department|abteilung|units?|einheit|stationen"
    r"|room|zimmer|bed|bett|team|operator|doctor|physician|arzt|aerztin|surgeon|operateur|nurse|pflege|behandler"
    r"|einweiser|provider|practitioner|hausarzt|gp|insurer|krankenkasse|kasse|batch|charge|lot|plate|run|serial"
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


def names_people_or_cases(name: str) -> bool:
    """Whether the name of a column says that it numbers people or cases, and not only that it is about insurance."""
    words = words_of(name)
    return bool(_PERSON.search(words) or _CASE.search(words))


def tells_events(name: str) -> bool:
    """Whether a column tells the cases, stays or dates of one person apart, by its name."""
    return numbering(name) is Numbering.CASES or bool(_EVENT.search(words_of(name))) or _is_date(name)


def _is_date(name: str) -> bool:
    return any(number == _DATES for number, _ in told_by_name(name)) or bool(_DATE.search(words_of(name)))


def may_be_shared(name: str) -> bool:
    """Whether several people can have the same value, by the name of the column: names, places, dates, telephones."""
    return any(number in _OF_SEVERAL for number, _ in told_by_name(name))


def is_name_of_people(name: str) -> bool:
    """Whether a column has names of people, by its own name."""
    return any(number == _NAMES for number, _ in told_by_name(name))


def keeps_for_life(name: str) -> bool:
    """Whether people keep the value of a column for life, by its name: sex, birth, blood group."""
    return bool(_FOR_LIFE.search(words_of(name)))


def names_a_thing(name: str) -> bool:
    """Whether a column is about a thing, a place, a time or an amount by its name, and does not number people."""
    return bool(_THING.search(words_of(name)))


def within_a_house(name: str) -> bool:
    """Whether a column tells wards, rooms, diagnoses, drugs or lines apart, by its name: these number no people."""
    return bool(_WITHIN.search(words_of(name)))


def serves_several(name: str) -> bool:
    """Whether a column is about a thing or an address that several people can use, by its name: a device, an e-mail
    address, a ward, a doctor."""
    return names_a_thing(name) or any(number in _OF_THINGS for number, _ in told_by_name(name))


def numbers_rows(name: str) -> bool:
    """Whether a column numbers rows, orders, samples or documents by its name, of which a person can have several."""
    return bool(_ROW.search(words_of(name)))


def ends_like_a_number(name: str) -> bool:
    """Whether the name of a column ends as numbers do: `Nr`, `id`, `Kennung`."""
    return bool(_ENDS_LIKE_NUMBER.search(words_of(name)))
