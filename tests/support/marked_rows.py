"""Rows that a test writes by SQL, marked as if the service had written them."""

from __future__ import annotations

from sqlalchemy import Connection

from kohorte.service.context import Service
from kohorte.service.integrity.marks import MARKED


def mark_rows(service: Service, connection: Connection) -> None:
    """Mark all rows as they are in this transaction."""
    for kind in MARKED:
        for row in connection.execute(kind.rows).all():
            if not kind.is_genuine(service.vault.ring.all, row):
                service.guard.mark(connection, kind, *kind.key_of(row))
