"""Whose data a project may get for a purpose, now, and which kinds of data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from kohorte.errors import EngineError
from kohorte.patients.consents.consent import Consent, Kind
from kohorte.patients.consents.events import Facts, Held, all_pids_of, consents_of, facts_of, held_by, marks_of
from kohorte.patients.list.database import found, holders_of
from kohorte.patients.list.secrets import Secrets
from kohorte.patients.list.tables import CASES, OPEN
from kohorte.trust.log import Log
from kohorte.trust.pid import number_of, pid_of


@dataclass(frozen=True)
class Coverage:
    """What may be used of one PID: its number, and the kinds of data; None are all kinds."""

    holder: int
    categories: frozenset[str] | None

    def includes(self, category: str | None) -> bool:
        """Whether a kind of data may be used; data of no named kind only if all kinds may."""
        return self.categories is None or category in self.categories


@dataclass(frozen=True)
class Covered:
    """The PIDs whose data may be used, and the people of whom the database lacks what the log has."""

    people: Mapping[str, Coverage]
    contradicted: frozenset[int] = frozenset()


def covered(
    connection: Connection, secrets: Secrets, log: Log, pids: Iterable[str], *, purpose: str, now: datetime
) -> Covered:
    """Which of the PIDs are covered for a purpose. An unknown PID is as one without consent.

    A person who may be the same as somebody who has withdrawn, because the case is not decided, is not covered.
    """
    holders = holders_of(connection, secrets, pids)
    people = {person for _, person in holders.values()}
    rivals = rivals_of(connection, secrets, people)
    everybody = all_pids_of(connection, people | {other for others in rivals.values() for other in others})
    facts = facts_of(log)
    marks = marks_of(connection, secrets, log, {pid for pids in everybody.values() for pid in pids})
    for pid, (holder, _) in holders.items():
        _refuse_exchanged(log.fingerprint(pid_of(number_of(pid))), marks.get(holder))
    held = held_by(connection, secrets, facts, marks)
    of_person = {person: [held[pid] for pid in pids if pid in held] for person, pids in everybody.items()}
    contradicted = frozenset(
        person
        for person in people
        if any(one.lost for one in of_person[person]) or not _agree(facts, marks, person, everybody[person])
    )
    found_people: dict[int, frozenset[str] | None] = {}
    for person in people:
        doubtful = person in contradicted or any(
            _has_withdrawn(of_person[other], purpose) for other in rivals.get(person, ())
        )
        consents = [] if doubtful else [one for one in consents_of(of_person[person]) if one.covers(purpose, now)]
        if consents:
            found_people[person] = _categories(consents)
    return Covered(
        {
            pid: Coverage(holder, found_people[person])
            for pid, (holder, person) in holders.items()
            if person in found_people
        },
        contradicted,
    )


def _agree(facts: Facts, marks: Mapping[int, str], person: int, pids: Iterable[int]) -> bool:
    """Whether the PIDs of a person in the database are those of the log."""
    everybody = [marks.get(pid, "") for pid in pids]
    return person in marks and facts.agree(marks[person], [mark for mark in everybody if mark != marks[person]])


def _refuse_exchanged(asked: str, found_mark: str | None) -> None:
    """Refuse a row that was found by the blind index of another PID."""
    if found_mark is not None and asked != found_mark:
        raise EngineError(
            "an index of the database was changed: it leads to another person; restore the database from a copy",
            code="trust-damaged",
        )


def _categories(consents: Iterable[Consent]) -> frozenset[str] | None:
    together: set[str] = set()
    for consent in consents:
        if not consent.categories:
            return None
        together |= set(consent.categories)
    return frozenset(together)


def rivals_of(connection: Connection, secrets: Secrets, people: Iterable[int]) -> dict[int, set[int]]:
    """For each person those who may be the same, because a case is open; a forged case is refused."""
    wanted, rivals = set(people), dict[int, set[int]]()
    for mine in (CASES.c.person, CASES.c.other):
        for row in found(connection, mine, wanted, *CASES.c):
            secrets.refuse_forged(row)
            if row.state == OPEN:
                one, other = (row.person, row.other) if mine is CASES.c.person else (row.other, row.person)
                rivals.setdefault(one, set()).add(other)
    return rivals


def _has_withdrawn(held: Iterable[Held], purpose: str) -> bool:
    """Whether somebody has withdrawn a purpose, or everything, and has not given it again."""
    last: tuple[int, bool] = (0, False)
    for one in held:
        if one.lost:
            return True
        for place, event in one.events:
            if event.kind is Kind.WITHDRAWN and (not event.purposes or purpose in event.purposes):
                last = max(last, (place, True))
            elif event.kind is Kind.GIVEN and purpose in event.purposes:
                last = max(last, (place, False))
    return last[1]
