"""Roles instead of the flag `privileged`, jobs about any kind of object, and requests for a second person."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ROLES = (
    "INSERT INTO user_roles (user_id, role) "
    "SELECT id, CASE WHEN privileged THEN 'steward' ELSE 'researcher' END FROM users"
)
SUBJECTS = (
    "UPDATE jobs SET subject_kind = CASE WHEN project_id IS NULL THEN 'dataset' ELSE 'project' END, "
    "subject_id = coalesce(project_id, dataset_id)"
)


def upgrade() -> None:
    """Apply the migration."""
    _roles()
    _subjects()
    _approvals()


def _roles() -> None:
    """A privileged user becomes a steward, every other user a researcher."""
    op.create_table(
        "user_roles",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_user_roles_user_id")),
        sa.PrimaryKeyConstraint("user_id", "role", name=op.f("pk_user_roles")),
        sqlite_autoincrement=True,
    )
    op.execute(ROLES)
    op.drop_column("users", "privileged")


def _subjects() -> None:
    """A job stores kind and id of its object; the dataset of a job follows from its project."""
    op.add_column("jobs", sa.Column("subject_kind", sa.String(length=16), nullable=True))
    op.add_column("jobs", sa.Column("subject_id", sa.Integer(), nullable=True))
    op.execute(SUBJECTS)
    with op.batch_alter_table("jobs", table_kwargs={"sqlite_autoincrement": True}) as jobs:
        jobs.alter_column("subject_kind", existing_type=sa.String(length=16), nullable=False)
        jobs.drop_column("dataset_id")
        jobs.drop_column("project_id")
    op.create_index("ix_jobs_subject", "jobs", ["subject_kind", "subject_id"], unique=False)


def _approvals() -> None:
    op.create_table(
        "approvals",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("operation", sa.String(length=64), nullable=False),
        sa.Column("subject_kind", sa.String(length=16), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=True),
        sa.Column("sealed_values", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("requester_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decider_id", sa.Integer(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["requester_id"], ["users.id"], name=op.f("fk_approvals_requester_id")),
        sa.ForeignKeyConstraint(["decider_id"], ["users.id"], name=op.f("fk_approvals_decider_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approvals")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_approvals_subject", "approvals", ["operation", "subject_kind", "subject_id"], unique=False)
