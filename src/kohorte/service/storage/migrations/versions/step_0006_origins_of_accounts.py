"""The row of a user says who set its password and its roles; the service fills it in when it starts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the migration."""
    for name in ("password_by", "roles_by", "roles_second"):
        op.add_column("users", sa.Column(name, sa.Integer(), nullable=True))
