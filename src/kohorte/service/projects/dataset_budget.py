"""The budget spent on one dataset in all its projects: by each user, and by all users together."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Row, select

from kohorte.dp import Budget
from kohorte.dp.budget.budget import Cost
from kohorte.errors import AccessDenied
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.permissions import Permission
from kohorte.service.storage.schema import accounts, datasets, projects


def dataset_budget(service: Service, actor: Actor, dataset_id: int) -> dict[str, Any]:
    """Return what was spent on a dataset, including deleted projects; sums use basic composition."""
    with service.database.reading() as connection:
        _refuse_unknown(connection, actor, dataset_id)
        rows = connection.execute(
            select(accounts, projects.c.budget, projects.c.deleted_at)
            .join(projects, projects.c.id == accounts.c.project_id)
            .where(projects.c.dataset_id == dataset_id)
            .order_by(accounts.c.project_id, accounts.c.user_id)
        ).all()
    shown = [_account(row) for row in rows]
    users = sorted({entry["user_id"] for entry in shown})
    return {
        "dataset_id": dataset_id,
        "accounts": shown,
        "users": [
            {"user_id": user, "spent": _sum([entry for entry in shown if entry["user_id"] == user])} for user in users
        ],
        "everybody": _sum(shown),
    }


def _refuse_unknown(connection: Connection, actor: Actor, dataset_id: int) -> None:
    """Refuse an id that was never a dataset; the accounts of a deleted dataset can still be read."""
    known = connection.execute(select(datasets.c.id).where(datasets.c.id == dataset_id)).one_or_none()
    if known is None or not actor.may(Permission.SEE_ALL_BUDGETS):
        raise AccessDenied("there is no such dataset", code="not-found")


def _account(row: Row[Any]) -> dict[str, Any]:
    budget = Budget(row.budget["epsilon"], row.budget["delta"], row.composition)
    return {
        "project_id": row.project_id,
        "user_id": row.user_id,
        "deleted": row.deleted_at is not None,
        "composition": row.composition,
        "spent": _protection(budget, Cost(Fraction(row.amount), Fraction(row.delta))),
    }


def _protection(budget: Budget, cost: Cost) -> dict[str, float]:
    """The epsilon and delta spent by an account; rho is converted to epsilon at half of the budget's delta."""
    converting = 0.0 if budget.is_pure or not cost.amount else budget.delta / 2
    return {"epsilon": budget.epsilon_of(cost.amount), "delta": float(cost.delta) + converting}


def _sum(entries: list[dict[str, Any]]) -> dict[str, float]:
    return {
        part: float(sum((Fraction(str(entry["spent"][part])) for entry in entries), Fraction(0)))
        for part in ("epsilon", "delta")
    }
