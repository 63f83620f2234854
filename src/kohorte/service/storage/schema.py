"""The tables of the service's database; migrations/ creates them, and a test compares the two.

Columns that may contain values of an uploaded table (hierarchies, plans, queries, answers), or the hash of a password
that waits for approval, are sealed with a key that is not in the database. Triggers of the database prevent that rows
of `audit`, `spent` and `answered` are changed or removed. `version` and `mark` show that a row is as the service wrote
it (see `integrity`); `audit_head.state` is the last known line of state.log, a file.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMES)


class Moment(TypeDecorator[datetime]):
    """A moment in UTC; SQLite does not store the time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the moment as the database stores it."""
        del dialect
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Return the moment with its time zone."""
        del dialect
        if value is None:
            return None
        moment: datetime = value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def now() -> datetime:
    """Return the current moment."""
    return datetime.now(UTC)


def _table(name: str, *parts: Any) -> Table:
    return Table(name, metadata, *parts, sqlite_autoincrement=True)


users = _table(
    "users",
    Column("id", Integer, primary_key=True),
    Column("email_address", String(254), nullable=False, unique=True),
    Column("name", String(200), nullable=False),
    Column("institution", String(200), nullable=False),
    Column("password_hash", Text, nullable=False),
    Column("password_expires_at", Moment),
    Column("certificate_fingerprint", String(64), index=True, unique=True),
    Column("disabled_at", Moment),
    Column("deleted_at", Moment),
    Column("created_at", Moment, nullable=False),
    Column("version", BigInteger),
    Column("mark", String(64)),
    Column("password_by", Integer),
    Column("roles_by", Integer),
    Column("roles_second", Integer),
)

user_roles = _table(
    "user_roles",
    Column("user_id", ForeignKey("users.id"), primary_key=True),
    Column("role", String(32), primary_key=True),
)

