"""The book of what was spent, in the service's database: exact under threads, processes and the loss of any of them.

A question is paid for in one transaction: the account's row is locked, what was spent is read, the cost is held against
the budget and written, and the audit log gets its entry. Two identical questions of one account at the same moment: in
one process the second waits and is answered from the record, in two processes both pay.
"""

from __future__ import annotations

import threading
from fractions import Fraction
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Row, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from kohorte.dp import Budget
from kohorte.dp.budget import NOTHING, Cost
from kohorte.dp.ledger import Account
from kohorte.errors import AccessDenied, InternalError
from kohorte.service.context import Service
from kohorte.service.storage.schema import accounts, answered, now, projects, spent


class DatabaseLedger:
    """The account of one user in one project, while one question is asked (`kohorte.dp.Ledger`)."""

    def __init__(self, service: Service, project_id: int, user_id: int, *, sql: str = "") -> None:
        self.service = service
        self.project_id = project_id
        self.user_id = user_id
        self._sql = sql
        self._turn: _Turn | None = None

    def __repr__(self) -> str:
        return f"<DatabaseLedger of project {self.project_id}, user {self.user_id}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_up_turn()

    def recorded(self, account: Account, question: str) -> str | None:
        """Return the first release that was recorded for a question; wait while the same one is being answered."""
        del account
        self._give_up_turn()
        self._turn = TURNS.take((str(self.service.settings.folder), self.project_id, self.user_id, question))
        with self.service.database.reading() as connection:
            found = connection.execute(
                select(spent.c.id, answered.c.sealed_release)
                .join(answered, answered.c.spent_id == spent.c.id)
                .where(self._own(spent), spent.c.question == question)
                .order_by(spent.c.id)
                .limit(1)
            ).one_or_none()
        if found is None:
            return None
        self._give_up_turn()
        return self.service.vault.unseal(found.sealed_release, label=f"answer {found.id}").decode()

    def reserve(self, account: Account, question: str, cost: Cost, budget: Budget) -> int:
        """Pay for a question, and return its number; a project that is gone is not paid for."""
        del account
        with self.service.database.writing() as connection:
            self._refuse_deleted(connection)
            row = self._locked_account(connection, budget)
            paid = Cost(Fraction(row.amount), Fraction(row.delta))
            budget.refuse_beyond(paid, cost)
            number = self._spend(connection, question, cost, budget)
            total = paid + cost
            connection.execute(
                update(accounts).where(self._own(accounts)).values(amount=str(total.amount), delta=str(total.delta))
            )
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
        return number

    def record(self, number: int, released: str) -> None:
        """Write down what a paid question released; nobody gets the answer before."""
        sealed = self.service.vault.seal(released, label=f"answer {number}")
        with self.service.database.writing() as connection:
            connection.execute(insert(answered).values(spent_id=number, sealed_release=sealed, at=now()))
        self._give_up_turn()

    def spent(self, account: Account) -> Cost:
        """Return all that the account has paid."""
        del account
        with self.service.database.reading() as connection:
            row = connection.execute(select(accounts).where(self._own(accounts))).one_or_none()
        return NOTHING if row is None else Cost(Fraction(row.amount), Fraction(row.delta))

    def _own(self, table: Any) -> Any:
        return (table.c.project_id == self.project_id) & (table.c.user_id == self.user_id)

    def _refuse_deleted(self, connection: Connection) -> None:
        alive = select(projects.c.id).where(projects.c.id == self.project_id, projects.c.deleted_at.is_(None))
        if connection.execute(alive).one_or_none() is None:
            raise AccessDenied("there is no such project", code="not-found")

    def _locked_account(self, connection: Connection, budget: Budget) -> Row[Any]:
        dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
        new = {"composition": str(budget.composition), "amount": "0", "delta": "0"}
        connection.execute(
            dialect.insert(accounts)
            .values(project_id=self.project_id, user_id=self.user_id, **new)
            .on_conflict_do_nothing()
        )
        row = connection.execute(select(accounts).where(self._own(accounts)).with_for_update()).one()
        if row.composition != budget.composition:
            raise InternalError("an account was spent under another composition", code="service-account")
        return row

    def _spend(self, connection: Connection, question: str, cost: Cost, budget: Budget) -> int:
        sealed = self.service.vault.seal(self._sql, label=sql_label(self.project_id, self.user_id))
        found = connection.execute(
            insert(spent)
            .values(
                project_id=self.project_id,
                user_id=self.user_id,
                question=question,
                sealed_sql=sealed,
                composition=str(budget.composition),
                amount=str(cost.amount),
                delta=str(cost.delta),
                at=now(),
            )
            .returning(spent.c.id)
        )
        return int(found.scalar_one())

    def _give_up_turn(self) -> None:
        if self._turn is not None:
            TURNS.give_up(self._turn)
            self._turn = None


def sql_label(project_id: int, user_id: int) -> str:
    """Return the label under which the text of a question is sealed."""
    return f"question of user {user_id} in project {project_id}"


class _Turn:
    """A question that is being answered, and how many have it or wait for it."""

    def __init__(self, key: tuple[object, ...]) -> None:
        self.key = key
        self.lock = threading.Lock()
        self.wanted = 0


class _Turns:
    """One turn at a time for each question of each account, in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[tuple[object, ...], _Turn] = {}

    def take(self, key: tuple[object, ...]) -> _Turn:
        """Wait until nobody else answers the question."""
        with self._lock:
            turn = self._turns.setdefault(key, _Turn(key))
            turn.wanted += 1
        turn.lock.acquire()
        return turn

    def give_up(self, turn: _Turn) -> None:
        """Let the next one have its turn."""
        turn.lock.release()
        with self._lock:
            turn.wanted -= 1
            if not turn.wanted:
                del self._turns[turn.key]


TURNS = _Turns()
