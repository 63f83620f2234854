"""The tables of reference lists, and what the key of a list makes of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, MetaData, String, Table

from kohorte.errors import EngineError
from kohorte.pseudonyms.padding import padded, unpadded
from kohorte.trust.keys import Key
from kohorte.trust.sealing import BlindIndex, Sealer, exchanged
from kohorte.trust.store import RAW, Room

_METADATA = MetaData()
_NUMBER = BigInteger().with_variant(Integer, "sqlite")
lists = Table(
    "pseudonyms_lists",
    _METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("taken", _NUMBER, nullable=False),
)
entries = Table(
    "pseudonyms_entries",
    _METADATA,
    Column("id", _NUMBER, primary_key=True),
    Column("list", Integer, ForeignKey("pseudonyms_lists.id"), nullable=False),
    Column("original", RAW, nullable=False),
    Column("pseudonym", RAW, nullable=False),
    Column("version", Integer, nullable=False),
    Column("sealed", RAW, nullable=False),
    Index("pseudonyms_by_original", "list", "original", unique=True),
    Index("pseudonyms_by_pseudonym", "list", "pseudonym", unique=True),
)
ROOM = Room("pseudonyms", 1, _METADATA, keeps_connections=True)


@dataclass(frozen=True)
class Entry:
    """A text and its pseudonym; its repr shows neither."""

    original: str = field(repr=False)
    pseudonym: str = field(repr=False)
    version: int


class Version:
    """What is derived from one version of the key of a list."""

    def __init__(self, key: Key) -> None:
        self.number = key.version
        self.original_index = BlindIndex(key, "original").of
        self.pseudonym_index = BlindIndex(key, "pseudonym").of
        self.day_index = BlindIndex(key, "day").of
        self._sealer = Sealer(key, "pseudonyms_entries")

    def sealed(self, original: str, pseudonym: str, row: bytes) -> bytes:
        """Seal a text and its pseudonym for their row."""
        text = original.encode()
        return self._sealer.seal(pseudonym.encode() + b"\0" + padded(text), row=row)

    def opened(self, sealed: bytes, row: bytes) -> Entry:
        """Unseal a row."""
        pseudonym, _, text = self._sealer.unseal(sealed, row=row).partition(b"\0")
        return Entry(unpadded(text).decode(), pseudonym.decode(), self.number)


def check_rows(rows: Iterable[Any], versions: Sequence[Version]) -> None:
    """Refuse rows that are not as they were sealed, such as one that somebody put in the place of another."""
    known = {version.number: version for version in versions}
    for row in rows:
        if (version := known.get(row.version)) is None:
            raise exchanged()
        entry = version.opened(row.sealed, bytes(row.original))
        indexes = version.original_index(entry.original), version.pseudonym_index(entry.pseudonym)
        if indexes != (bytes(row.original), bytes(row.pseudonym)):
            raise exchanged()


def changed(name: str) -> EngineError:
    """The error of a list that lacks entries that nobody forgot."""
    return EngineError(
        f"the list {name!r}: entries were deleted or changed in the database, and nobody forgot them: people would get "
        "a second pseudonym, or that of somebody else; put the newest copy back, or see 'kohorte folder confirm'",
        code="trust-list-changed",
    )
