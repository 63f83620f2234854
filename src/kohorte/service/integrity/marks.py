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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Table, Update, and_, bindparam, func, select, update

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

    def keyed(self, key: Iterable[int]) -> dict[str, int]:
        """The parameters of `one`, `locked` and `marking` for a primary key."""
        names = [_bound(column) for column in self.table.primary_key.columns]
        return dict(zip(names, key, strict=True))

    @cached_property
    def one(self) -> Select[*tuple[Any, ...]]:
        """Selects the row with a primary key; built once, as the next two, because nearly every request needs them."""
        return self.rows.where(self._this)

    @cached_property
    def locked(self) -> Select[*tuple[Any, ...]]:
        """Selects the row with a primary key and locks it until the transaction ends."""
        return self.one.with_for_update(of=self.table, key_share=True)

    @cached_property
    def marking(self) -> Update:
        """Writes `new_version` and `new_mark` into the row with a primary key."""
        return update(self.table).where(self._this).values(version=bindparam("new_version"), mark=bindparam("new_mark"))

    @property
    def _this(self) -> ColumnElement[bool]:
        columns = self.table.primary_key.columns
        return and_(*(column == bindparam(_bound(column)) for column in columns))

    @cached_property
    def covered(self) -> tuple[str, ...]:
        """The names of the columns that a mark covers."""
        names = (str(name) for name in self.rows.selected_columns.keys())  # noqa: SIM118 - not a dictionary
        return tuple(name for name in names if name != "mark" and not name.startswith("sealed"))

    def mark(self, key: MasterKey, values: Mapping[str, Any], version: int) -> str:
        """Return the mark of a row with a version; a row with values that the service never writes raises an error."""
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
            given, values = str(row.mark).encode(errors="replace"), row._asdict()
            return any(hmac.compare_digest(given, self.mark(key, values, row.version).encode()) for key in keys)
        except (TypeError, ValueError, RecursionError, AttributeError):
            return False


def _bound(column: ColumnElement[Any]) -> str:
    return f"of_{column.key}"


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
