"""Cases for a person to decide, and what follows from decisions: joining and splitting people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select

from kohorte.errors import InputError
from kohorte.patients.identity import Identity
from kohorte.patients.list.case_rows import add_cases, between, cases_where, change_cases
from kohorte.patients.list.database import Numbers, found, new_pids, now, pids_of, write
from kohorte.patients.list.event_rows import note_event
from kohorte.patients.list.placements import pids_with, place_pids, place_records, records_of
from kohorte.patients.list.secrets import Secrets
from kohorte.patients.list.tables import CASES, DIFFERENT, OPEN, PEOPLE, RECORDS, SAME
from kohorte.trust.sealing import exchanged


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
    rows = cases_where(connection, secrets, CASES.c.state == OPEN)
    pids = pids_of(connection, secrets, {person for row in rows for person in (row.person, row.other)})
    for row in rows:
        yield Case(row.id, pids[row.person], pids[row.other], row.weight, json.loads(row.levels), row.opened)


def count_open(connection: Connection) -> int:
    """How many cases are open."""
    return int(connection.execute(select(func.count()).select_from(CASES).where(CASES.c.state == OPEN)).scalar_one())


def open_case(connection: Connection, secrets: Secrets, number: int) -> Row[Any]:
    """The row of an open case; another one is refused."""
    row = next(iter(cases_where(connection, secrets, CASES.c.id == number)), None)
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
    mine, compared = _records_in(connection, secrets, row)
    theirs = [other for other in records_of(connection, secrets, row.other) if other.home == compared.home]
    return secrets.identity(mine), [secrets.identity(other) for other in theirs]


def _records_in(connection: Connection, secrets: Secrets, row: Row[Any]) -> tuple[Row[Any], Row[Any]]:
    """The two records of a case; a case that names other people than theirs is refused."""
    records = {one.id: one for one in found(connection, RECORDS.c.id, {row.record, row.other_record}, *RECORDS.c)}
    mine, other = records.get(row.record), records.get(row.other_record)
    if mine is None or other is None or (mine.person, other.person) != (row.person, row.other):
        raise exchanged()
    for one in (mine, other):
        secrets.identity(one)
    return mine, other


def decide(
    connection: Connection, secrets: Secrets, number: int, *, same: bool, actor: str, version: int
) -> tuple[int, int]:
    """Decide a case; returns the person who stays and the other one."""
    row = open_case(connection, secrets, number)
    _records_in(connection, secrets, row)
    if same:
        return join(connection, secrets, row.other, row.person, actor=actor, version=version)
    _close(connection, secrets, row.person, row.other, DIFFERENT, actor)
    what = dict.fromkeys((row.person, row.other), "decided to be different")
    note_event(connection, secrets, actor, what, weight=row.weight)
    return row.person, row.other


def join(
    connection: Connection, secrets: Secrets, kept: int, gone: int, *, actor: str, version: int
) -> tuple[int, int]:
    """Make two people one: the PID of the first stays, and the other PID stands for the same person from now on."""
    if kept == gone:
        raise InputError("both PIDs stand for the same person already", code="patients-same-person")
    records = [(row, kept) for row in records_of(connection, secrets, kept, gone)]
    place_records(connection, secrets, secrets, records, version)
    pids = [(row, kept) for row in pids_with(connection, secrets, kept, gone)]
    place_pids(connection, secrets, secrets, pids, version)
    _close(connection, secrets, kept, gone, SAME, actor)
    for column in (CASES.c.person, CASES.c.other):
        change_cases(connection, secrets, (column == gone) & (CASES.c.state == OPEN), {column.name: kept})
    note_event(connection, secrets, actor, {kept: "joined with another PID", gone: "joined to another PID"})
    return kept, gone


def split(
    connection: Connection, secrets: Secrets, person: int, chosen: Sequence[int], *, actor: str, version: int
) -> int:
    """Give records of a person to a person of their own; returns that person.

    Records that came with a PID that was joined get this PID back; others get a new PID. From then on the two are known
    to be different. `chosen` counts the records of the person from 1.
    """
    rows, pids = records_of(connection, secrets, person), pids_with(connection, secrets, person)
    _refuse_split(chosen, len(rows))
    moved = [rows[number - 1] for number in sorted(set(chosen))]
    ids = [row.id for row in moved]
    former = _former(pids, person, {row.home for row in moved})
    target = _new_person(connection, secrets, version) if former is None else former
    place_records(connection, secrets, secrets, [(row, target if row.id in ids else person) for row in rows], version)
    stands = [(row, target if row.id == target else person) for row in pids]
    place_pids(connection, secrets, secrets, stands, version)
    for record, side in ((CASES.c.record, CASES.c.person), (CASES.c.other_record, CASES.c.other)):
        change_cases(connection, secrets, record.in_(ids) & (CASES.c.state == OPEN), {side.name: target})
    stays = next(row.id for row in rows if row.id not in ids)
    pair = {"record": ids[0], "person": target, "other": person, "other_record": stays}
    apart = pair | {"weight": 0.0, "levels": "{}", "state": DIFFERENT}
    connection.execute(delete(CASES).where(between(target, person)))
    numbers = Numbers(connection)
    add_cases(connection, secrets, numbers, [apart | {"opened": now(), "decided": now(), "actor": actor}])
    numbers.store()
    note_event(connection, secrets, actor, {person: "records split off", target: "split off from another PID"})
    return target


def _refuse_split(chosen: Sequence[int], records: int) -> None:
    if not chosen or min(chosen) < 1 or max(chosen) > records:
        raise InputError(
            f"the records of this person are numbered from 1 to {records}; 'kohorte patients history' lists them",
            code="patients-record",
        )
    if len(set(chosen)) == records:
        raise InputError("all records of a person cannot be split off; leave one", code="patients-record")


def _former(pids: Sequence[Row[Any]], person: int, homes: set[int]) -> int | None:
    """The PID that the records had before it was joined to this person; it becomes a person again."""
    joined = {row.id for row in pids} - {person}
    return homes.pop() if len(homes) == 1 and homes <= joined else None


def _new_person(connection: Connection, secrets: Secrets, version: int) -> int:
    numbers = Numbers(connection)
    person = numbers.next("people")
    numbers.store()
    ((index, pid),) = new_pids(connection, secrets, 1).items()
    row = {"id": person, "pid_index": index, "pid": secrets.seal_pid(pid, person, None, version)}
    write(connection, PEOPLE, [row | {"placed": version}])
    return person


def _close(connection: Connection, secrets: Secrets, person: int, other: int, state: str, actor: str) -> None:
    closed = {"state": state, "decided": now(), "actor": actor}
    change_cases(connection, secrets, between(person, other) & (CASES.c.state == OPEN), closed)
