"""The budget spent on one dataset in all its projects: by each user, by all users together, and its limit.

The limit (the rules `dataset_epsilon` and `dataset_delta`) holds for everything that was ever asked about a dataset, in
all projects and by all people, deleted ones included. A table that is uploaded again is the same dataset.

Composition
    The epsilons and deltas of all accounts are added. An account with the composition `pure` counts with what it has
    spent, one with `zcdp` with its whole budget from its first query on: converting the rho that was spent so far into
    an epsilon would only be valid if it did not depend on earlier answers how much is spent.
Source
    Rogers, Roth, Ullman and Vadhan, Privacy Odometers and Filters: Pay-as-you-Go Composition, NeurIPS 2016, section 4
    (adding epsilons and deltas is a valid filter); Vadhan and Wang, Concurrent Composition of Differential Privacy, TCC
    2021, and Lyu, Composition Theorems for Interactive Differential Privacy, NeurIPS 2022 (accounts that are used at
    the same time).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from kohorte.dp import Budget
from kohorte.dp.budget.budget import NOTHING, Composition, Cost, exactly
from kohorte.errors import AccessDenied, BudgetExceeded
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.house_rules import QuestionTerms
from kohorte.service.integrity import marks
from kohorte.service.permissions import Permission
from kohorte.service.projects.ruled_projects import terms_of_project
from kohorte.service.storage.schema import accounts, datasets, projects

KEYS = (
    select(accounts.c.project_id, accounts.c.user_id)
    .join(projects, projects.c.id == accounts.c.project_id)
    .join(datasets, datasets.c.id == projects.c.dataset_id)
)
"""The keys of all accounts whose project and dataset exist."""
OF_PROJECTS = (
    select(accounts, projects.c.id, projects.c.sealed_summary)
    .join(projects, projects.c.id == accounts.c.project_id)
    .where(accounts.c.project_id.in_(bindparam("of_projects", expanding=True)))
    .order_by(accounts.c.project_id, accounts.c.user_id)
)


@dataclass(frozen=True)
class Asked:
    """A query that is about to be paid for, its cost, and the budget of its account."""

    project_id: int
    user_id: int
    cost: Cost
    budget: Budget

    @property
    def account(self) -> tuple[int, int]:
        """The key of the account."""
        return self.project_id, self.user_id


class DatasetTotals:
    """What counts towards the limits of datasets, during one transaction that pays for queries.

    It is used after the head of the log of spendings was locked, so that all spendings of the service happen one after
    the other. What was paid in this transaction and is not written yet counts, too.
    """

    def __init__(self, service: Service, connection: Connection) -> None:
        self._service = service
        self._connection = connection
        self._new: dict[tuple[int, int], tuple[int, Asked]] = {}
        self._read: dict[int, tuple[list[Row[Any]], set[int]]] = {}

    def refuse_beyond(self, asked: Asked, dataset_id: int) -> None:
        """Refuse a query that would exceed what may be spent on its dataset."""
        rules = self._service.settings.rules
        limits = {"dataset_epsilon": rules.dataset_epsilon, "dataset_delta": rules.dataset_delta}
        if not any(limit is not None for limit in limits.values()):
            return
        rows, same = self._of_dataset(dataset_id)
        written = {(row.project_id, row.user_id): _paid(row) for row in rows}
        before = _total(self._service, rows)
        for key, (dataset, paid) in self._new.items():
            if dataset in same:
                before += _added(paid, written.get(key, NOTHING))
        own = written.get(asked.account, NOTHING)
        if asked.account in self._new:
            own += self._new[asked.account][1].cost
        after = before + _added(asked, own)
        for (rule, limit), total in zip(limits.items(), (after.amount, after.delta), strict=True):
            if limit is not None and total > exactly(limit):
                raise _beyond(rule, limit, asked, before)

    def add(self, asked: Asked, dataset_id: int) -> None:
        """Count a query that is paid for in this transaction."""
        if dataset_id not in {dataset for dataset, _ in self._new.values()}:
            self._read.clear()  # it may have the table of another one
        before = self._new.get(asked.account)
        paid = asked if before is None else replace(asked, cost=before[1].cost + asked.cost)
        self._new[asked.account] = (dataset_id, paid)

    def _of_dataset(self, dataset_id: int) -> tuple[list[Row[Any]], set[int]]:
        if dataset_id not in self._read:
            new = {dataset for dataset, _ in self._new.values()}
            self._read[dataset_id] = _accounts(self._service, self._connection, dataset_id, others=new)
        return self._read[dataset_id]


def counted_total(service: Service, connection: Connection, dataset_id: int) -> Cost:
    """Return the epsilon and delta that count towards the limit of a dataset."""
    return _total(service, _accounts(service, connection, dataset_id)[0])


def _accounts(
    service: Service, connection: Connection, dataset_id: int, *, others: Iterable[int] = ()
) -> tuple[list[Row[Any]], set[int]]:
    """All accounts of a dataset, and of datasets with the same file or the same table, as the service wrote them.

    Also the numbers of these datasets, found among those that have accounts and `others`.

    An account could be hidden by changing its project or dataset, or by removing it. Therefore everything that decides
    which accounts belong here is checked, also in projects that seem to be about other datasets.
    """
    keys = connection.execute(KEYS).all()
    service.guard.refuse_removed(connection, marks.ACCOUNT, ((key.project_id, key.user_id) for key in keys))
    about = _checked(service, connection, marks.PROJECT, {key.project_id for key in keys})
    known = _checked(service, connection, marks.DATASET, {row.dataset_id for row in about} | {dataset_id, *others})
    same = _same_tables(known, dataset_id)
    wanted = [row.id for row in about if row.dataset_id in same]
    rows = connection.execute(OF_PROJECTS, {"of_projects": wanted}).all()
    return [service.guard.checked(connection, marks.ACCOUNT, row) for row in rows], same


def _checked(service: Service, connection: Connection, kind: marks.Marked, wanted: Iterable[int]) -> list[Row[Any]]:
    rows = connection.execute(kind.rows.where(kind.table.c.id.in_(sorted(wanted)))).all()
    return [service.guard.checked(connection, kind, row) for row in rows]


def _same_tables(known: list[Row[Any]], dataset_id: int) -> set[int]:
    """The ids of the datasets with the file or the table of a dataset, including its own."""
    one = next(row for row in known if row.id == dataset_id)
    return {
        row.id
        for row in known
        if row.sha256 == one.sha256 or (one.table_sha256 is not None and row.table_sha256 == one.table_sha256)
    }


def _total(service: Service, rows: list[Row[Any]]) -> Cost:
    return sum((_counted(service, row) for row in rows), NOTHING)


def _paid(row: Row[Any]) -> Cost:
    return Cost(Fraction(row.amount), Fraction(row.delta))


def _counted(service: Service, row: Row[Any]) -> Cost:
    """The part of an account in the total of its dataset."""
    paid = _paid(row)
    if row.composition == Composition.PURE or paid == NOTHING:
        return paid
    terms = terms_of_project(service, row)
    assert isinstance(terms, QuestionTerms)
    return _whole(terms.budget)


def _added(asked: Asked, paid: Cost) -> Cost:
    """What a query adds to the total of its dataset."""
    if asked.budget.is_pure:
        return asked.cost
    return _whole(asked.budget) if paid == NOTHING else NOTHING


def _whole(budget: Budget) -> Cost:
    return Cost(exactly(budget.epsilon), exactly(budget.delta))


def _beyond(rule: str, limit: float, asked: Asked, before: Cost) -> BudgetExceeded:
    part = rule.removeprefix("dataset_")
    refusal = BudgetExceeded(
        f"rule {rule}: all people together may spend at most {part} {limit:g} on this dataset in all projects, and "
        "this query would exceed it; nothing was spent",
        code="house-rule",
        field=rule,
    )
    spent = before.amount if part == "epsilon" else before.delta
    left = max(exactly(limit) - spent, Fraction(0))
    refusal.figures = {"cost": asked.budget.cost_to_dict(asked.cost), "remaining": {part: float(left)}}
    return refusal


def dataset_budget(service: Service, actor: Actor, dataset_id: int) -> dict[str, Any]:
    """Return what was spent on a dataset, including deleted projects; sums use basic composition."""
    with service.database.reading() as connection:
        _refuse_unknown(connection, actor, dataset_id)
        rows = connection.execute(
            select(accounts, projects.c.budget, projects.c.deleted_at.label("project_deleted_at"))
            .join(projects, projects.c.id == accounts.c.project_id)
            .where(projects.c.dataset_id == dataset_id)
            .order_by(accounts.c.project_id, accounts.c.user_id)
        ).all()
        counted = counted_total(service, connection, dataset_id)
        for row in rows:
            service.guard.checked(connection, marks.ACCOUNT, row)
    shown = [_account(row) for row in rows]
    users = sorted({entry["user_id"] for entry in shown})
    return {
        "dataset_id": dataset_id,
        "accounts": shown,
        "users": [
            {"user_id": user, "spent": _sum([entry for entry in shown if entry["user_id"] == user])} for user in users
        ],
        "everybody": _sum(shown),
        "counted": {"epsilon": float(counted.amount), "delta": float(counted.delta)},
        "limit": {"epsilon": service.settings.rules.dataset_epsilon, "delta": service.settings.rules.dataset_delta},
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
        "deleted": row.project_deleted_at is not None,
        "composition": row.composition,
        "spent": _protection(budget, _paid(row)),
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
