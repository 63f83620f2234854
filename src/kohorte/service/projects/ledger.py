"""The ledger in the service's database: exact with several threads and processes, also if one of them dies.

A query is paid for in one transaction: the account's row is locked, what was spent is read and compared with the sum of
all spendings, the cost is compared with the budget and with the limit of the dataset and written, and the audit log and
the log of spendings get their entries. A process with the same query at the same moment waits for the recorded answer.
Statements are built once, because every query needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, bindparam, func, insert, or_, select

from kohorte.dp import Account, Budget
from kohorte.dp.budget.budget import NOTHING, Cost
from kohorte.dp.budget.ledger import ANSWERED_WITHIN_SECONDS
from kohorte.errors import AccessDenied, InternalError
from kohorte.service.context import Service
from kohorte.service.integrity import marks
from kohorte.service.integrity.guard import Problem
from kohorte.service.projects.dataset_budget import Asked, refuse_beyond_total
from kohorte.service.spent_log import Entry, Head
from kohorte.service.storage.schema import Moment, accounts, answered, now, projects, spent, users


def _own(table: Table) -> ColumnElement[bool]:
    return and_(table.c.project_id == bindparam("of_project"), table.c.user_id == bindparam("of_user"))


RECORDED = (
    select(spent, answered.c.sealed_release)
    .join(answered, answered.c.spent_id == spent.c.id)
    .where(_own(spent), spent.c.question == bindparam("of_question"))
    .order_by(spent.c.id)
    .limit(1)
)
BEING_ANSWERED = (
    select(spent.c.id)
    .join(answered, answered.c.spent_id == spent.c.id, isouter=True)
    .where(
        _own(spent),
        spent.c.question == bindparam("of_question"),
        or_(answered.c.spent_id.is_not(None), spent.c.at > bindparam("since", type_=Moment)),
    )
    .limit(1)
)
ALIVE = select(projects).where(projects.c.id == bindparam("of_project"), projects.c.deleted_at.is_(None))
ACCOUNT = select(accounts).where(_own(accounts))
LOCKED_ACCOUNT = ACCOUNT.with_for_update()
SPENDINGS = select(spent.c.amount, spent.c.delta, func.count().label("times")).where(_own(spent))
SPENDINGS = SPENDINGS.group_by(spent.c.amount, spent.c.delta)
SPEND = insert(spent).returning(spent.c.id)
PAY = marks.ACCOUNT.marking.values(amount=bindparam("amount"), delta=bindparam("delta"))

LOST_SQL = "(entered again from the log of spendings; the text is lost)"


@dataclass(frozen=True)
class Bought:
    """A query, its cost, and the composition under which it is paid for."""

    question: str
    composition: str
    cost: Cost


class DatabaseLedger:
    """The account of one user in one project, during one query (`kohorte.dp.Ledger`)."""

    def __init__(self, service: Service, project_id: int, user_id: int, *, sql: str = "") -> None:
        self.service = service
        self.project_id = project_id
        self.user_id = user_id
        self._sql = sql
        self._paid: Cost | None = None

    def __repr__(self) -> str:
        return f"<DatabaseLedger of project {self.project_id}, user {self.user_id}>"

    @property
    def account(self) -> Account:
        """The account whose budget is spent."""
        return Account(f"project {self.project_id}", f"user {self.user_id}")

    def recorded(self, query: str) -> str | None:
        """Return the first answer that was recorded for a query, if any, and remember what was paid so far."""
        with self.service.database.reading() as connection:
            found = connection.execute(RECORDED, {**self._own, "of_question": query}).one_or_none()
            self._paid = self._checked(connection)
            if found is None:
                return None
            self.service.guard.checked(connection, marks.SPENDING, found)
        return self.service.vault.unseal(found.sealed_release, label=answer_label(found.id)).decode()

    def reserve(self, query: str, cost: Cost, budget: Budget) -> int | None:
        """Pay for a query, and return its number; None if another process has just paid for the same query."""
        with self.service.database.writing() as connection:
            head = enter_missing(self.service, connection)
            self._refuse_deleted(connection)
            account = self._paid_account(connection, str(budget.composition))
            before = _total(account)
            lately = {"of_question": query, "since": now() - timedelta(seconds=ANSWERED_WITHIN_SECONDS)}
            if connection.execute(BEING_ANSWERED, {**self._own, **lately}).first() is not None:
                return None
            budget.refuse_beyond(before, cost)
            refuse_beyond_total(self.service, connection, Asked(self.project_id, self.user_id, cost, budget))
            bought = Bought(query, str(budget.composition), cost)
            number = self.pay(connection, bought, account)
            self.service.spent_log.append(head, {"kind": "spend", **self._facts(bought)}).save(connection)
            total = before + cost
        self._paid = total
        return number

    def pay(self, connection: Connection, bought: Bought, account: Row[Any], **details: int) -> int:
        """Write a spending into the account, the table of spendings and the audit log; return its number."""
        number = self._spend(connection, bought)
        after = _written(_total(account) + bought.cost)
        self.service.guard.rewrite(connection, marks.ACCOUNT, account, PAY, **after)
        self.service.log.append(
            connection,
            "spend",
            f"project {self.project_id}",
            actor=self.user_id,
            question=number,
            **details,
            composition=bought.composition,
            amount=str(bought.cost.amount),
            delta=str(bought.cost.delta),
        )
        return number

    def enter_again(self, connection: Connection, bought: Bought, number: int) -> None:
        """Pay for a spending that the log has and the database lacks."""
        self.pay(connection, bought, self._paid_account(connection, bought.composition), from_log=number)

    def record(self, number: int, released: str) -> None:
        """Record the answer to a paid query; nobody gets the answer before."""
        sealed = self.service.vault.seal(released, label=answer_label(number))
        with self.service.database.writing() as connection:
            connection.execute(insert(answered), {"spent_id": number, "sealed_release": sealed, "at": now()})

    def spent(self) -> Cost:
        """Return the total that the account has paid."""
        if self._paid is None:
            with self.service.database.reading() as connection:
                self._paid = self._checked(connection)
        return self._paid

    def _checked(self, connection: Connection) -> Cost:
        """What the account has paid; an account that was changed or removed outside the service is refused."""
        row = connection.execute(ACCOUNT, self._own).one_or_none()
        if row is None:
            self.service.guard.refuse_known(connection, marks.ACCOUNT, self.project_id, self.user_id)
            return NOTHING
        self.service.guard.checked(connection, marks.ACCOUNT, row)
        return _total(row)

    def _paid_account(self, connection: Connection, composition: str) -> Row[Any]:
        """The account with what was paid before this query, locked; it must be the sum of its spendings."""
        row = self._locked_account(connection, composition)
        if _total(row) != _sum(connection.execute(SPENDINGS, self._own).all()):
            raise self.service.guard.refused(marks.ACCOUNT, row, Problem.CHANGED)
        return row

    @property
    def _own(self) -> dict[str, int]:
        return {"of_project": self.project_id, "of_user": self.user_id}

    def _refuse_deleted(self, connection: Connection) -> None:
        row = connection.execute(ALIVE, {"of_project": self.project_id}).one_or_none()
        if row is None:
            raise AccessDenied("there is no such project", code="not-found")
        self.service.guard.checked(connection, marks.PROJECT, row)

    def _locked_account(self, connection: Connection, composition: str) -> Row[Any]:
        guard, key = self.service.guard, (self.project_id, self.user_id)
        row = connection.execute(LOCKED_ACCOUNT, self._own).one_or_none()
        if row is None:
            guard.refuse_known(connection, marks.ACCOUNT, *key)
            first = {"project_id": self.project_id, "user_id": self.user_id, "composition": composition, "mark": ""}
            connection.execute(insert(accounts), {**first, **_written(NOTHING)})
            guard.mark(connection, marks.ACCOUNT, *key)
            row = connection.execute(LOCKED_ACCOUNT, self._own).one()
        guard.checked(connection, marks.ACCOUNT, row)
        if row.composition != composition:
            raise InternalError("an account was spent under another composition", code="service-account")
        return row

    def _spend(self, connection: Connection, bought: Bought) -> int:
        sealed = self.service.vault.seal(self._sql, label=sql_label(self.project_id, self.user_id))
        entry = {**self._facts(bought), "sealed_sql": sealed, "at": now()}
        number = int(connection.execute(SPEND, entry).scalar_one())
        self.service.guard.mark(connection, marks.SPENDING, number)
        return number

    def _facts(self, bought: Bought) -> dict[str, Any]:
        return {
            "project_id": self.project_id,
            "user_id": self.user_id,
            "question": bought.question,
            "composition": bought.composition,
            "amount": str(bought.cost.amount),
            "delta": str(bought.cost.delta),
        }


def enter_missing(service: Service, connection: Connection) -> Head:
    """Enter the spendings that the log has and the database lacks; return the head, which remains locked."""
    head = Head.locked(connection)
    entries = service.spent_log.after(head)
    enter(service, connection, entries)
    if entries:
        head = entries[-1].head
        head.save(connection)
    return head


def enter(service: Service, connection: Connection, entries: Sequence[Entry]) -> int:
    """Enter the spendings among the entries of the log; return how many there were."""
    spendings = [entry for entry in entries if entry.facts["kind"] == "spend"]
    for entry in spendings:
        _enter(service, connection, entry)
    return len(spendings)


def _enter(service: Service, connection: Connection, entry: Entry) -> None:
    """Enter one spending; if the restored database lacks the project or the user, only the audit log records it.

    A project with another composition is a different one that received the number of the lost project.
    """
    facts = entry.facts
    bought = Bought(facts["question"], facts["composition"], Cost(Fraction(facts["amount"]), Fraction(facts["delta"])))
    user = select(users.c.id).where(users.c.id == facts["user_id"]).exists()
    known = select(projects.c.budget).where(projects.c.id == facts["project_id"], projects.c.interactive, user)
    budget = connection.execute(known).scalar_one_or_none()
    if budget is None or budget["composition"] != bought.composition:
        lost = {name: facts[name] for name in ("user_id", "composition", "amount", "delta")}
        about = f"project {facts['project_id']}"
        service.log.append(
            connection, "spending-of-lost-project", about, actor=None, from_log=entry.head.number, **lost
        )
        return
    ledger = DatabaseLedger(service, facts["project_id"], facts["user_id"], sql=LOST_SQL)
    ledger.enter_again(connection, bought, entry.head.number)


def _total(account: Row[Any]) -> Cost:
    return Cost(Fraction(account.amount), Fraction(account.delta))


def _written(total: Cost) -> dict[str, str]:
    return {"amount": str(total.amount), "delta": str(total.delta)}


def _sum(spendings: Sequence[Row[Any]]) -> Cost | None:
    """The sum of spendings, exactly; None if one of them is not a number."""
    try:
        costs = [(row.times * Fraction(row.amount), row.times * Fraction(row.delta)) for row in spendings]
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return Cost(sum((amount for amount, _ in costs), Fraction(0)), sum((delta for _, delta in costs), Fraction(0)))


def sql_label(project_id: int, user_id: int) -> str:
    """Return the label under which the text of a query is sealed."""
    return f"question of user {user_id} in project {project_id}"


def answer_label(number: int) -> str:
    """Return the label under which the answer to a paid query is sealed."""
    return f"answer {number}"
