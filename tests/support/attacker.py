"""A person with full access to the service's database and no key: reads and writes everything, past all triggers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table, and_, delete, insert, text, update

from kohorte.service.context import Service
from kohorte.service.storage.database import Database


class Attacker:
    """Writes to the database from outside; remembers old rows."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def run(self, *statements: Any) -> None:
        """Run statements with all triggers and foreign keys switched off."""
        database = Database(self.service.settings.database_address)
        with database.writing() as connection:
            if database.is_sqlite:
                names = connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).scalars()
                for name in names.all():
                    connection.execute(text(f"DROP TRIGGER {name}"))
                connection.execute(text("PRAGMA defer_foreign_keys = ON"))
            else:
                connection.execute(text("SET LOCAL session_replication_role = replica"))
            for statement in statements:
                connection.execute(text(statement) if isinstance(statement, str) else statement)
        database.close()

    def rows(self, table: Table, **key: Any) -> list[dict[str, Any]]:
        """Return rows of a table as they are now."""
        database = Database(self.service.settings.database_address)
        with database.reading() as connection:
            found = connection.execute(table.select().where(_is(table, key))).mappings().all()
        database.close()
        return [dict(row) for row in found]

    def put_back(self, table: Table, rows: list[dict[str, Any]], **key: Any) -> None:
        """Replace the rows with a key by older ones."""
        names = [column.name for column in table.primary_key.columns]
        old, present = (
            [{name: row[name] for name in names} for row in some] for some in (rows, self.rows(table, **key))
        )
        if old == present:  # other rows may refer to them
            self.run(*(update(table).where(_is(table, one)).values(row) for one, row in zip(old, rows, strict=True)))
        else:
            self.run(delete(table).where(_is(table, key)), *(insert(table).values(row) for row in rows))


def _is(table: Table, key: Mapping[str, Any]) -> Any:
    return and_(*(table.c[name] == value for name, value in key.items())) if key else text("1 = 1")
