"""Everybody who has taken a consent back: for memories of releases, which must leave them out."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, select

from kohorte.patients.consents.consent import Event, Kind
from kohorte.patients.consents.coverage import rivals_of
from kohorte.patients.consents.events import Held, all_pids_of, facts_of, held_by, marks_of
from kohorte.patients.list.database import found, pids_of
from kohorte.patients.list.secrets import Secrets
from kohorte.patients.list.tables import CONSENTS, PEOPLE
from kohorte.trust.log import Log


def withdrawn_pids(connection: Connection, secrets: Secrets, log: Log) -> list[str]:
    """All PIDs of people who have taken back a purpose, or everything, and have not given it again.

    People of whom the database lacks what the log has are among them, and people who may be the same as one of them
    because a case is not decided.
    """
    facts = facts_of(log)
    if not facts.withdrawals:
        return []
    noted = [row.person for row in connection.execute(select(CONSENTS.c.person).distinct())]
    marks = marks_of(connection, secrets, log, noted)
    if set(facts.withdrawals) - set(marks.values()):  # rows are missing: everybody has to be looked at
        marks = marks_of(connection, secrets, log, [row.id for row in connection.execute(select(PEOPLE.c.id))])
    held = held_by(connection, secrets, facts, marks)
    joined = {
        row.id: row.joined or row.id for row in found(connection, PEOPLE.c.id, held, PEOPLE.c.id, PEOPLE.c.joined)
    }
    of_person: dict[int, list[Held]] = {}
    for pid, one in held.items():
        of_person.setdefault(joined.get(pid, pid), []).append(one)
    gone = {person for person, every in of_person.items() if has_taken_back(every)}
    gone |= {rival for rivals in rivals_of(connection, secrets, gone).values() for rival in rivals}
    everybody = {pid for pids in all_pids_of(connection, gone).values() for pid in pids}
    return sorted(pids_of(connection, secrets, everybody).values())


def has_taken_back(held: Iterable[Held]) -> bool:
    """Whether a person has taken back something and has not given it again, or an event is lost."""
    every = list(held)
    if any(one.lost for one in every):
        return True
    events = [event for _, event in sorted((entry for one in every for entry in one.events), key=lambda one: one[0])]
    return bool(_open(events))


def _open(events: Iterable[Event]) -> set[str]:
    """The purposes that are taken back; an empty word stands for everything."""
    given: set[str] = set()
    gone: set[str] = set()
    for event in events:
        if event.kind is Kind.GIVEN:
            given |= set(event.purposes)
            gone -= {"", *event.purposes}
        else:
            gone |= set(event.purposes) or given or {""}
    return gone
