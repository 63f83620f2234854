"""The line of a first plan that says whom a row is about, or what a person has to decide before there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from kohorte.data import Role, without_marks
from kohorte.identifiers.given_numbers import places_of
from kohorte.identifiers.people import Numbering
from kohorte.in_words import count, listed
from kohorte.plans.people.candidates import OTHERS, Candidates
from kohorte.plans.people.repeated import Repeated
from kohorte.plans.people.repeated_people import repeated_among
from kohorte.plans.people.unstated_person import ANSWER, unstated
from kohorte.plans.person import Person
from kohorte.sources import FrameSource


@dataclass(frozen=True)
class ProposedPerson:
    """The columns of `person` for a plan; none if a person has to decide, as `reason` says.

    `identifying` is the column that the release leaves out, whatever it looks like, and `people` are whom the columns
    tell apart.
    """

    columns: tuple[str, ...]
    identifying: str | None
    people: int
    reason: str


def proposed_person(
    frame: pl.DataFrame, roles: Mapping[str, Role], missing_values: Sequence[str] = ()
) -> ProposedPerson:
    """Propose whom a row is about, from a column that numbers people or cases, or identifies.

    A number of people is proposed even if every row has its own, so that the plan states what is counted. If only a
    person can tell, nothing is proposed, and the reason is the question.
    """
    frame = without_marks(frame, missing_values)
    candidates = Candidates(FrameSource(frame), roles)
    found, unique = repeated_among(candidates), candidates.unique
    if found is None:
        numbers_people = unique is not None and unique.rank == Numbering.PEOPLE
        return _each(unique) if unique is not None and numbers_people else _open(unique, frame.height)
    if found.is_question or found.rank > OTHERS:
        return ProposedPerson((), None, frame.height, replace(found, is_question=True).reason)
    if found.rows < frame.height:
        return ProposedPerson((), found.column, found.values, _incomplete(found, frame.height))
    places = [name for name in places_of(frame.columns) if name not in found.columns]
    return ProposedPerson(found.columns, found.column, found.values, _certain(found, places))


def _each(unique: Repeated) -> ProposedPerson:
    """The number of people of a table in which every row has its own."""
    said = f"{unique.in_every_row}: people are counted, as many as rows"
    return ProposedPerson(unique.columns, unique.column, unique.values, said)


def _open(unique: Repeated | None, rows: int) -> ProposedPerson:
    """What a person has to decide if no column says whom a row is about."""
    said = f"{unstated(unique)}. {ANSWER}. Until then rows are counted, not people"
    return ProposedPerson((), None, rows, said)


def _incomplete(found: Repeated, rows: int) -> str:
    named = listed(list(map(repr, found.columns)))
    return (
        f"{named} {'seems' if len(found.columns) == 1 else 'seem'} to say whom a row is about "
        f"({count(found.values, 'different value')}), but not in {count(rows - found.rows, 'row')}: fill in the "
        f"values or remove these rows, then add the line '{found.line}'. Until then rows are counted, not people"
    )


def _certain(found: Repeated, places: Sequence[str]) -> str:
    """Why columns are proposed, and what only a person can know about them."""
    said = [found.reason]
    if found.rank == Numbering.CASES:
        said.append("if a person can have several cases, name the column of the person instead")
    if places and not found.because:
        said.append(
            f"if each {places[0]!r} gives its own numbers, write '{Person((places[0], found.column)).line}'; as it is, "
            "people with the same number count as one, which is the safer error"
        )
    return ". ".join(one[0].upper() + one[1:] if at else one for at, one in enumerate(said))
