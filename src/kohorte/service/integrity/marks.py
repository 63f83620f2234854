"""The marked tables: which rows carry a mark, and what it covers.

A mark is an HMAC-SHA256 with a key derived from the master key, over the name of the table and all columns of the row,
including its primary key and its version. A row can therefore not be changed, copied or exchanged without the key.
Sealed columns are left out: they are authenticated themselves, under a label that names their row. To mark another
table, give it the columns `version` and `mark`, and add an entry to `MARKED`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Table, and_, func, select

from kohorte.service.keyring import MasterKey
from kohorte.service.storage.schema import (
    accounts,
    approvals,
    daily_use,
    datasets,
    draft_steps,
    drafts,
    part_heads,
    projects,
    spent,
    user_roles,
    users,
)

ROLES = (
    select(func.aggregate_strings(user_roles.c.role, " "))
    .where(user_roles.c.user_id == users.c.id)
    .scalar_subquery()
    .label("roles")
)
"""The roles of a user as one text; `access.roles_of` reads it."""
LATER = frozenset({"certificate_fingerprint", "password_by", "roles_by", "roles_second"})
"""Columns that tables got after their rows were marked: a mark covers them if they are filled.

So marks from before stay valid, and still nobody can fill or empty such a column without the key.
"""
USERS: Select[*tuple[Any, ...]] = select(users, ROLES)


@dataclass(frozen=True, eq=False)
class Marked:
    """A table with marks; `rows` selects everything that a mark covers.

    If `in_state_log`, state.log records the version of every row. The rows of other tables never change after they
    were written, and their sum is in a row that the file knows.
    """

    table: Table
    rows: Select[*tuple[Any, ...]]
    in_state_log: bool = True

    def key_of(self, row: Row[*tuple[Any, ...]]) -> tuple[int, ...]:
        """Return the primary key of a row."""
        values = row._asdict()
        return tuple(values[column.name] for column in self.table.primary_key.columns)

    def name(self, key: Iterable[int]) -> str:
        """Return the name of a row: "users 3", or "accounts 4 7" if its key has two parts."""
        return " ".join(map(str, (self.table.name, *key)))

    def this(self, key: Iterable[int]) -> ColumnElement[bool]:
        """The condition that a row has a primary key."""
        columns = self.table.primary_key.columns
        return and_(*(column == part for column, part in zip(columns, key, strict=True)))

    @cached_property
    def covered(self) -> tuple[str, ...]:
        """The names of the columns that a mark covers."""
        names = (str(name) for name in self.rows.selected_columns.keys())  # noqa: SIM118 - not a dictionary
        return tuple(name for name in names if name != "mark" and not name.startswith("sealed"))

    def mark(self, key: MasterKey, row: Row[*tuple[Any, ...]], version: int) -> str:
        """Return the mark of a row with a version; a row with values that the service never writes raises an error."""
        values = row._asdict()
        counted = (name for name in self.covered if name not in LATER or values[name] is not None)
        facts = {name: _plain(values[name]) for name in counted}
        if "roles" in facts:
            facts["roles"] = sorted((facts["roles"] or "").split())
        text = json.dumps(
            [self.table.name, {**facts, "version": version}], sort_keys=True, separators=(",", ":"), allow_nan=False
        )
        return hmac.new(key.marking, text.encode(), hashlib.sha256).hexdigest()

    def is_genuine(self, keys: Iterable[MasterKey], row: Row[*tuple[Any, ...]]) -> bool:
        """Whether a row has the mark that one of the keys gives it; the row may contain anything."""
        try:
            given = str(row.mark).encode(errors="replace")
            return any(hmac.compare_digest(given, self.mark(key, row, row.version).encode()) for key in keys)
        except (TypeError, ValueError, RecursionError, AttributeError):
            return False


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat(timespec="microseconds") if isinstance(value, datetime) else value


USER = Marked(users, USERS)
DATASET = Marked(datasets, select(datasets))
PROJECT = Marked(projects, select(projects))
APPROVAL = Marked(approvals, select(approvals))
DRAFT = Marked(drafts, select(drafts))
DRAFT_STEP = Marked(draft_steps, select(draft_steps))
ACCOUNT = Marked(accounts, select(accounts))
SPENDING = Marked(spent, select(spent), in_state_log=False)
DAILY_USE = Marked(daily_use, select(daily_use))
PART_HEAD = Marked(part_heads, select(part_heads))
MARKED = (USER, DATASET, PROJECT, APPROVAL, DRAFT, DRAFT_STEP, ACCOUNT, SPENDING, DAILY_USE, PART_HEAD)
