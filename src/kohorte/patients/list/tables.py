"""The tables of the patient list. The database sees sealed values, blind indexes, numbers and times."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

from kohorte.trust.store import Room

NAME = "patients"
METADATA = MetaData()

COUNTERS = Table(
    "patients_counters",
    METADATA,
    Column("name", String(20), primary_key=True),
    Column("value", Integer, nullable=False),
)
"""The last numbers given to people, records, cases and entries of the history; a writer locks them first."""

SETTINGS = Table(
    "patients_settings",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
"""The fingerprint of the key, and the frequencies of names, sealed."""

PEOPLE = Table(
    "patients_people",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("pid_index", LargeBinary, nullable=False, unique=True),
    Column("pid", LargeBinary, nullable=False),
    Column("joined", Integer, index=True),
    Column("placed", Integer, nullable=False),
)
"""PIDs, sealed. A PID that was joined with another names the person whom it now stands for.

`placed` is the version of the list in which that was decided last; the seal covers both (`list.placements`).
"""

RECORDS = Table(
    "patients_records",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("person", Integer, nullable=False, index=True),
    Column("home", Integer, nullable=False),
    Column("identity", LargeBinary, nullable=False),
    Column("added", String(32), nullable=False),
    Column("placed", Integer, nullable=False),
)
"""Descriptions of people, sealed; `home` is the PID that the record had at first, `placed` as above."""

BLOCKS = Table(
    "patients_blocks",
    METADATA,
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("record", Integer, primary_key=True, autoincrement=False),
    Index("patients_blocks_by_record", "record"),
    sqlite_with_rowid=False,
)
"""Blind indexes, shortened to eight bytes, of the keys that say which records are compared."""

CASES = Table(
    "patients_cases",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("record", Integer, nullable=False, index=True),
    Column("person", Integer, nullable=False, index=True),
    Column("other", Integer, nullable=False, index=True),
    Column("other_record", Integer, nullable=False),
    Column("weight", Float, nullable=False),
    Column("levels", Text, nullable=False),
    Column("state", String(12), nullable=False, index=True),
    Column("opened", String(32), nullable=False),
    Column("decided", String(32)),
    Column("actor", String(200)),
    Column("mark", String(32)),
)
"""Two people who may be one: `record` belongs to `person`, and resembles `other_record` of `other`.

`mark` is a keyed hash of the row; only rows of earlier versions lack it, until the list is opened (`list.case_rows`).
"""
OPEN, SAME, DIFFERENT = "open", "same", "different"
"""The states of a case."""

EVENTS = Table(
    "patients_events",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("person", Integer, nullable=False, index=True),
    Column("at", String(32), nullable=False),
    Column("actor", String(200), nullable=False),
    Column("what", String(40), nullable=False),
    Column("record", Integer),
    Column("other", Integer),
    Column("weight", Float),
    Column("mark", String(32)),
)
"""What happened to a PID; `mark` as above (`list.event_rows`)."""

ROWS = Table(
    "patients_rows",
    METADATA,
    Column("source", LargeBinary, primary_key=True),
    Column("row", Integer, primary_key=True, autoincrement=False),
    Column("record", Integer, nullable=False, index=True),
    Column("outcome", String(12), nullable=False),
    sqlite_with_rowid=False,
)
"""Which rows of which table were registered, so that a run that was killed continues where it ended."""

FORGOTTEN = Table(
    "patients_forgotten",
    METADATA,
    Column("pid_index", LargeBinary, primary_key=True),
    Column("at", String(32), nullable=False),
)
"""Blind indexes of PIDs that must never be given to anybody again."""

TEMP_IDS = Table(
    "patients_temp_ids",
    METADATA,
    Column("token_index", LargeBinary, primary_key=True),
    Column("person", Integer, nullable=False, index=True),
    Column("expires", String(32), nullable=False, index=True),
    Column("used", String(32)),
    Column("details", LargeBinary, nullable=False),
)
"""Blind indexes of tokens that stand for a person for a short time; for whom they are is sealed."""

CONSENTS = Table(
    "patients_consents",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("person", Integer, nullable=False, index=True),
    Column("details", LargeBinary, nullable=False),
)
"""What people agreed to, and took back, in order; sealed, so that not even the purpose is seen."""

EXPORTS = Table(
    "patients_exports",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("details", LargeBinary, nullable=False),
)
"""Exports to projects: to which, for what purpose, when; sealed."""

EXPORTED = Table(
    "patients_exported",
    METADATA,
    Column("export", Integer, primary_key=True, autoincrement=False),
    Column("person", Integer, primary_key=True, autoincrement=False),
    Index("patients_exported_by_person", "person"),
    sqlite_with_rowid=False,
)
"""Which PIDs were in which export."""

_PLACED = tuple(f"ALTER TABLE {table.name} ADD COLUMN placed INTEGER NOT NULL DEFAULT 0" for table in (PEOPLE, RECORDS))


def _marked(table: Table, counter: str) -> tuple[str, str]:
    return (
        f"ALTER TABLE {table.name} ADD COLUMN mark VARCHAR(32)",
        f"INSERT INTO {COUNTERS.name} (name, value) SELECT '{counter}', COALESCE(MAX(id), 0) FROM {table.name}",  # noqa: S608
    )


_FROM_4 = _marked(EVENTS, "events")
_FROM_3 = _marked(CASES, "cases") + _FROM_4
_FROM_2 = _PLACED + _FROM_3
ROOM = Room(NAME, 5, METADATA, upgrades={1: _FROM_2, 2: _FROM_2, 3: _FROM_3, 4: _FROM_4})
