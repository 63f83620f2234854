"""Migrate the tables, and refuse a database of another version."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from kohorte.errors import InputError
from kohorte.service.storage.database import Database

LOCK = 7_266_318_040  # arbitrary, but the same everywhere: only one process migrates a PostgreSQL at a time


def migrate(database: Database) -> None:
    """Create or migrate the tables in one transaction; if several processes start at once, one does it."""
    database.make_file()
    with database.writing() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        present = MigrationContext.configure(connection).get_current_revision()
        if present == newest() or (present is not None and present not in _known()):
            return  # up to date, or made by a newer version, which `refuse_other_version` refuses
        config = configuration()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def refuse_other_version(database: Database) -> None:
    """Refuse a database without the tables of this version."""
    present = _present(database)
    if present == newest():
        return
    if present is None:
        raise InputError(
            "there is no service in this database yet; start it with kohorte serve", code="service-missing"
        )
    older = present in _known()
    hint = "start kohorte serve once to migrate it" if older else "install the newer version"
    raise InputError(f"the database is of another version of Kohorte; {hint}", code="service-version")


def configuration() -> Config:
    """Return the configuration for Alembic."""
    config = Config()
    config.set_main_option("file_template", "step_%%(rev)s_%%(slug)s")
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return config


@cache
def newest() -> str | None:
    """Return the id of the last migration."""
    return ScriptDirectory.from_config(configuration()).get_current_head()


def _present(database: Database) -> str | None:
    if database.file is not None and not database.file.exists():
        return None
    with database.reading() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def _known() -> set[str]:
    return {step.revision for step in ScriptDirectory.from_config(configuration()).walk_revisions()}
