"""The tables of the ledger. The database sees sealed values, numbers and sizes."""

from __future__ import annotations

from sqlalchemy import Column, Integer, MetaData, String, Table

from kohorte.trust.store import RAW, Room

NAME = "disclosures"
METADATA = MetaData()

STATES = Table(
    "disclosures_states",
    METADATA,
    Column("name", String(80), primary_key=True),
    Column("value", RAW, nullable=False),
)
"""The head, the atoms of each recipient and of all together, and who has withdrawn; replaced by each change."""

PEOPLE = Table(
    "disclosures_people",
    METADATA,
    Column("first", Integer, primary_key=True, autoincrement=False),
    Column("prints", RAW, nullable=False),
)
"""The fingerprints of people in the order in which the ledger got to know them, in pieces."""

RELEASES = Table(
    "disclosures_releases",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("facts", RAW, nullable=False),
    Column("sets", RAW, nullable=False),
)
"""What was released: facts in words, and which atoms it showed."""

ROOM = Room(NAME, 1, METADATA, keeps_connections=True)
