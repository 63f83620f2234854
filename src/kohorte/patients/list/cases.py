"""Cases for a person to decide, and what follows from decisions: joining and splitting people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, func, or_, select, update

from kohorte.errors import InputError
from kohorte.patients.identity import Identity
from kohorte.patients.list.database import Numbers, between, new_pids, now, pids_of, write, write_event
from kohorte.patients.list.registration import DIFFERENT, OPEN, SAME
from kohorte.patients.list.secrets import Secrets
from kohorte.patients.list.tables import CASES, PEOPLE, RECORDS


@dataclass(frozen=True)
class Case:
    """Two people who may be one: how their data agrees, in levels and bits, without the data."""

    number: int
    pid: str
    other_pid: str
    weight: float
    levels: dict[str, str]
    opened: str

    def to_dict(self) -> dict[str, Any]:
        """Return the case as plain data."""
        return {
            "case": self.number,
            "pid": self.pid,
            "other_pid": self.other_pid,
            "weight": round(self.weight, 2),
            "levels": self.levels,
            "opened": self.opened,
        }


def open_cases(connection: Connection, secrets: Secrets) -> Iterator[Case]:
    """All open cases, those that agree most first."""
    rows = connection.execute(select(CASES).where(CASES.c.state == OPEN).order_by(CASES.c.weight.desc())).all()
    pids = pids_of(connection, secrets, {person for row in rows for person in (row.person, row.other)})
    for row in rows:
        yield Case(row.id, pids[row.person], pids[row.other], row.weight, json.loads(row.levels), row.opened)


def count_open(connection: Connection) -> int:
    """How many cases are open."""
    return int(connection.execute(select(func.count()).select_from(CASES).where(CASES.c.state == OPEN)).scalar_one())


def open_case(connection: Connection, number: int) -> Row[Any]:
    """The row of an open case; another one is refused."""
    row = connection.execute(select(CASES).where(CASES.c.id == number)).first()
    if row is None:
        raise InputError(
            f"there is no case {number}; 'kohorte patients match' lists the open ones", code="patients-case"
        )
    if row.state != OPEN:
        raise InputError(
            f"case {number} was decided on {row.decided}: {row.state}; use 'kohorte patients split' or "
            "'kohorte patients merge' to correct the decision",
            code="patients-case-decided",
        )
    return row


def identities_of(connection: Connection, secrets: Secrets, row: Row[Any]) -> tuple[Identity, list[Identity]]:
    """The data of a case for the person who decides: the record in question, and records of the other person.

    Of the other person only those records are shown that came with the PID of the record that it was compared with.
    Otherwise a case about two invented people would show who a PID is, after merging the PID with one of them.
    """
    statement = select(RECORDS.c.id, RECORDS.c.identity)
    mine = connection.execute(statement.where(RECORDS.c.id == row.record)).one()
    compared = select(RECORDS.c.home).where(RECORDS.c.id == row.other_record).scalar_subquery()
    theirs = statement.where(RECORDS.c.person == row.other, RECORDS.c.home == compared)
    others = connection.execute(theirs.order_by(RECORDS.c.id))
    return secrets.identity(mine.identity, mine.id), [secrets.identity(other.identity, other.id) for other in others]


def decide(connection: Connection, number: int, *, same: bool, actor: str) -> tuple[int, int]:
    """Decide a case; returns the person who stays and the other one."""
    row = open_case(connection, number)
    if same:
        return join(connection, row.other, row.person, actor=actor)
    _close(connection, row.person, row.other, DIFFERENT, actor)
    for person, other in ((row.person, row.other), (row.other, row.person)):
        write_event(connection, person, actor, "decided to be different", other=other, weight=row.weight)
    return row.person, row.other


def join(connection: Connection, kept: int, gone: int, *, actor: str) -> tuple[int, int]:
    """Make two people one: the PID of the first stays, and the other PID stands for the same person from now on."""
    if kept == gone:
        raise InputError("both PIDs stand for the same person already", code="patients-same-person")
    connection.execute(update(RECORDS).where(RECORDS.c.person == gone).values(person=kept))
    connection.execute(update(PEOPLE).where(or_(PEOPLE.c.id == gone, PEOPLE.c.joined == gone)).values(joined=kept))
    _close(connection, kept, gone, SAME, actor)
    for column in (CASES.c.person, CASES.c.other):
        moved = update(CASES).where(column == gone, CASES.c.state == OPEN).values({column.name: kept})
        connection.execute(moved)
    write_event(connection, kept, actor, "joined with another PID", other=gone)
    write_event(connection, gone, actor, "joined to another PID", other=kept)
    return kept, gone


def split(connection: Connection, secrets: Secrets, person: int, chosen: Sequence[int], *, actor: str) -> int:
    """Give records of a person to a person of their own; returns that person.

    Records that came with a PID that was joined get this PID back; others get a new PID. From then on the two are known
    to be different. `chosen` counts the records of the person from 1.
    """
    rows = connection.execute(
        select(RECORDS.c.id, RECORDS.c.home).where(RECORDS.c.person == person).order_by(RECORDS.c.id)
    ).all()
    _refuse_split(chosen, len(rows))
    moved = [rows[number - 1] for number in sorted(set(chosen))]
    target = _former(connection, person, {row.home for row in moved}) or _new_person(connection, secrets)
    ids = [row.id for row in moved]
    connection.execute(update(RECORDS).where(RECORDS.c.id.in_(ids)).values(person=target))
    connection.execute(update(CASES).where(CASES.c.record.in_(ids), CASES.c.state == OPEN).values(person=target))
    stays = next(row.id for row in rows if row.id not in ids)
    pair = {"record": ids[0], "person": target, "other": person, "other_record": stays}
    apart = pair | {"weight": 0.0, "levels": "{}", "state": DIFFERENT}
    connection.execute(delete(CASES).where(between(target, person)))
    write(connection, CASES, [apart | {"opened": now(), "decided": now(), "actor": actor}])
    write_event(connection, person, actor, "records split off", other=target)
    write_event(connection, target, actor, "split off from another PID", other=person)
    return target


def _refuse_split(chosen: Sequence[int], records: int) -> None:
    if not chosen or min(chosen) < 1 or max(chosen) > records:
        raise InputError(
            f"this person has {records} records, numbered from 1; 'kohorte patients history' lists them",
            code="patients-record",
        )
    if len(set(chosen)) == records:
        raise InputError("all records of a person cannot be split off; leave one", code="patients-record")


def _former(connection: Connection, person: int, homes: set[int]) -> int | None:
    """The PID that the records had before it was joined to this person; it becomes a person again."""
    if len(homes) != 1:
        return None
    (home,) = homes
    was_joined = (PEOPLE.c.id == home) & (PEOPLE.c.joined == person)
    if connection.execute(select(PEOPLE.c.id).where(was_joined)).first() is None:
        return None
    connection.execute(update(PEOPLE).where(PEOPLE.c.id == home).values(joined=None))
    return home


def _new_person(connection: Connection, secrets: Secrets) -> int:
    numbers = Numbers(connection)
    person = numbers.next("people")
    numbers.store()
    (pid,) = new_pids(connection, secrets, 1)
    row = {"id": person, "pid_index": secrets.pid_index(pid), "pid": secrets.seal_pid(pid, person)}
    write(connection, PEOPLE, [row])
    return person


def _close(connection: Connection, person: int, other: int, state: str, actor: str) -> None:
    closed = update(CASES).where(between(person, other), CASES.c.state == OPEN)
    connection.execute(closed.values(state=state, decided=now(), actor=actor))
