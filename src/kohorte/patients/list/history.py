"""What happened to a PID, and forgetting it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, or_, select, update

from kohorte.patients.list import secrets as sealed
from kohorte.patients.list.database import now, pids_of
from kohorte.patients.list.event_rows import events_of, leave_events
from kohorte.patients.list.placements import pids_with, place_pids, place_records, records_of
from kohorte.patients.list.secrets import Secrets
from kohorte.patients.list.tables import (
    BLOCKS,
    CASES,
    CONSENTS,
    EVENTS,
    EXPORTED,
    EXPORTS,
    FORGOTTEN,
    PEOPLE,
    RECORDS,
    ROWS,
    SETTINGS,
    TEMP_IDS,
)

FREQUENCIES = "frequencies"


@dataclass(frozen=True)
class History:
    """A PID, the PIDs that were joined with it, its records by number and time, and what happened; no identity data."""

    pid: str
    joined: tuple[str, ...]
    records: tuple[str, ...]
    events: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the history as plain data."""
        return {
            "pid": self.pid,
            "joined": list(self.joined),
            "records": [{"record": number, "added": at} for number, at in enumerate(self.records, start=1)],
            "events": list(self.events),
        }


def history_of(connection: Connection, secrets: Secrets, person: int) -> History:
    """The history of a person."""
    joined = [row[0] for row in connection.execute(select(PEOPLE.c.id).where(PEOPLE.c.joined == person))]
    records = records_of(connection, secrets, person)
    events = events_of(connection, secrets, [person, *joined])
    people = {person, *joined, *(row.other for row in events if row.other), *(row.person for row in events)}
    pids = pids_of(connection, secrets, people)
    number = {row.id: place for place, row in enumerate(records, start=1)}
    lines = tuple(
        {
            "at": row.at,
            "actor": row.actor,
            "what": row.what,
            "pid": pids[row.person],
            "record": number.get(row.record),
            "other_pid": pids.get(row.other) if row.other else None,
            "weight": None if row.weight is None else round(row.weight, 2),
        }
        for row in events
    )
    return History(pids[person], tuple(pids[other] for other in joined), tuple(row.added for row in records), lines)


def forget(connection: Connection, secrets: Secrets, person: int) -> int:
    """Destroy everything about a person but the blind index of the PIDs; returns how many records there were.

    What belongs to the person was checked before (`history_of`): the log has them as forgotten by now.

    The counts of names are destroyed, too, because a rare name in them could be that of the person; they are counted
    again at the next registration.
    """
    own = select(PEOPLE.c.id).where(or_(PEOPLE.c.id == person, PEOPLE.c.joined == person))
    people = list(connection.scalars(own))
    records = list(connection.scalars(select(RECORDS.c.id).where(RECORDS.c.person == person)))
    gone = select(PEOPLE.c.pid_index).where(PEOPLE.c.id.in_(people))
    indexes = [{"pid_index": row.pid_index, "at": now()} for row in connection.execute(gone)]
    connection.execute(insert(FORGOTTEN), indexes)
    _leave_exports(connection, secrets, people)
    leave_events(connection, secrets, people)
    for statement in (
        delete(BLOCKS).where(BLOCKS.c.record.in_(records)),
        delete(ROWS).where(ROWS.c.record.in_(records)),
        delete(RECORDS).where(RECORDS.c.id.in_(records)),
        delete(CASES).where(or_(CASES.c.person.in_(people), CASES.c.other.in_(people))),
        delete(EVENTS).where(EVENTS.c.person.in_(people)),
        delete(TEMP_IDS).where(TEMP_IDS.c.person.in_(people)),
        delete(CONSENTS).where(CONSENTS.c.person.in_(people)),
        delete(PEOPLE).where(PEOPLE.c.id.in_(people)),
        delete(SETTINGS).where(SETTINGS.c.name == FREQUENCIES),
    ):
        connection.execute(statement)
    return len(records)


def forget_only(connection: Connection, secrets: Secrets, gone: Set[int], version: int) -> None:
    """Destroy everything about PIDs, by their numbers, in a database that may not know who was joined or split later.

    PIDs that are joined with one of them and are not to be forgotten become people of their own, with their records,
    in this version of the list.
    """
    holders = {row.id: row.joined or row.id for row in connection.execute(select(PEOPLE.c.id, PEOPLE.c.joined))}
    for holder in sorted({holders[one] for one in gone}):
        members = [one for one, held_by in holders.items() if held_by == holder]
        if gone >= set(members):
            forget(connection, secrets, holder)
            continue
        records = (
            (row, row.home if row.home in members else holder) for row in records_of(connection, secrets, holder)
        )
        place_records(connection, secrets, secrets, records, version)
        pids = ((row, row.id) for row in pids_with(connection, secrets, holder))
        place_pids(connection, secrets, secrets, pids, version)
        for one in sorted(gone & set(members)):
            forget(connection, secrets, one)


def _leave_exports(connection: Connection, secrets: Secrets, people: list[int]) -> None:
    """Remove people from the lists of exports; each export notes how many are left, so that no other is missed."""
    own = EXPORTED.c.person.in_(people)
    for export in set(connection.scalars(select(EXPORTED.c.export).where(own))):
        stored = connection.execute(select(EXPORTS.c.details).where(EXPORTS.c.id == export)).scalar()
        holders = connection.scalars(select(EXPORTED.c.person).where(EXPORTED.c.export == export)).all()
        details = {} if stored is None else secrets.details(stored, sealed.EXPORTS, str(export))
        if details.get("digest") == people_of(holders)["digest"]:  # otherwise it stays what it is: not whole
            details |= people_of(holder for holder in holders if holder not in people)
            again = secrets.seal_details(details, sealed.EXPORTS, str(export))
            connection.execute(update(EXPORTS).where(EXPORTS.c.id == export).values(details=again))
    connection.execute(delete(EXPORTED).where(own))


def people_of(holders: Iterable[int]) -> dict[str, Any]:
    """What an export notes about the people in it: how many, and a digest of their numbers."""
    numbers = sorted(holders)
    return {"people": len(numbers), "digest": hashlib.sha256(" ".join(map(str, numbers)).encode()).hexdigest()}
