"""How many names, PIDs and texts each account has sent today to the patient list and the pseudonyms."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the migration."""
    op.create_table(
        "daily_use",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("texts", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=True),
        sa.Column("mark", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_daily_use_user_id")),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_daily_use")),
        sqlite_autoincrement=True,
    )
