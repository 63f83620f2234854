"""Read the audit log: pages of entries, and heads that were noted before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select

from kohorte.errors import InputError
from kohorte.service.storage.database import Database
from kohorte.service.storage.schema import audit

SHOWN = (audit.c.number, audit.c.at, audit.c.actor_id, audit.c.action, audit.c.object, audit.c.details)
HEAD = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


@dataclass(frozen=True)
class Wanted:
    """Filters on entries: action, actor, object and time (`until` is exclusive)."""

    action: str | None = None
    actor_id: int | None = None
    about: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the filters as SQL conditions; moments are stored as text of fixed length, which sorts by time."""
        wanted = [
            (self.action, audit.c.action == self.action),
            (self.actor_id, audit.c.actor_id == self.actor_id),
            (self.about, audit.c.object == self.about),
            (self.since, audit.c.at >= _moment(self.since)),
            (self.until, audit.c.at < _moment(self.until)),
        ]
        return [condition for value, condition in wanted if value is not None]


def _moment(given: datetime | None) -> str:
    return "" if given is None else given.astimezone(UTC).isoformat(timespec="microseconds")


def listed(
    database: Database, *, limit: int, page: int = 1, filters: Wanted | None = None
) -> tuple[list[dict[str, Any]], int]:
    """Return a page of the matching entries, the newest first, and their total number."""
    wanted = (filters or Wanted()).conditions()
    statement = select(*SHOWN).where(*wanted).order_by(audit.c.number.desc()).limit(limit).offset((page - 1) * limit)
    with database.reading() as connection:
        total = connection.execute(select(func.count()).select_from(audit).where(*wanted)).scalar_one()
        return [dict(row) for row in connection.execute(statement).mappings()], total


def noted_head(text: str) -> tuple[int, str]:
    """Return number and code of a head that `verify` printed."""
    found = HEAD.fullmatch(text)
    if found is None:
        raise InputError("--head: a head is NUMBER:CODE, as kohorte audit verify prints it", code="audit-head")
    return int(found[1]), found[2]
