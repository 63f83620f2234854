"""Security-relevant rows get a version and a mark; the service, which has the key, fills them in when it starts.

The authentication code that accounts had becomes their mark. The service checks it once more, in its old form, before
it makes a mark of it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

MARKED = ("users", "datasets", "projects", "spent", "approvals")


def upgrade() -> None:
    """Apply the migration."""
    for table in (*MARKED, "accounts"):
        op.add_column(table, sa.Column("version", sa.BigInteger(), nullable=True))
    for table in MARKED:
        op.add_column(table, sa.Column("mark", sa.String(length=64), nullable=True))
    op.execute("ALTER TABLE accounts RENAME COLUMN mac TO mark")
    op.add_column("audit_head", sa.Column("state", sa.BigInteger(), nullable=True))