sessions = _table(
    "sessions",
    Column("id", String(64), primary_key=True),
    Column("user_id", ForeignKey("users.id"), nullable=False, index=True),
    Column("refresh_id", String(64), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("revoked_at", Moment),
)

login_failures = _table(
    "login_failures",
    Column("address_key", String(64), primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("last_at", Moment, nullable=False),
    Column("locked_until", Moment),
)

setup_tokens = _table(
    "setup_tokens",
    Column("token_hash", String(64), primary_key=True),
    Column("created_at", Moment, nullable=False),
    Column("used_at", Moment),
)

datasets = _table(
    "datasets",
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("description", Text, nullable=False),
    Column("creator_id", ForeignKey("users.id"), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("state", String(16), nullable=False),
    Column("file_name", String(255), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("uploaded_file", String(64)),
    Column("table_file", String(64)),
    Column("table_sha256", String(64)),
    Column("rows", BigInteger),
    Column("columns", JSON),
    Column("deleted_at", Moment),
    Column("version", BigInteger),
    Column("mark", String(64)),
)

hierarchies = _table(
    "hierarchies",
    Column("dataset_id", ForeignKey("datasets.id"), primary_key=True),
    Column("attribute", String(255), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("created_at", Moment, nullable=False),
)

projects = _table(
    "projects",
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("description", Text, nullable=False),
    Column("dataset_id", ForeignKey("datasets.id"), nullable=False, index=True),
    Column("creator_id", ForeignKey("users.id"), nullable=False),
    Column("researcher_id", ForeignKey("users.id"), nullable=False, index=True),
    Column("created_at", Moment, nullable=False),
    Column("interactive", Boolean, nullable=False),
    Column("state", String(16), nullable=False),
    Column("sealed_config", LargeBinary, nullable=False),
    Column("sealed_summary", LargeBinary, nullable=False),
    Column("budget", JSON),
    Column("release_file", String(64)),
    Column("report_file", String(64)),
    Column("certificate", JSON),
    Column("problem", JSON),
    Column("deleted_at", Moment),
    Column("version", BigInteger),
    Column("mark", String(64)),
)

accounts = _table(
    "accounts",
    Column("project_id", ForeignKey("projects.id"), primary_key=True),
    Column("user_id", ForeignKey("users.id"), primary_key=True),
    Column("composition", String(16), nullable=False),
    Column("amount", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("version", BigInteger),
    Column("mark", String(64), nullable=False),
)

spent = _table(
    "spent",
    Column("id", Integer, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("question", String(64), nullable=False),
    Column("sealed_sql", LargeBinary, nullable=False),
    Column("composition", String(16), nullable=False),
    Column("amount", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("version", BigInteger),
    Column("mark", String(64)),
    Index("ix_spent_question", "project_id", "user_id", "question"),
    Index("ix_spent_sum", "project_id", "user_id", "amount", "delta"),
)

answered = _table(
    "answered",
    Column("spent_id", ForeignKey("spent.id"), primary_key=True),
    Column("sealed_release", LargeBinary, nullable=False),
    Column("at", Moment, nullable=False),
)

jobs = _table(
    "jobs",
    Column("id", Integer, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("state", String(16), nullable=False, index=True),
    Column("creator_id", ForeignKey("users.id"), nullable=False),
    Column("subject_kind", String(16), nullable=False),
    Column("subject_id", Integer),
    Column("sealed_request", LargeBinary, nullable=False),
    Column("result", JSON),
    Column("problem", JSON),
    Column("progress", Float, nullable=False),
    Column("message", String(200), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("worker", String(100)),
    Column("lease_until", Moment),
    Column("cancel_requested", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("started_at", Moment),
    Column("ended_at", Moment),
    Index("ix_jobs_subject", "subject_kind", "subject_id"),
)

approvals = _table(
    "approvals",
    Column("id", Integer, primary_key=True),
    Column("operation", String(64), nullable=False),
    Column("subject_kind", String(16), nullable=False),
    Column("subject_id", Integer),
    Column("sealed_values", LargeBinary, nullable=False),
    Column("state", String(16), nullable=False),
    Column("requester_id", ForeignKey("users.id"), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("decider_id", ForeignKey("users.id")),
    Column("decided_at", Moment),
    Column("version", BigInteger),
    Column("mark", String(64)),
    Index("ix_approvals_subject", "operation", "subject_kind", "subject_id"),
)

drafts = _table(
    "drafts",
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("dataset_id", ForeignKey("datasets.id"), nullable=False),
    Column("researcher_id", ForeignKey("users.id"), nullable=False),
    Column("author_id", ForeignKey("users.id"), nullable=False),
    Column("editor_id", ForeignKey("users.id"), nullable=False),
    Column("editors", JSON, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("changed_at", Moment, nullable=False),
    Column("submitted_at", Moment),
    Column("revision", Integer, nullable=False),
    Column("reviewed_revision", Integer),
    Column("state", String(16), nullable=False, index=True),
    Column("plan_sha256", String(64), nullable=False),
    Column("shown_sha256", String(64), nullable=False),
    Column("table_sha256", String(64)),
    Column("steps", Integer, nullable=False),
    Column("project_id", ForeignKey("projects.id"), index=True),
    Column("sealed_plan", LargeBinary, nullable=False),
    Column("sealed_reviewed", LargeBinary, nullable=False),
    Column("sealed_figures", LargeBinary, nullable=False),
    Column("version", BigInteger),
    Column("mark", String(64)),
)

draft_steps = _table(
    "draft_steps",
    Column("id", Integer, primary_key=True),
    Column("draft_id", ForeignKey("drafts.id"), nullable=False, index=True),
    Column("revision", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("user_id", ForeignKey("users.id"), nullable=False),
    Column("user_name", String(200), nullable=False),
    Column("at", Moment, nullable=False),
    Column("plan_sha256", String(64), nullable=False),
    Column("shown_sha256", String(64), nullable=False),
    Column("table_sha256", String(64)),
    Column("sealed_comment", LargeBinary, nullable=False),
    Column("version", BigInteger),
    Column("mark", String(64)),
)

daily_use = _table(
    "daily_use",
    Column("user_id", ForeignKey("users.id"), primary_key=True),
    Column("day", String(10), nullable=False),
    Column("texts", BigInteger, nullable=False),
    Column("version", BigInteger),
    Column("mark", String(64)),
)

part_heads = _table(
    "part_heads",
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),
    Column("code", String(64), nullable=False),
    Column("version", BigInteger),
    Column("mark", String(64)),
)

workers = _table(
    "workers",
    Column("name", String(100), primary_key=True),
    Column("seen_at", Moment, nullable=False),
)

audit = _table(
    "audit",
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("at", String(32), nullable=False),
    Column("actor_id", Integer),
    Column("action", String(64), nullable=False),
    Column("object", String(100), nullable=False),
    Column("details", JSON, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("mac", String(64), nullable=False),
)

audit_head = _table(
    "audit_head",
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),
    Column("mac", String(64), nullable=False),
    Column("state", BigInteger),
)

master_key = _table(
    "master_key",
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("fingerprint", String(64), nullable=False),
)

# `master_key` lists the keys with which columns may be sealed (triggers refuse others); `spent_head` is the last entry
# of the log of spendings, a file, that this database knows.

spent_head = _table(
    "spent_head",
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),
    Column("mac", String(64), nullable=False),
    Column("end", BigInteger, nullable=False),
)
