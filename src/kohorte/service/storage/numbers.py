"""Numbers that rows had are not given again, also not by a database that was restored from an older backup.

Chained logs and requests name people by their numbers: a new account with an old number would inherit what another
person asked for.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

_OF_SQLITE = (
    "INSERT INTO sqlite_sequence (name, seq) SELECT :name, 0 "
    "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)",
    "UPDATE sqlite_sequence SET seq = :number WHERE name = :name AND seq < :number",
)
_OF_POSTGRESQL = (
    "SELECT setval(pg_get_serial_sequence(:name, 'id')::regclass, :number) "
    "WHERE COALESCE(pg_sequence_last_value(pg_get_serial_sequence(:name, 'id')::regclass), 0) < :number",
)


def skip_to(connection: Connection, table: str, number: int) -> None:
    """Let the next new row of a table have a number above the given one."""
    statements = _OF_SQLITE if connection.dialect.name == "sqlite" else _OF_POSTGRESQL
    for statement in statements:
        connection.execute(text(statement), {"name": table, "number": number})
