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
    r"|^(?:patient(?:in)?|person|proband|participant|teilnehmer)$"
)
_CASE = re.compile(rf"\b(?:cases?|fall|aufnahme|encounter|stay|visit|hadm|admission|chart|hospital){_NUMBER}\b")
_OF_PEOPLE = (7, 9)
"""Classes of identifiers that belong to one person each: social security numbers and numbers of health plans."""
_OF_SEVERAL = (1, 2, 3, 4, 5)
"""Classes whose values several people can have in common: names, places, dates, telephone and fax numbers."""


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


def may_be_shared(name: str) -> bool:
    """Whether several people can have the same value, by the name of the column: names, places, dates, telephones."""
    return any(number in _OF_SEVERAL for number, _ in told_by_name(name))
