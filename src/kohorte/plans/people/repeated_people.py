"""Repeated identifiers: columns that seem to say whom a row is about, and have fewer values than there are rows."""

from __future__ import annotations

from collections.abc import Mapping

from kohorte.data import Role
from kohorte.errors import InputError
from kohorte.identifiers.people import Numbering, is_name_of_people, may_be_shared, numbering
from kohorte.plans.people.candidates import NAMES, Candidates
from kohorte.plans.people.repeated import Repeated, counted_people
from kohorte.sources import TableSource


def repeated_column(source: TableSource, roles: Mapping[str, Role]) -> Repeated | None:
    """Find the column of a table that seems to say whom a row is about, without names of people.

    If no name and no role says it, the contents may: repeated codes whose rows agree in what people keep for life.
    """
    return Candidates(source, roles).found


def repeated_people(source: TableSource, roles: Mapping[str, Role]) -> Repeated | None:
    """Find the columns that seem to say whom a row is about, if they have repeated values.

    Names, addresses and the like count only together, and only if no column numbers people; without names they are a
    question.
    """
    return repeated_among(Candidates(source, roles))


def repeated_among(candidates: Candidates) -> Repeated | None:
    """Do what `repeated_people` does, with the candidates of a table."""
    found = candidates.found
    certain = found is not None and not found.is_question
    if certain or any(numbering(name) is Numbering.PEOPLE for name in candidates.columns):
        return found
    shared = [name for name in candidates.identifying if may_be_shared(name)]
    if not shared:
        return found
    values, rows = counted_people(candidates.source, shared)
    if not 1 <= values < rows:
        return found
    named = any(map(is_name_of_people, shared))
    together = Repeated(tuple(shared), values, rows, NAMES, is_question=not named)
    return together if named else found or together


def refuse_repeated(found: Repeated | None, key: str, *, rows: int = 0) -> None:
    """Refuse a table with repeated identifiers; `key` is where the person, or that rows are people, is stated.

    `rows` is given if all rows of the table must say whom they are about.
    """
    if found is not None:
        columns = found.columns[0] if len(found.columns) == 1 else str(list(found.columns))
        seem = found.asked if found.is_question else f"several rows seem to be about one person: {found.facts}"
        raise InputError(
            f"{seem}; {found.completing(rows)}say whom a row is about ({key}: {columns}), or state that every row is "
            f"another person ({key}: none)",
            code="person-unstated",
        )
