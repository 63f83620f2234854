"""An index from which the sum of an account's spendings is read; it is compared with the account at every payment."""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the migration."""
    op.create_index("ix_spent_sum", "spent", ["project_id", "user_id", "amount", "delta"])
