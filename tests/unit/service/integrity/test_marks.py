"""What a mark covers: every column of a marked table, and nothing can be exchanged unnoticed."""

from __future__ import annotations

import dataclasses
import hmac
import json
from collections import namedtuple
from typing import Any

import pytest

from kohorte.service.integrity.marks import LATER, MARKED, USER, Marked
from kohorte.service.keyring import MasterKey
from kohorte.service.storage.schema import metadata, now

KEY = MasterKey(b"\1" * 32)


def row_of(kind: Marked, **changes: Any) -> Any:
    values = dict.fromkeys([*kind.rows.selected_columns.keys()], "1") | {"id": 1, "version": 5} | changes
    values = {name: value for name, value in values.items() if name in kind.rows.selected_columns}
    return namedtuple("AnyRow", values)(**values)


def marked(kind: Marked, **changes: Any) -> Any:
    return row_of(kind, **changes, mark=kind.mark(KEY, row_of(kind, **changes)._asdict(), 5))


@pytest.mark.parametrize("kind", MARKED, ids=lambda kind: kind.table.name)
def test_every_column_is_covered_but_those_that_are_sealed(kind: Marked) -> None:
    names = {column.name for column in kind.table.c} - {"mark"}
    roles = {"roles"} if kind is USER else set()
    assert set(kind.covered) == {name for name in names if not name.startswith("sealed")} | roles
    genuine = marked(kind)
    assert kind.is_genuine([KEY], genuine)
    for name in kind.covered:
        assert not kind.is_genuine([KEY], genuine._replace(**{name: "2"})), name
        assert not kind.is_genuine([KEY], genuine._replace(**{name: None})), name


def test_every_table_with_a_mark_is_known() -> None:
    assert {table.name for table in metadata.sorted_tables if "mark" in table.c} == {kind.table.name for kind in MARKED}


def test_the_mark_of_one_table_is_worth_nothing_in_another() -> None:
    other = dataclasses.replace(USER, table=metadata.tables["datasets"])
    assert USER.mark(KEY, row_of(USER)._asdict(), 5) != other.mark(KEY, row_of(USER)._asdict(), 5)


def test_text_cannot_move_from_one_column_to_the_next() -> None:
    row = marked(USER, name="ab", institution="c")
    assert not USER.is_genuine([KEY], row._replace(name="a", institution="bc"))
    assert not USER.is_genuine([KEY], row._replace(name='ab","institution":"c'))


def test_a_mark_from_before_users_had_certificates_and_origins_stays_valid_until_one_is_put_in() -> None:
    before = {
        "id": 1, "email_address": "a@example.org", "name": "A", "institution": "", "password_hash": "h",
        "password_expires_at": None, "disabled_at": None, "deleted_at": None, "created_at": "2026-01-01", "version": 5,
        "roles": ["researcher"],
    }  # fmt: skip
    text = json.dumps(["users", before], sort_keys=True, separators=(",", ":"))
    mark = hmac.new(KEY.marking, text.encode(), "sha256").hexdigest()
    row = row_of(USER, **{**before, **dict.fromkeys(LATER), "roles": "researcher", "mark": mark})
    assert USER.is_genuine([KEY], row)
    assert not USER.is_genuine([KEY], row._replace(certificate_fingerprint="f" * 64))
    assert not USER.is_genuine([KEY], row._replace(certificate_fingerprint=""))
    assert not any(USER.is_genuine([KEY], row._replace(**{name: 0})) for name in LATER)


def test_another_key_makes_another_mark_and_the_order_of_roles_does_not_matter() -> None:
    row = marked(USER, roles="steward researcher", created_at=now())
    assert USER.is_genuine([MasterKey(b"\2" * 32), KEY], row._replace(roles="researcher steward"))
    assert not USER.is_genuine([MasterKey(b"\2" * 32)], row)


@pytest.mark.parametrize("value", [b"\xff", float("nan"), {1, 2}])
def test_values_that_the_service_never_writes_are_not_genuine(value: Any) -> None:
    assert not USER.is_genuine([KEY], marked(USER)._replace(name=value))
