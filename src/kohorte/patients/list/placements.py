"""Which record belongs to which person, and which PID stands for whom: sealed with the rows, and compared with the log.

Guarantee
    Without the key nobody can move a record to another person or let a PID stand for somebody else: the seal of each
    row covers its place. Rows of people who were joined or split are sealed again with the version of the list that did
    it, and the log, which is not in the database, has this version: an older copy of a row is refused when it is used.
    A record whose person has no PID, such as that of somebody who was forgotten, is refused.
Leaves open
    Rows that are deleted, or moved away from a person, are missing where the person is shown; what is shown is still
    theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any, Protocol

from sqlalchemy import Connection, Row, delete, or_, select

from kohorte.errors import EngineError
from kohorte.patients.identity import Identity
from kohorte.patients.list.database import AT_ONCE, found, update_many
from kohorte.patients.list.secrets import Secrets
from kohorte.patients.list.tables import BLOCKS, CASES, EVENTS, PEOPLE, RECORDS, ROWS
from kohorte.trust.sealing import exchanged


class Reader(Protocol):
    """Unseals rows."""

    def identity(self, row: Any) -> Identity:
        """Unseal the description in a row of records."""
        ...

    def pid(self, row: Any) -> str:
        """Unseal the PID in a row of people."""
        ...


def records_of(connection: Connection, secrets: Secrets, *people: int) -> list[Row[Any]]:
    """The records of people, in their order; one that does not belong there is refused."""
    statement = select(RECORDS).where(RECORDS.c.person.in_(people)).order_by(RECORDS.c.id)
    rows = list(connection.execute(statement))
    for row in rows:
        secrets.identity(row)
    return rows


def pids_with(connection: Connection, secrets: Secrets, *people: int) -> list[Row[Any]]:
    """The PIDs of people and all that stand for them; one that does not belong there is refused."""
    theirs = or_(PEOPLE.c.id.in_(people), PEOPLE.c.joined.in_(people))
    rows = list(connection.execute(select(PEOPLE).where(theirs).order_by(PEOPLE.c.id)))
    for row in rows:
        secrets.pid(row)
    return rows


def place_records(
    connection: Connection, reader: Reader, secrets: Secrets, rows: Iterable[tuple[Row[Any], int]], version: int
) -> None:
    """Give each record to a person, and seal it with its place."""
    placed = [
        (secrets.seal_identity(reader.identity(row), row.id, person, row.home, version), person, version, row.id)
        for row, person in rows
    ]
    update_many(connection, RECORDS, ("identity", "person", "placed"), placed)


def place_pids(
    connection: Connection, reader: Reader, secrets: Secrets, rows: Iterable[tuple[Row[Any], int]], version: int
) -> None:
    """Let each PID stand for a person, which may be its own, and seal it with its place."""
    placed = []
    for row, person in rows:
        joined = None if person == row.id else person
        placed.append((secrets.seal_pid(reader.pid(row), row.id, joined, version), joined, version, row.id))
    update_many(connection, PEOPLE, ("pid", "joined", "placed"), placed)


def check_all(connection: Connection, secrets: Secrets) -> None:
    """Refuse a list in which any row is not where it was sealed, a PID is not found by its index, a record belongs to
    nobody, or a case or an entry of the history was forged."""
    for row in connection.execute(select(CASES)):
        secrets.refuse_forged(row)
    for row in connection.execute(select(EVENTS)):
        secrets.refuse_forged_event(row)
    for row in connection.execute(select(PEOPLE)):
        if bytes(row.pid_index) != secrets.pid_index(secrets.pid(row)):
            raise exchanged()
    people = set()
    for row in connection.execute(select(RECORDS)):
        secrets.identity(row)
        people.add(row.person)
    refuse_of_nobody(connection, people)


def refuse_of_nobody(connection: Connection, people: Set[int]) -> None:
    """Refuse records of people, by their numbers, who have no PID."""
    if people - {row.id for row in found(connection, PEOPLE.c.id, people, PEOPLE.c.id)}:
        raise EngineError(
            "a record of the patient list belongs to nobody: a record of somebody who was forgotten was put back, or a "
            "PID was deleted; restore the newest copy of the database, or see 'kohorte folder confirm'",
            code="patients-record-of-nobody",
        )


def remove_of_nobody(connection: Connection) -> None:
    """Destroy the records of people who have no PID."""
    everybody = select(PEOPLE.c.id)
    records = list(connection.scalars(select(RECORDS.c.id).where(RECORDS.c.person.not_in(everybody))))
    for start in range(0, len(records), AT_ONCE):
        some = records[start : start + AT_ONCE]
        for column in (BLOCKS.c.record, ROWS.c.record, RECORDS.c.id):
            connection.execute(delete(column.table).where(column.in_(some)))


def place_all(connection: Connection, reader: Reader, secrets: Secrets, version: int) -> None:
    """Seal every row again, where it is."""
    people: Sequence[Row[Any]] = connection.execute(select(PEOPLE)).all()
    place_pids(connection, reader, secrets, ((row, row.joined or row.id) for row in people), version)
    records: Sequence[Row[Any]] = connection.execute(select(RECORDS)).all()
    place_records(connection, reader, secrets, ((row, row.person) for row in records), version)
