"""A user can have a certificate instead of a password: another service that calls this one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the migration."""
    op.add_column("users", sa.Column("certificate_fingerprint", sa.String(length=64), nullable=True))
    op.create_index("ix_users_certificate_fingerprint", "users", ["certificate_fingerprint"], unique=True)
