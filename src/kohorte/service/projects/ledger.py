"""The ledger in the service's database: exact with several threads and processes, also if one of them dies.

Queries that wait to be paid for are paid for together (`payments`): one transaction, and one wait for the disk, for all
of them. Their answers are recorded together, too. No thread goes on before its payment, or its record, is on disk. A
process with the same query at the same moment waits for the recorded answer.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sqlalchemy import Connection, bindparam, insert, select

from kohorte.dp import Account, Budget
from kohorte.dp.budget.budget import NOTHING, Cost
from kohorte.errors import KohorteError
from kohorte.service.context import Service
from kohorte.service.integrity import marks
from kohorte.service.projects.payments import ACCOUNT, Key, Order, Payments, of_account, total_of
from kohorte.service.spent_log import Entry, Head
from kohorte.service.storage.database import Database
from kohorte.service.storage.schema import answered, now, projects, spent, users
from kohorte.service.storage.together import Take, Together

RECORDED = (
    select(spent, answered.c.sealed_release)
    .join(answered, answered.c.spent_id == spent.c.id)
    .where(of_account(spent), spent.c.question == bindparam("of_question"))
    .order_by(spent.c.id)
    .limit(1)
)
RECORD = insert(answered)
LOST_SQL = "(entered again from the log of spendings; the text is lost)"


@dataclass(frozen=True)
class Paid:
    """The number of a spending, and what its account has then paid in all."""

    number: int
    total: Cost


@dataclass(frozen=True)
class _Purchase:
    """A query that somebody wants to pay for."""

    service: Service
    order: Order
    budget: Budget


@dataclass(frozen=True)
class _Release:
    """The answer to a paid query, sealed."""

    service: Service
    number: int
    sealed: bytes


_Verdict: TypeAlias = Paid | KohorteError | None


def _settle(first: _Purchase | _Release, take: Take[_Purchase | _Release]) -> list[_Verdict]:
    """Pay and record in one transaction; if the payments fail, the answers to queries that are paid for are recorded.

    A process that dies in between has paid for what might have been shown.
    """
    orders: list[_Purchase | _Release] = []
    try:
        with first.service.database.writing() as connection:
            orders.extend(take())
            return _settled(first.service, connection, orders)
    except KohorteError as error:
        releases = [one for one in orders if isinstance(one, _Release)]
        if len(releases) in (0, len(orders)):
            raise
        with first.service.database.writing() as connection:
            _record(connection, releases)
        return [None if isinstance(one, _Release) else error for one in orders]


def _settled(service: Service, connection: Connection, orders: Sequence[_Purchase | _Release]) -> list[_Verdict]:
    purchases = [one for one in orders if isinstance(one, _Purchase)]
    _record(connection, [one for one in orders if isinstance(one, _Release)])
    verdicts = iter(_paid(service, connection, purchases) if purchases else ())
    return [next(verdicts) if isinstance(one, _Purchase) else None for one in orders]


def _paid(service: Service, connection: Connection, purchases: Sequence[_Purchase]) -> list[_Verdict]:
    """Pay for queries; one that is refused, or that another process answers, changes nothing."""
    head = enter_missing(service, connection)
    payments = Payments(service, connection)
    payments.look_up(one.order for one in purchases)
    verdicts = [payments.offer(one.order, one.budget) for one in purchases]
    numbers = payments.write()
    if numbers:
        service.spent_log.append(head, *({"kind": "spend", **facts} for facts in payments.facts)).save(connection)
    following = iter(numbers)
    return [Paid(next(following), total) if isinstance(total, Cost) else total for total in verdicts]


def _record(connection: Connection, releases: Sequence[_Release]) -> None:
    rows = [{"spent_id": one.number, "sealed_release": one.sealed, "at": now()} for one in releases]
    if rows:
        connection.execute(RECORD, rows)


_counters: weakref.WeakKeyDictionary[Database, Together[_Purchase | _Release, _Verdict]] = weakref.WeakKeyDictionary()
_counters_lock = threading.Lock()


def _counter(service: Service) -> Together[_Purchase | _Release, _Verdict]:
    """Where the threads of a process come to pay and to record, together with others that come at the same time."""
    with _counters_lock:
        return _counters.setdefault(service.database, Together(_settle))


class DatabaseLedger:
    """The account of one user in one project, during one query (`kohorte.dp.Ledger`)."""

    def __init__(self, service: Service, project_id: int, user_id: int, *, sql: str = "") -> None:
        self.service = service
        self.key = Key(project_id, user_id)
        self._sql = sql
        self._paid: Cost | None = None

    def __repr__(self) -> str:
        return f"<DatabaseLedger of project {self.key.project_id}, user {self.key.user_id}>"

    @property
    def account(self) -> Account:
        """The account whose budget is spent."""
        return Account(f"project {self.key.project_id}", f"user {self.key.user_id}")

    def recorded(self, query: str) -> str | None:
        """Return the first answer that was recorded for a query, if any, and remember what was paid so far."""
        with self.service.database.reading() as connection:
            found = connection.execute(RECORDED, {**self.key.parameters, "of_question": query}).one_or_none()
            if found is None:
                return None
            self._paid = self._checked(connection)
            self.service.guard.checked(connection, marks.SPENDING, found)
        return self.service.vault.unseal(found.sealed_release, label=answer_label(found.id)).decode()

    def reserve(self, query: str, cost: Cost, budget: Budget) -> int | None:
        """Pay for a query, and return its number; None if another process has just paid for the same query."""
        sealed = self.service.vault.seal(self._sql, label=sql_label(*self.key))
        order = Order(self.key, query, str(budget.composition), cost, sealed)
        verdict = _counter(self.service)(_Purchase(self.service, order, budget))
        if isinstance(verdict, KohorteError):
            raise verdict
        if verdict is None:
            return None
        self._paid = verdict.total
        return verdict.number

    def record(self, number: int, released: str) -> None:
        """Record the answer to a paid query; nobody gets the answer before."""
        sealed = self.service.vault.seal(released, label=answer_label(number))
        _counter(self.service)(_Release(self.service, number, sealed))

    def spent(self) -> Cost:
        """Return the total that the account has paid."""
        if self._paid is None:
            with self.service.database.reading() as connection:
                self._paid = self._checked(connection)
        return self._paid

    def _checked(self, connection: Connection) -> Cost:
        """What the account has paid; an account that was changed or removed outside the service is refused."""
        row = connection.execute(ACCOUNT, self.key.parameters).one_or_none()
        if row is None:
            self.service.guard.refuse_known(connection, marks.ACCOUNT, *self.key)
            return NOTHING
        self.service.guard.checked(connection, marks.ACCOUNT, row)
        return total_of(row)


def enter_missing(service: Service, connection: Connection) -> Head:
    """Enter the spendings that the log has and the database lacks; return the head, which remains locked."""
    head = Head.locked(connection)
    entries = service.spent_log.after(head)
    if entries:
        enter(service, connection, entries)
        head = entries[-1].head
        head.save(connection)
    return head


def enter(service: Service, connection: Connection, entries: Sequence[Entry]) -> int:
    """Enter the spendings among the entries of the log; return how many there were."""
    spendings = [entry for entry in entries if entry.facts["kind"] == "spend"]
    payments = Payments(service, connection)
    for entry in spendings:
        _enter(service, connection, payments, entry)
    payments.write()
    return len(spendings)


def _enter(service: Service, connection: Connection, payments: Payments, entry: Entry) -> None:
    """Enter one spending; if the restored database lacks the project or the user, only the audit log records it.

    A project with another composition is a different one that received the number of the lost project.
    """
    facts = entry.facts
    key, composition = Key(facts["project_id"], facts["user_id"]), facts["composition"]
    user = select(users.c.id).where(users.c.id == key.user_id).exists()
    known = select(projects.c.budget).where(projects.c.id == key.project_id, projects.c.interactive, user)
    budget = connection.execute(known).scalar_one_or_none()
    if budget is None or budget["composition"] != composition:
        lost = {name: facts[name] for name in ("user_id", "composition", "amount", "delta")}
        about = f"project {facts['project_id']}"
        service.log.append(
            connection, "spending-of-lost-project", about, actor=None, from_log=entry.head.number, **lost
        )
        return
    cost = Cost(Fraction(facts["amount"]), Fraction(facts["delta"]))
    sealed = service.vault.seal(LOST_SQL, label=sql_label(*key))
    payments.enter(Order(key, facts["question"], composition, cost, sealed), from_log=entry.head.number)


def sql_label(project_id: int, user_id: int) -> str:
    """Return the label under which the text of a query is sealed."""
    return f"question of user {user_id} in project {project_id}"


def answer_label(number: int) -> str:
    """Return the label under which the answer to a paid query is sealed."""
    return f"answer {number}"
