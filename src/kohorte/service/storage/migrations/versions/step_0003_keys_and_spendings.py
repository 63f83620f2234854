"""Sealed columns accept known keys only; the database stores the last known entry of the log of spendings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SEALED = (
    ("hierarchies", "sealed"),
    ("projects", "sealed_config"),
    ("projects", "sealed_summary"),
    ("spent", "sealed_sql"),
    ("answered", "sealed_release"),
    ("jobs", "sealed_request"),
    ("approvals", "sealed_values"),
)
FIXED = {
    "spent": "id, project_id, user_id, question, composition, amount, delta, at",
    "answered": "spent_id, at",
}
"""The columns of append-only tables that never change; the sealed ones are sealed again when a key is replaced."""
KNOWN = "NOT IN (SELECT substr(fingerprint, 1, 16) FROM master_key)"
START = {"id": 1, "number": 0, "mac": "0" * 64, "end": 0}


def upgrade() -> None:
    """Apply the migration."""
    op.create_table(
        "spent_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("mac", sa.String(length=64), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_spent_head")),
        sqlite_autoincrement=True,
    )
    op.bulk_insert(sa.table("spent_head", *(sa.column(name) for name in START)), [START])
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for table, columns in FIXED.items():
        (_sqlite_fixed if is_sqlite else _postgresql_fixed)(table, columns)
    for table, column in SEALED:
        (sqlite_sealed if is_sqlite else postgresql_sealed)(table, column)


def _sqlite_fixed(table: str, columns: str) -> None:
    op.execute(f"DROP TRIGGER {table}_update")
    op.execute(
        f"CREATE TRIGGER {table}_update BEFORE UPDATE OF {columns} ON {table} "
        "BEGIN SELECT raise(ABORT, 'append only'); END"
    )


def _postgresql_fixed(table: str, columns: str) -> None:
    op.execute(f"DROP TRIGGER {table}_stays ON {table}")
    op.execute(
        f"CREATE TRIGGER {table}_stays BEFORE UPDATE OF {columns} OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION append_only()"
    )


def sqlite_sealed(table: str, column: str) -> None:
    """Let a column of SQLite accept known keys only."""
    for when in ("INSERT", f"UPDATE OF {column}"):
        op.execute(
            f"CREATE TRIGGER {table}_{column}_{when[:6].lower()} BEFORE {when} ON {table} "
            f"WHEN length(NEW.{column}) > 0 AND lower(hex(substr(NEW.{column}, 1, 8))) "
            f"{KNOWN} "
            "BEGIN SELECT raise(ABORT, 'sealed under a key that is not in use'); END"
        )


def postgresql_sealed(table: str, column: str) -> None:
    """The error code is that of a serialization failure: another transaction replaced the key, so try again."""
    op.execute(
        f"CREATE FUNCTION {table}_{column}_key() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF length(NEW.{column}) > 0 AND encode(substring(NEW.{column} FROM 1 FOR 8), 'hex') "
        f"{KNOWN} THEN "
        "RAISE EXCEPTION 'sealed under a key that is not in use' USING ERRCODE = '40001'; END IF; "
        "RETURN NEW; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_{column}_key BEFORE INSERT OR UPDATE OF {column} ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION {table}_{column}_key()"
    )
