"""Drafts of releases, and what people did with them: saved, submitted, signed, returned, released, withdrawn."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kohorte.service.storage.migrations.versions.step_0003_keys_and_spendings import postgresql_sealed, sqlite_sealed

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

SEALED = (
    ("drafts", "sealed_plan"),
    ("drafts", "sealed_reviewed"),
    ("drafts", "sealed_figures"),
    ("draft_steps", "sealed_comment"),
)


def upgrade() -> None:
    """Apply the migration."""
    _drafts()
    _steps()
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for table, column in SEALED:
        (sqlite_sealed if is_sqlite else postgresql_sealed)(table, column)


def _drafts() -> None:
    op.create_table(
        "drafts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("researcher_id", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("editor_id", sa.Integer(), nullable=False),
        sa.Column("editors", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("reviewed_revision", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("plan_sha256", sa.String(length=64), nullable=False),
        sa.Column("shown_sha256", sa.String(length=64), nullable=False),
        sa.Column("table_sha256", sa.String(length=64), nullable=True),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=True),
        sa.Column("sealed_plan", sa.LargeBinary(), nullable=False),
        sa.Column("sealed_reviewed", sa.LargeBinary(), nullable=False),
        sa.Column("sealed_figures", sa.LargeBinary(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=True),
        sa.Column("mark", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_drafts_dataset_id")),
        sa.ForeignKeyConstraint(["researcher_id"], ["users.id"], name=op.f("fk_drafts_researcher_id")),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_drafts_author_id")),
        sa.ForeignKeyConstraint(["editor_id"], ["users.id"], name=op.f("fk_drafts_editor_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_drafts_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_drafts")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_drafts_state"), "drafts", ["state"], unique=False)
    op.create_index(op.f("ix_drafts_project_id"), "drafts", ["project_id"], unique=False)


def _steps() -> None:
    op.create_table(
        "draft_steps",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("draft_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("user_name", sa.String(length=200), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("plan_sha256", sa.String(length=64), nullable=False),
        sa.Column("shown_sha256", sa.String(length=64), nullable=False),
        sa.Column("table_sha256", sa.String(length=64), nullable=True),
        sa.Column("sealed_comment", sa.LargeBinary(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=True),
        sa.Column("mark", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["draft_id"], ["drafts.id"], name=op.f("fk_draft_steps_draft_id")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_draft_steps_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_draft_steps")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_draft_steps_draft_id"), "draft_steps", ["draft_id"], unique=False)
