"""Reading the audit log: pages of entries, and a head that somebody noted."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import func, select

from kohorte.errors import InputError
from kohorte.service.storage.database import Database
from kohorte.service.storage.schema import audit

SHOWN = (audit.c.number, audit.c.at, audit.c.actor_id, audit.c.action, audit.c.object, audit.c.details)
HEAD = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


def listed(
    database: Database, *, limit: int, page: int = 1, action: str | None = None, actor_id: int | None = None
) -> tuple[list[dict[str, Any]], int]:
    """Return a page of entries, the newest first, and how many there are; filters leave out the others."""
    wanted = [
        column == value
        for column, value in ((audit.c.action, action), (audit.c.actor_id, actor_id))
        if value is not None
    ]
    statement = select(*SHOWN).where(*wanted).order_by(audit.c.number.desc()).limit(limit).offset((page - 1) * limit)
    with database.reading() as connection:
        total = connection.execute(select(func.count()).select_from(audit).where(*wanted)).scalar_one()
        return [dict(row) for row in connection.execute(statement).mappings()], total


def noted_head(text: str) -> tuple[int, str]:
    """Return number and code of a head that `verify` printed before."""
    found = HEAD.fullmatch(text)
    if found is None:
        raise InputError("--head: a head is NUMBER:CODE, as kohorte audit verify prints it", code="audit-head")
    return int(found[1]), found[2]
