"""Attacks on drafts with access to the database: changed, forged, copied and removed rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Connection, delete, insert, select, update

from kohorte.service.context import Service
from kohorte.service.storage.schema import datasets, draft_steps, drafts
from support.drafts import Desk, code
from support.service import on_sqlite

pytestmark = on_sqlite
REFUSED = (503, "service-row-changed")


@pytest.fixture
def desk(service: Service, client: TestClient) -> Desk:
    return Desk.of(service, client)


def row_of(desk: Desk, draft: int) -> Any:
    with desk.service.database.reading() as connection:
        return connection.execute(select(drafts).where(drafts.c.id == draft)).one()


def write(desk: Desk, *statements: Any) -> None:
    with desk.service.database.writing() as connection:
        for statement in statements:
            connection.execute(statement)


def in_rows(connection: Connection, draft: int) -> list[dict[str, Any]]:
    found = connection.execute(select(draft_steps).where(draft_steps.c.draft_id == draft)).all()
    return [row._asdict() for row in found]


@pytest.mark.parametrize(
    "change",
    [
        {"state": "approved"},
        {"editors": []},
        {"researcher_id": 1},
        {"plan_sha256": "0" * 64},
        {"table_sha256": "0" * 64},
        {"revision": 2},
        {"steps": 1},
    ],
)
def test_a_changed_row_of_a_draft_is_refused(desk: Desk, change: dict[str, Any]) -> None:
    draft = desk.submitted()
    write(desk, update(drafts).where(drafts.c.id == draft).values(**change))
    assert code(desk.step(draft, "sign", desk.approver)) == REFUSED
    assert code(desk.step(draft, "release", desk.steward)) == REFUSED


def test_a_plan_that_was_put_back_to_an_older_one_is_refused(desk: Desk) -> None:
    draft = desk.submitted(2)
    weak = row_of(desk, draft)
    desk.change(draft, 1, 10)
    desk.step(draft, "submit", desk.steward, 2)
    desk.step(draft, "sign", desk.approver, 2)
    write(desk, update(drafts).where(drafts.c.id == draft).values(sealed_plan=weak.sealed_plan))
    answer = desk.step(draft, "release", desk.steward, 2)
    assert answer.status_code >= 500
    assert desk.client.get("/api/v1/projects", headers=desk.steward.headers).json()["total"] == 0


def test_an_older_row_with_a_genuine_mark_is_refused(desk: Desk) -> None:
    draft = desk.submitted()
    desk.step(draft, "sign", desk.approver)
    old = row_of(desk, draft)._asdict()
    desk.change(draft, 1, 2)
    write(desk, update(drafts).where(drafts.c.id == draft).values(**old))
    assert code(desk.step(draft, "release", desk.steward)) == REFUSED


def forged(rows: list[dict[str, Any]], desk: Desk) -> Any:
    """A signature that the service did not write, made from the step of the submission."""
    fake = {**rows[-1], "kind": "signed", "user_id": desk.officer.user_id}
    fake.pop("id")
    return insert(draft_steps).values(**fake)


def removed(rows: list[dict[str, Any]], desk: Desk) -> Any:
    del desk
    return delete(draft_steps).where(draft_steps.c.id == rows[0]["id"])


def renamed(rows: list[dict[str, Any]], desk: Desk) -> Any:
    del desk
    return update(draft_steps).where(draft_steps.c.id == rows[-1]["id"]).values(kind="signed")


@pytest.mark.parametrize("attack", [forged, removed, renamed])
def test_forged_removed_and_changed_steps_are_refused(
    desk: Desk, attack: Callable[[list[dict[str, Any]], Desk], Any]
) -> None:
    draft = desk.submitted()
    with desk.service.database.reading() as connection:
        rows = in_rows(connection, draft)
    write(desk, attack(rows, desk))
    assert code(desk.step(draft, "sign", desk.approver)) == REFUSED
    assert code(desk.client.get(f"/api/v1/drafts/{draft}", headers=desk.officer.headers)) == REFUSED


def test_the_signature_of_another_draft_does_not_count(desk: Desk) -> None:
    signed, wanted = desk.submitted(), desk.submitted()
    desk.step(signed, "sign", desk.approver)
    with desk.service.database.reading() as connection:
        number = in_rows(connection, signed)[-1]["id"]
    write(desk, update(draft_steps).where(draft_steps.c.id == number).values(draft_id=wanted))
    assert desk.step(wanted, "release", desk.steward).status_code in (409, 503)
    assert code(desk.step(signed, "release", desk.steward)) == REFUSED


def test_another_table_under_the_same_number_is_refused(desk: Desk) -> None:
    draft = desk.submitted()
    desk.step(draft, "sign", desk.approver)
    write(desk, update(datasets).where(datasets.c.id == desk.dataset_id).values(table_sha256="0" * 64))
    assert code(desk.step(draft, "release", desk.steward)) == REFUSED


def test_a_draft_that_was_removed_is_noticed(desk: Desk) -> None:
    draft = desk.save()
    write(desk, delete(draft_steps).where(draft_steps.c.draft_id == draft), delete(drafts).where(drafts.c.id == draft))
    assert code(desk.client.get(f"/api/v1/drafts/{draft}", headers=desk.steward.headers)) == REFUSED


def test_plans_and_comments_are_not_readable_in_the_database(desk: Desk) -> None:
    draft = desk.submitted(comment="a remark about ward seven")
    row = row_of(desk, draft)
    with desk.service.database.reading() as connection:
        steps = in_rows(connection, draft)
    stored = b"".join(value for one in (row._asdict(), *steps) for value in one.values() if isinstance(value, bytes))
    assert len(stored) > 500
    assert b"ward seven" not in stored
    assert b"zip_code" not in stored
