"""The rows of the history: each has a mark, a keyed hash of everything that it says.

Guarantee
    Without the key nobody can write an entry of the history into the database, move it to another PID, or change what
    happened, when, who did it and how much the data agreed: a row is checked before it is shown or changed.
Leaves open
    Entries that are deleted are missing. The log has every merge, split and decision.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Row, select

from kohorte.patients.list.database import Numbers, found, now, update_many, write_many
from kohorte.patients.list.secrets import EVENT, Secrets, event_of
from kohorte.patients.list.tables import EVENTS


def add_events(connection: Connection, secrets: Secrets, numbers: Numbers, events: Iterable[Mapping[str, Any]]) -> None:
    """Add entries of the history, with numbers and marks; the caller stores the numbers."""
    rows = []
    for one in events:
        event = {"record": None, "other": None, "weight": None} | dict(one) | {"id": numbers.next("events")}
        rows.append((*(event[name] for name in EVENT), secrets.mark_event(event)))
    write_many(connection, EVENTS, rows, *EVENT, "mark")


def note_event(
    connection: Connection, secrets: Secrets, actor: str, what: Mapping[int, str], *, weight: float | None = None
) -> None:
    """Note what happened to two people who concern each other, by their numbers: one entry for each."""
    numbers, (one, two) = Numbers(connection), what
    add_events(
        connection,
        secrets,
        numbers,
        (
            {"person": person, "at": now(), "actor": actor, "what": what[person], "other": other, "weight": weight}
            for person, other in ((one, two), (two, one))
        ),
    )
    numbers.store()


def events_of(connection: Connection, secrets: Secrets, people: Iterable[int]) -> list[Row[Any]]:
    """The entries about people, in their order; a forged one is refused."""
    rows = sorted(found(connection, EVENTS.c.person, people, *EVENTS.c), key=lambda row: int(row.id))
    for row in rows:
        secrets.refuse_forged_event(row)
    return rows


def leave_events(connection: Connection, secrets: Secrets, people: Collection[int]) -> None:
    """Remove people from the entries about others; a forged entry stays one."""
    changed = [
        (
            None,
            secrets.mark_event(event_of(row) | {"other": None}) if secrets.has_marked_event(row) else row.mark,
            row.id,
        )
        for row in connection.execute(select(EVENTS).where(EVENTS.c.other.in_(people))).all()
    ]
    update_many(connection, EVENTS, ("other", "mark"), changed)


def mark_events_again(connection: Connection, secrets: Secrets, *, known: Secrets | None = None) -> None:
    """Mark all entries as they are; if the secrets are known that marked them, forged ones are refused."""
    rows = connection.execute(select(EVENTS)).all()
    if known is not None:
        for row in rows:
            known.refuse_forged_event(row)
    update_many(connection, EVENTS, ("mark",), [(secrets.mark_event(event_of(row)), row.id) for row in rows])
