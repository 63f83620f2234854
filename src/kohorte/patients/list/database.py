"""Reading and writing the tables of the patient list, inside a transaction of the caller."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Table, insert, select, update

from kohorte.errors import InputError
from kohorte.patients.list.secrets import Secrets
from kohorte.patients.list.tables import BLOCKS, COUNTERS, FORGOTTEN, PEOPLE, RECORDS
from kohorte.trust.pid import number_of, pid_of, random_pid

AT_ONCE = 500
KEYS_AT_ONCE = 10_000
"""So many values and keys are looked up in one statement."""


def now() -> str:
    """The time in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def found(connection: Connection, column: Column[Any], values: Iterable[Any], *wanted: Column[Any]) -> Iterator[Any]:
    """Read the wanted columns of all rows whose column has one of the values."""
    every = list(values)
    for start in range(0, len(every), AT_ONCE):
        yield from connection.execute(select(*wanted).where(column.in_(every[start : start + AT_ONCE]))).all()


def write_many(connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]], *columns: str) -> None:
    """Insert many rows of values as the driver takes them; SQLAlchemy would take longer than the database."""
    if not rows:
        return
    quote = connection.dialect.identifier_preparer.quote
    into = f"{quote(table.name)} ({', '.join(map(quote, columns))})"
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(columns))
        statement = f"INSERT INTO {into} VALUES ({marks})"  # noqa: S608 - names of our own tables
        connection.exec_driver_sql(statement, list(rows))
        return
    driver: Any = connection.connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def update_many(connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Set columns of many rows: their values and the id."""
    if rows:
        quote, mark = connection.dialect.identifier_preparer.quote, _mark(connection)
        values = ", ".join(f"{quote(column)} = {mark}" for column in columns)
        statement = f"UPDATE {quote(table.name)} SET {values} WHERE id = {mark}"  # noqa: S608 - as above
        connection.exec_driver_sql(statement, list(rows))


def _mark(connection: Connection) -> str:
    return "?" if connection.dialect.name == "sqlite" else "%s"


def write(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows."""
    if rows:
        connection.execute(insert(table), rows)


class Numbers:
    """Gives numbers to people, records, cases and entries of the history; its lock makes writers wait."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        rows = connection.execute(select(COUNTERS.c.name, COUNTERS.c.value).with_for_update())
        self._last: dict[str, int] = {row.name: row.value for row in rows}

    def next(self, name: str) -> int:
        """The next number."""
        self._last[name] += 1
        return self._last[name]

    @property
    def people(self) -> int:
        """How many people have ever been registered."""
        return self._last["people"]

    def store(self) -> None:
        """Store the last numbers."""
        for name, value in self._last.items():
            self._connection.execute(update(COUNTERS).where(COUNTERS.c.name == name).values(value=value))


def blocks_of(connection: Connection, keys: Iterable[int]) -> Mapping[int, list[int]]:
    """The records that have each key."""
    blocks: defaultdict[int, list[int]] = defaultdict(list)
    every = sorted(keys)
    for start in range(0, len(every), KEYS_AT_ONCE):
        some = every[start : start + KEYS_AT_ONCE]
        sqlite = connection.dialect.name == "sqlite"
        within = f"IN ({', '.join('?' * len(some))})" if sqlite else "= ANY(%s)"
        values: tuple[Any, ...] = tuple(some) if sqlite else (some,)
        statement = f"SELECT key, record FROM {BLOCKS.name} WHERE key {within}"  # noqa: S608 - only marks are put in
        for key, record in connection.exec_driver_sql(statement, values).all():
            blocks[key].append(record)
    return blocks


class Place(NamedTuple):
    """Where a record is: its person, the person it came with, and the version of the list that sealed it."""

    person: int
    home: int
    placed: int


def place_of(row: Any) -> Place:
    """Where a record is."""
    return Place(row.person, row.home, row.placed)


def places_of(connection: Connection, records: Iterable[int]) -> dict[int, Place]:
    """Where records are, without what they say."""
    columns = (RECORDS.c.id, RECORDS.c.person, RECORDS.c.home, RECORDS.c.placed)
    return {row.id: place_of(row) for row in found(connection, RECORDS.c.id, records, *columns)}


def pids_of(connection: Connection, secrets: Secrets, people: Iterable[int]) -> dict[int, str]:
    """The PID of each person."""
    return {row.id: secrets.pid(row) for row in found(connection, PEOPLE.c.id, people, *PEOPLE.c)}


def every_pid(connection: Connection, secrets: Secrets) -> list[str]:
    """The PIDs of all people, without those that were joined to another."""
    return [secrets.pid(row) for row in connection.execute(select(PEOPLE).where(PEOPLE.c.joined.is_(None)))]


def standing_of(connection: Connection, secrets: Secrets, people: Iterable[int]) -> dict[int, int]:
    """The person whom each PID stands for now, by their numbers."""
    rows = list(found(connection, PEOPLE.c.id, people, *PEOPLE.c))
    for row in rows:
        secrets.pid(row)
    return {row.id: row.joined or row.id for row in rows}


def new_pids(connection: Connection, secrets: Secrets, count: int) -> dict[bytes, str]:
    """Draw PIDs that nobody has and nobody had, each by its blind index."""
    drawn: dict[bytes, str] = {}
    while len(drawn) < count:
        more = {secrets.pid_index(pid): pid for pid in (random_pid() for _ in range(count - len(drawn)))}
        taken = {
            bytes(row[0])
            for table in (PEOPLE, FORGOTTEN)
            for row in found(connection, table.c.pid_index, more, table.c.pid_index)
        }
        drawn |= {index: pid for index, pid in more.items() if index not in taken}
    return drawn


def holders_of(connection: Connection, secrets: Secrets, pids: Iterable[str]) -> dict[str, tuple[int, int]]:
    """For each PID that is in the list: its own number, and that of the person whom it stands for now.

    A PID with wrong check characters is refused; one that nobody has is left out.
    """
    indexes: defaultdict[bytes, list[str]] = defaultdict(list)
    for pid in pids:  # one PID can be written in several ways
        indexes[secrets.pid_index(pid_of(number_of(pid)))].append(pid)
    holders: dict[str, tuple[int, int]] = {}
    for row in found(connection, PEOPLE.c.pid_index, indexes, *PEOPLE.c):
        written = indexes[bytes(row.pid_index)]
        secrets.refuse_other(row, pid_of(number_of(written[0])))
        holders |= dict.fromkeys(written, (row.id, row.joined or row.id))
    return holders


def person_of(connection: Connection, secrets: Secrets, pid: str) -> int:
    """The person whom a PID stands for; check characters are checked, and an unknown PID is refused."""
    plain = pid_of(number_of(pid))
    index = secrets.pid_index(plain)
    row = connection.execute(select(PEOPLE).where(PEOPLE.c.pid_index == index)).first()
    if row is not None:
        secrets.refuse_other(row, plain)
        return int(row.joined or row.id)
    forgotten = connection.execute(select(FORGOTTEN.c.at).where(FORGOTTEN.c.pid_index == index)).scalar()
    if forgotten is not None:
        raise InputError(f"this PID was forgotten on {forgotten}; nothing is left of it", code="patients-pid-forgotten")
    raise InputError("no person of the list has this PID", code="patients-pid-unknown")
