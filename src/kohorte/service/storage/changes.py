"""What one transaction has changed, for those who keep a record of it outside the database."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlalchemy import Connection

_NAME = "kohorte changes"


@dataclass
class Changes:
    """The rows that a transaction marked, with their versions, and the last entry that it added to the audit log.

    `position` is how far the record outside the database had been read before the transaction began.
    """

    position: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    audit: tuple[int, str] | None = None

    def copy(self) -> Changes:
        """Return a copy that later changes leave alone."""
        return replace(self, rows=dict(self.rows))

    def restore(self, before: Changes) -> None:
        """Forget what was changed since a copy was made."""
        self.rows, self.audit = dict(before.rows), before.audit


class Watch(Protocol):
    """Is told about every transaction."""

    def begin(self) -> int:
        """Return the position of the record, before a transaction begins."""

    def committed(self, changes: Changes) -> None:
        """Record what a transaction has changed, after it was stored."""


def changes_of(connection: Connection) -> Changes:
    """Return what the transaction of a connection has changed so far."""
    found: Changes = connection.info[_NAME]
    return found


def set_changes(connection: Connection, changes: Changes) -> None:
    """Begin to collect the changes of a connection's next transaction."""
    connection.info[_NAME] = changes
