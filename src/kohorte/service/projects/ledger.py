"""The book of what was spent, in the service's database: exact under threads, processes and the loss of any of them.

A question is paid for in one transaction: the account's row is locked, what was spent is read, the cost is held against
the budget and written, and the audit log gets its entry. Whoever asks the same at the same moment, in this process or
another, waits for the record. Statements are made once: every question needs all of them.
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta
from fractions import Fraction
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, bindparam, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from kohorte.dp import Budget
from kohorte.dp.budget import NOTHING, Cost
from kohorte.dp.ledger import ANSWERED_WITHIN_SECONDS, Account
from kohorte.errors import AccessDenied, EngineError, InternalError
from kohorte.service.context import Service
from kohorte.service.storage.schema import Moment, accounts, answered, now, projects, spent


def _own(table: Table) -> ColumnElement[bool]:
    return and_(table.c.project_id == bindparam("of_project"), table.c.user_id == bindparam("of_user"))


RECORDED = (
    select(spent.c.id, answered.c.sealed_release)
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
ALIVE = select(projects.c.id).where(projects.c.id == bindparam("of_project"), projects.c.deleted_at.is_(None))
ACCOUNT = select(accounts).where(_own(accounts))
LOCKED_ACCOUNT = ACCOUNT.with_for_update()
OPEN = {
    "sqlite": sqlite.insert(accounts).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(accounts).on_conflict_do_nothing(),
}
SPEND = insert(spent).returning(spent.c.id)
PAY = (
    update(accounts)
    .where(_own(accounts))
    .values(amount=bindparam("amount"), delta=bindparam("delta"), mac=bindparam("mac"))
)


class DatabaseLedger:
    """The account of one user in one project, while one question is asked (`kohorte.dp.Ledger`)."""

    def __init__(self, service: Service, project_id: int, user_id: int, *, sql: str = "") -> None:
        self.service = service
        self.project_id = project_id
        self.user_id = user_id
        self._sql = sql
        self._paid: Cost | None = None

    def __repr__(self) -> str:
        return f"<DatabaseLedger of project {self.project_id}, user {self.user_id}>"

    def recorded(self, account: Account, question: str) -> str | None:
        """Return the first release that was recorded for a question, if any; and remember what was paid so far."""
        del account
        with self.service.database.reading() as connection:
            found = connection.execute(RECORDED, {**self._own, "of_question": question}).one_or_none()
            self._paid = self._checked(connection.execute(ACCOUNT, self._own).one_or_none())
        if found is None:
            return None
        return self.service.vault.unseal(found.sealed_release, label=f"answer {found.id}").decode()

    def reserve(self, account: Account, question: str, cost: Cost, budget: Budget) -> int | None:
        """Pay for a question, and return its number; or None where another process has just paid for the same one."""
        del account
        with self.service.database.writing() as connection:
            self._refuse_deleted(connection)
            before = self._checked(self._locked_account(connection, budget))
            lately = {"of_question": question, "since": now() - timedelta(seconds=ANSWERED_WITHIN_SECONDS)}
            if connection.execute(BEING_ANSWERED, {**self._own, **lately}).first() is not None:
                return None
            budget.refuse_beyond(before, cost)
            number = self._spend(connection, question, cost, budget)
            total = before + cost
            connection.execute(PAY, {**self._own, **self._written(total, budget)})
            self.service.log.append(
                connection,
                "spend",
                f"project {self.project_id}",
                actor=self.user_id,
                question=number,
                composition=str(budget.composition),
                amount=str(cost.amount),
                delta=str(cost.delta),
            )
        self._paid = total
        return number

    def record(self, number: int, released: str) -> None:
        """Write down what a paid question released; nobody gets the answer before."""
        sealed = self.service.vault.seal(released, label=f"answer {number}")
        with self.service.database.writing() as connection:
            connection.execute(insert(answered), {"spent_id": number, "sealed_release": sealed, "at": now()})

    def spent(self, account: Account) -> Cost:
        """Return all that the account has paid."""
        del account
        if self._paid is None:
            with self.service.database.reading() as connection:
                self._paid = self._checked(connection.execute(ACCOUNT, self._own).one_or_none())
        return self._paid

    def _checked(self, row: Row[Any] | None) -> Cost:
        """What an account says, if it is as we wrote it: a database can be written to by others."""
        if row is None:
            return NOTHING
        if not hmac.compare_digest(row.mac, self._mac(row.composition, row.amount, row.delta)):
            raise EngineError("an account was changed from outside; restore it from a backup", code="service-damaged")
        return Cost(Fraction(row.amount), Fraction(row.delta))

    def _written(self, total: Cost, budget: Budget) -> dict[str, str]:
        amount, delta = str(total.amount), str(total.delta)
        return {"amount": amount, "delta": delta, "mac": self._mac(str(budget.composition), amount, delta)}

    def _mac(self, composition: str, amount: str, delta: str) -> str:
        text = f"{self.project_id} {self.user_id} {composition} {amount} {delta}"
        return hmac.new(self.service.vault.derived("accounts"), text.encode(), hashlib.sha256).hexdigest()

    @property
    def _own(self) -> dict[str, int]:
        return {"of_project": self.project_id, "of_user": self.user_id}

    def _refuse_deleted(self, connection: Connection) -> None:
        if connection.execute(ALIVE, {"of_project": self.project_id}).one_or_none() is None:
            raise AccessDenied("there is no such project", code="not-found")

    def _locked_account(self, connection: Connection, budget: Budget) -> Row[Any]:
        row = connection.execute(LOCKED_ACCOUNT, self._own).one_or_none()
        if row is None:
            first = {"project_id": self.project_id, "user_id": self.user_id, **self._written(NOTHING, budget)}
            connection.execute(OPEN[connection.dialect.name], {**first, "composition": str(budget.composition)})
            row = connection.execute(LOCKED_ACCOUNT, self._own).one()
        if row.composition != budget.composition:
            raise InternalError("an account was spent under another composition", code="service-account")
        return row

    def _spend(self, connection: Connection, question: str, cost: Cost, budget: Budget) -> int:
        entry = {
            "project_id": self.project_id,
            "user_id": self.user_id,
            "question": question,
            "sealed_sql": self.service.vault.seal(self._sql, label=sql_label(self.project_id, self.user_id)),
            "composition": str(budget.composition),
            "amount": str(cost.amount),
            "delta": str(cost.delta),
            "at": now(),
        }
        return int(connection.execute(SPEND, entry).scalar_one())


def sql_label(project_id: int, user_id: int) -> str:
    """Return the label under which the text of a question is sealed."""
    return f"question of user {user_id} in project {project_id}"
