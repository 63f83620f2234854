"""Payments for queries, several in one transaction: each query is paid for on its own, or refused, or being answered.

The account's row is locked, what was spent is read and compared with the sum of all spendings, the cost is compared
with the budget and with the limit of the dataset. Every paid query gets its own row, with a mark, and its own entries
in the audit log and in the log of spendings; the account is written once. Statements are built once, because every
query needs them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, bindparam, func, insert, or_, select

from kohorte.dp import Budget
from kohorte.dp.budget.budget import NOTHING, Cost
from kohorte.dp.budget.ledger import ANSWERED_WITHIN_SECONDS
from kohorte.errors import AccessDenied, InternalError, KohorteError
from kohorte.service.audit import Note
from kohorte.service.context import Service
from kohorte.service.integrity import marks
from kohorte.service.integrity.guard import Problem
from kohorte.service.projects.dataset_budget import Asked, DatasetTotals
from kohorte.service.storage.schema import Moment, accounts, answered, now, projects, spent


def of_account(table: Table) -> ColumnElement[bool]:
    """The rows of the account `of_project`, `of_user`."""
    return and_(table.c.project_id == bindparam("of_project"), table.c.user_id == bindparam("of_user"))


BEING_ANSWERED = (
    select(spent.c.question)
    .join(answered, answered.c.spent_id == spent.c.id, isouter=True)
    .where(
        of_account(spent),
        spent.c.question.in_(bindparam("of_questions", expanding=True)),
        or_(answered.c.spent_id.is_not(None), spent.c.at > bindparam("since", type_=Moment)),
    )
)
ALIVE = select(projects).where(projects.c.id == bindparam("of_project"), projects.c.deleted_at.is_(None))
ACCOUNT = select(accounts).where(of_account(accounts))
LOCKED_ACCOUNT = ACCOUNT.with_for_update()
SPENDINGS = select(spent.c.amount, spent.c.delta, func.count().label("times")).where(of_account(spent))
SPENDINGS = SPENDINGS.group_by(spent.c.amount, spent.c.delta)
SPEND = insert(spent).returning(spent.c.id, sort_by_parameter_order=True)
PAY = marks.ACCOUNT.marking.values(amount=bindparam("amount"), delta=bindparam("delta"))


class Key(NamedTuple):
    """The key of an account."""

    project_id: int
    user_id: int

    @property
    def parameters(self) -> dict[str, int]:
        """The parameters of `of_account`."""
        return {"of_project": self.project_id, "of_user": self.user_id}


@dataclass(frozen=True)
class Order:
    """A query, its cost, and the composition under which it is paid for."""

    account: Key
    question: str
    composition: str
    cost: Cost
    sealed_sql: bytes = field(repr=False)

    @property
    def facts(self) -> dict[str, Any]:
        """What the table of spendings and the log of spendings say."""
        return {
            "project_id": self.account.project_id,
            "user_id": self.account.user_id,
            "question": self.question,
            "composition": self.composition,
            "amount": str(self.cost.amount),
            "delta": str(self.cost.delta),
        }


@dataclass
class _OpenAccount:
    """An account in the transaction, with the total after all payments; a new one has no row yet."""

    row: Row[Any] | None
    composition: str
    total: Cost


class Payments:
    """The payments of one transaction: `offer` or `enter` each, then `write` all; before that nothing is written."""

    def __init__(self, service: Service, connection: Connection) -> None:
        self._service = service
        self._connection = connection
        self._totals = DatasetTotals(service, connection)
        self._open: dict[Key, _OpenAccount] = {}
        self._projects: dict[int, Row[Any]] = {}
        self._taken: list[tuple[Order, Mapping[str, int]]] = []
        self._answered: set[tuple[Key, str]] = set()

    def look_up(self, orders: Iterable[Order]) -> None:
        """Note which of these queries are answered already, or are being answered."""
        questions: defaultdict[Key, list[str]] = defaultdict(list)
        for order in orders:
            questions[order.account].append(order.question)
        since = now() - timedelta(seconds=ANSWERED_WITHIN_SECONDS)
        for key, wanted in questions.items():
            parameters = {**key.parameters, "of_questions": wanted, "since": since}
            found = self._connection.execute(BEING_ANSWERED, parameters).scalars()
            self._answered.update((key, question) for question in found)

    def offer(self, order: Order, budget: Budget) -> Cost | KohorteError | None:
        """Take the payment for a query that was looked up, and return what the account has then paid in all.

        None if the query is being answered or was answered; a reason to refuse it is returned as an error.
        """
        try:
            project = self._living(order.account.project_id)
            account = self._opened(order.account, order.composition)
            if (order.account, order.question) in self._answered:
                return None
            budget.refuse_beyond(account.total, order.cost)
            asked = Asked(*order.account, order.cost, budget)
            self._totals.refuse_beyond(asked, project.dataset_id)
        except KohorteError as error:
            return error
        self._totals.add(asked, project.dataset_id)
        self._answered.add((order.account, order.question))
        return self._take(order, account)

    def enter(self, order: Order, *, from_log: int) -> None:
        """Take the payment for a query that was paid for already, and that the log has and the database lacks."""
        self._take(order, self._opened(order.account, order.composition), from_log=from_log)

    @property
    def facts(self) -> list[dict[str, Any]]:
        """What the log of spendings says about each payment that was taken."""
        return [order.facts for order, _ in self._taken]

    def write(self) -> list[int]:
        """Write all payments into the table of spendings, the accounts and the audit log; return their numbers."""
        if not self._taken:
            return []
        rows = [{**order.facts, "sealed_sql": order.sealed_sql, "at": now()} for order, _ in self._taken]
        numbers = [int(number) for number in self._connection.execute(SPEND, rows).scalars()]
        marked = [{**row, "id": number, "version": None} for row, number in zip(rows, numbers, strict=True)]
        self._service.guard.mark_all(self._connection, marks.SPENDING, marked)
        for key in dict.fromkeys(order.account for order, _ in self._taken):
            self._write_account(key, self._open[key])
        notes = [_note(order, number, more) for (order, more), number in zip(self._taken, numbers, strict=True)]
        self._service.log.append_all(self._connection, notes)
        return numbers

    def _take(self, order: Order, account: _OpenAccount, **more: int) -> Cost:
        account.total += order.cost
        self._taken.append((order, more))
        return account.total

    def _living(self, project_id: int) -> Row[Any]:
        """A project that is not deleted."""
        if project_id not in self._projects:
            row = self._connection.execute(ALIVE, {"of_project": project_id}).one_or_none()
            if row is None:
                raise AccessDenied("there is no such project", code="not-found")
            self._projects[project_id] = self._service.guard.checked(self._connection, marks.PROJECT, row)
        return self._projects[project_id]

    def _opened(self, key: Key, composition: str) -> _OpenAccount:
        """The account, locked; what it has paid must be the sum of its spendings."""
        if key not in self._open:
            self._open[key] = self._read(key, composition)
        account = self._open[key]
        if account.composition != composition:
            raise InternalError("an account was spent under another composition", code="service-account")
        return account

    def _read(self, key: Key, composition: str) -> _OpenAccount:
        guard = self._service.guard
        row = self._connection.execute(LOCKED_ACCOUNT, key.parameters).one_or_none()
        if row is None:
            guard.refuse_known(self._connection, marks.ACCOUNT, *key)
            account = _OpenAccount(None, composition, NOTHING)
        else:
            guard.checked(self._connection, marks.ACCOUNT, row)
            account = _OpenAccount(row, row.composition, total_of(row))
        if account.total != _sum(self._connection.execute(SPENDINGS, key.parameters).all()):
            raise guard.refused_key(marks.ACCOUNT, key, Problem.MISSING if row is None else Problem.CHANGED)
        return account

    def _write_account(self, key: Key, account: _OpenAccount) -> None:
        after = {"amount": str(account.total.amount), "delta": str(account.total.delta)}
        if account.row is not None:
            self._service.guard.rewrite(self._connection, marks.ACCOUNT, account.row, PAY, **after)
            return
        first = {"project_id": key.project_id, "user_id": key.user_id, "composition": account.composition, "mark": ""}
        self._connection.execute(insert(accounts), {**first, **after})
        self._service.guard.mark(self._connection, marks.ACCOUNT, *key)


def total_of(account: Row[Any]) -> Cost:
    """Return what an account has paid."""
    return Cost(Fraction(account.amount), Fraction(account.delta))


def _note(order: Order, number: int, more: Mapping[str, int]) -> Note:
    project_id, user_id = order.account
    details: dict[str, str | int | float | None] = {
        "question": number,
        **more,
        "composition": order.composition,
        "amount": str(order.cost.amount),
        "delta": str(order.cost.delta),
    }
    return Note("spend", f"project {project_id}", user_id, details)


def _sum(spendings: Sequence[Row[Any]]) -> Cost | None:
    """The sum of spendings, exactly; None if one of them is not a number."""
    try:
        costs = [(row.times * Fraction(row.amount), row.times * Fraction(row.delta)) for row in spendings]
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return Cost(sum((amount for amount, _ in costs), Fraction(0)), sum((delta for _, delta in costs), Fraction(0)))
