"""The rows of cases: each has a mark, a keyed hash of everything that it says.

Guarantee
    Without the key nobody can write a case into the database, decide one there, or change who decided it, when, and
    what was compared: a row is checked before it is used or changed. The numbers of cases are given once, and which
    cases there are is sealed with the version of the list (`trust.ties`): one that is deleted is noticed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from kohorte.patients.list.database import Numbers, update_many, write
from kohorte.patients.list.secrets import Secrets, case_of
from kohorte.patients.list.tables import CASES, OPEN


def between(person: int, other: int) -> ColumnElement[bool]:
    """The condition that a case is about these two people."""
    one = (CASES.c.person == person) & (CASES.c.other == other)
    return one | (CASES.c.person == other) & (CASES.c.other == person)


def cases_where(connection: Connection, secrets: Secrets, condition: ColumnElement[bool]) -> list[Row[Any]]:
    """The cases for which a condition holds, those that agree most first; a forged one is refused."""
    rows = list(connection.execute(select(CASES).where(condition).order_by(CASES.c.weight.desc(), CASES.c.id)))
    for row in rows:
        secrets.refuse_forged(row)
    return rows


def add_cases(connection: Connection, secrets: Secrets, numbers: Numbers, cases: Iterable[Mapping[str, Any]]) -> None:
    """Add cases, with numbers and marks; the caller stores the numbers."""
    rows = []
    for one in cases:
        case = {"decided": None, "actor": None} | dict(one) | {"id": numbers.next("cases")}
        rows.append(case | {"mark": secrets.mark_case(case)})
    write(connection, CASES, rows)


def change_cases(
    connection: Connection, secrets: Secrets, condition: ColumnElement[bool], values: Mapping[str, Any]
) -> None:
    """Set columns of the cases for which a condition holds, and mark them again."""
    changed = []
    for row in cases_where(connection, secrets, condition):
        case = {**case_of(row), **values}
        changed.append((*values.values(), secrets.mark_case(case), row.id))
    update_many(connection, CASES, (*values, "mark"), changed)


def mark_again(connection: Connection, secrets: Secrets, *, known: Secrets | None = None) -> None:
    """Mark all cases as they are; if the secrets are known that marked them, forged ones are refused."""
    rows = connection.execute(select(CASES)).all()
    if known is not None:
        for row in rows:
            known.refuse_forged(row)
    update_many(connection, CASES, ("mark",), [(secrets.mark_case(case_of(row)), row.id) for row in rows])


def digest_of_open(connection: Connection) -> str:
    """A digest of the open cases: which records of which people they are about."""
    columns = (CASES.c.id, CASES.c.record, CASES.c.person, CASES.c.other, CASES.c.other_record)
    rows = connection.execute(select(*columns).where(CASES.c.state == OPEN).order_by(CASES.c.id))
    return hashlib.sha256(json.dumps([list(row) for row in rows]).encode()).hexdigest()


def decided_in_short(connection: Connection) -> str:
    """How many cases were decided, and the sum of their numbers; what they say is marked."""
    decided = select(func.count(), func.coalesce(func.sum(CASES.c.id), 0)).where(CASES.c.state != OPEN)
    count, numbers = connection.execute(decided).one()
    return f"{count} {numbers}"
