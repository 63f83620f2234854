"""Queries that are paid for in one transaction: each on its own or not at all, and never beyond a budget."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from sqlalchemy import func, select

from kohorte.dp import Budget
from kohorte.dp.budget.budget import Cost
from kohorte.errors import BudgetExceeded, EngineError
from kohorte.service.access import Actor
from kohorte.service.audit import verify_log
from kohorte.service.context import Service
from kohorte.service.house_rules import HouseRules
from kohorte.service.integrity import marks
from kohorte.service.projects import queries, store, tables
from kohorte.service.projects.ledger import DatabaseLedger, _counter
from kohorte.service.projects.measuring.turns import OF_ONE_USER, PREPARING, InTurn, Turns
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import audit, datasets, spent
from support.projects import interactive, patients, store_dataset
from support.service import RESEARCHER, STEWARD, new_user

BUDGET = Budget(1, 1e-6)
TENTH = Cost(Fraction(1, 10))


@pytest.fixture
def service_settings(service_settings: Settings) -> Settings:
    return replace(service_settings, rules=HouseRules(dataset_epsilon=1.5))


@pytest.fixture
def project(service: Service) -> tuple[int, int]:
    """A project with questions, and its researcher."""
    return new_project(service)


def new_project(service: Service, *, rows: int = 20) -> tuple[int, int]:
    """A project with questions about a dataset of its own, and its researcher."""
    steward, researcher = new_user(service, privileged=True), new_user(service, privileged=False)
    dataset = store_dataset(service, patients(rows), steward.id)
    wanted = store.NewProject("questions", "", dataset, researcher.id, config=interactive(1, 1e-6))
    return store.create(service, Actor(steward.id, STEWARD, "s"), wanted).project_id, researcher.id


@contextmanager
def busy(service: Service) -> Iterator[None]:
    """Let nobody write meanwhile, so that all who want to pay wait together."""
    with service.database._fair_lock:
        yield


def together(service: Service, work: list[Callable[[], object]]) -> list[Future[object]]:
    """Let threads pay or record in one transaction."""
    pool = ThreadPoolExecutor(len(work))
    with busy(service):
        found = []
        for place, one in enumerate(work, start=1):
            found.append(pool.submit(one))
            while len(_counter(service)._waiting) < place:
                threading.Event().wait(0.001)
    pool.shutdown()
    return found


def paying(service: Service, key: tuple[int, int], question: str, cost: Cost = TENTH) -> Callable[[], object]:
    return lambda: DatabaseLedger(service, *key, sql="SELECT").reserve(question, cost, BUDGET)


def begun(service: Service) -> list[int]:
    """Count the writing transactions from now on."""
    counted: list[int] = []
    watch = service.database.watch
    assert watch is not None
    committed = watch.committed
    watch.committed = lambda changes: (counted.append(1), committed(changes))[1]  # type: ignore[method-assign]
    return counted


def total(service: Service) -> Fraction:
    with service.database.reading() as connection:
        return sum(map(Fraction, connection.execute(select(spent.c.amount)).scalars()), Fraction(0))


def test_one_transaction_pays_for_all_who_wait_each_with_its_row_entry_and_line(
    service: Service, project: tuple[int, int]
) -> None:
    lines = service.spent_log.path.read_text().count("\n")
    transactions = begun(service)
    found = together(service, [paying(service, project, f"q{number}") for number in range(8)])
    numbers = [one.result() for one in found]
    assert len(transactions) == 1
    assert len(set(numbers)) == 8
    with service.database.reading() as connection:
        rows = connection.execute(select(spent).order_by(spent.c.id)).all()
        noted = connection.execute(select(audit.c.details).where(audit.c.action == "spend")).scalars().all()
        for row in rows:
            service.guard.checked(connection, marks.SPENDING, row)
    assert [row.question for row in rows] == [f"q{number}" for number in range(8)]
    assert [row.id for row in rows] == numbers == [entry["question"] for entry in noted]
    told = [json.loads(line) for line in service.spent_log.path.read_text().splitlines()[lines:]]
    assert [entry["question"] for entry in told] == [row.question for row in rows]
    assert DatabaseLedger(service, *project).spent().amount == total(service) == Fraction(8, 10)
    assert verify_log(service.database, service.log).whole


def test_each_is_paid_for_or_refused_on_its_own(service: Service, project: tuple[int, int]) -> None:
    costs = [Fraction(6, 10), Fraction(6, 10), Fraction(3, 10), Fraction(2, 10), Fraction(1, 10)]
    work = [paying(service, project, f"q{number}", Cost(cost)) for number, cost in enumerate(costs)]
    found = together(service, work)
    assert [one.exception() is None for one in found] == [True, False, True, False, True]
    assert all(isinstance(found[place].exception(), BudgetExceeded) for place in (1, 3))
    assert DatabaseLedger(service, *project).spent().amount == total(service) == 1
    assert verify_log(service.database, service.log).whole


def test_the_same_query_twice_in_one_transaction_is_paid_for_once(service: Service, project: tuple[int, int]) -> None:
    found = together(service, [paying(service, project, "q") for _ in range(3)])
    assert sorted(one.result() is None for one in found) == [False, True, True]
    assert total(service) == Fraction(1, 10)


def test_the_limit_of_a_dataset_counts_what_others_pay_in_the_same_transaction(
    service: Service, project: tuple[int, int]
) -> None:
    others = [new_user(service, privileged=False).id for _ in range(2)]
    keys = [project, (project[0], others[0]), (project[0], others[1])]
    costs = [Cost(Fraction(8, 10)), Cost(Fraction(6, 10)), Cost(Fraction(2, 10))]
    work = [paying(service, key, "q", cost) for key, cost in zip(keys, costs, strict=True)]
    found = together(service, [*work, paying(service, keys[1], "r", TENTH), paying(service, keys[0], "r", TENTH)])
    refused = [getattr(one.exception(), "code", None) for one in found]
    assert refused == [None, None, "house-rule", None, "house-rule"]
    assert total(service) == Fraction(15, 10)


def test_answers_are_recorded_although_nothing_can_be_paid_for(service: Service, project: tuple[int, int]) -> None:
    ledger = DatabaseLedger(service, *project, sql="SELECT")
    number = ledger.reserve("q", TENTH, BUDGET)
    assert number is not None
    service.spent_log.path.unlink()
    paid, recorded = together(service, [paying(service, project, "other"), lambda: ledger.record(number, "released")])
    assert getattr(paid.exception(), "code", None) == "service-spent-log"
    assert recorded.exception() is None
    assert ledger.recorded("q") == "released"
    assert total(service) == Fraction(1, 10)


def test_an_account_that_was_changed_outside_refuses_its_own_queries_only(
    service: Service, project: tuple[int, int]
) -> None:
    other = new_project(service, rows=21)
    for key in (project, other):
        assert paying(service, key, "first")() is not None
    with service.database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE accounts SET amount = '0' WHERE user_id = {other[1]}")
    found = together(service, [paying(service, key, "second") for key in (other, project, other)])
    assert [getattr(one.exception(), "code", None) for one in found] == [
        "service-row-changed",
        None,
        "service-row-changed",
    ]
    with service.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(spent)).scalar_one() == 3


def test_a_spending_without_its_account_is_noticed(service: Service, project: tuple[int, int]) -> None:
    paying(service, project, "q")()
    with service.database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM accounts")
    service.guard.state_log.floors._rows.pop(f"accounts {project[0]} {project[1]}")
    with pytest.raises(EngineError) as caught:
        paying(service, project, "r")()
    assert caught.value.code == "service-row-changed"


def test_few_queries_of_a_user_measure_at_the_same_time(service: Service, project: tuple[int, int]) -> None:
    turns, under_way, most, lock = Turns(at_once=3, of_one_user=2), [0], [0], threading.Lock()

    def one(number: int) -> None:
        with InTurn(DatabaseLedger(service, *project), project[1], turns) as ledger:
            paid = ledger.reserve(f"q{number}", Cost(Fraction(1, 100)), BUDGET)
            with lock:
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            threading.Event().wait(0.01)
            with lock:
                under_way[0] -= 1
            if number % 2:  # the others fail
                assert paid is not None
                ledger.record(paid, "released")

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(one, range(10)))
    assert most[0] == 2
    with turns.of(1), turns.of(2), turns.of(1):
        assert not turns._is_free(3)
    assert turns._is_free(1)


def asking(service: Service, key: tuple[int, int], turns: Turns, goes_on: threading.Event) -> Callable[[str], None]:
    """Ask one query, whose measuring ends when it may go on."""

    def ask(question: str) -> None:
        with InTurn(DatabaseLedger(service, *key), key[1], turns) as ledger:
            number = ledger.reserve(question, Cost(Fraction(1, 100)), BUDGET)
            assert number is not None
            assert goes_on.wait(60)
            ledger.record(number, "released")

    return ask


def reached(number: Callable[[], int], most: int) -> bool:
    """Wait until a number is reached."""
    for _ in range(60_000):
        if number() >= most:
            return True
        threading.Event().wait(0.001)
    return False


def test_queries_pay_together_only_while_measuring_is_short(
    service: Service, project: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has paid and waits for a turn for long would count as lost, and be paid for again by another process."""
    turns = Turns(at_once=2, of_one_user=2)

    def paid() -> int:
        with service.database.reading() as connection:
            return int(connection.execute(select(func.count()).select_from(spent)).scalar_one())

    def waiting(names: list[str], most: int) -> int:
        """How many of some queries have paid while those that measure are held up."""
        before, goes_on = paid(), threading.Event()
        with ThreadPoolExecutor(len(names)) as pool:
            found = [pool.submit(asking(service, project, turns, goes_on), name) for name in names]
            assert reached(lambda: paid() - before, most)
            assert reached(lambda: len(turns._changed._waiters), len(names) - 2)  # type: ignore[attr-defined]
            counted = paid() - before
            goes_on.set()
        assert all(one.exception() is None for one in found)
        return counted

    assert not turns.are_short  # nothing is known yet
    assert waiting([f"a{number}" for number in range(6)], 2) == 2
    monkeypatch.setattr("kohorte.service.projects.measuring.turns.SHORT_SECONDS", 3600)
    assert turns.are_short
    assert waiting([f"b{number}" for number in range(6)], 6) == 6
    monkeypatch.setattr("kohorte.service.projects.measuring.turns.SHORT_SECONDS", 0)
    assert not turns.are_short
    assert waiting([f"c{number}" for number in range(6)], 2) == 2


def test_a_turn_is_given_back_if_nothing_is_paid(service: Service, project: tuple[int, int]) -> None:
    turns, cost = Turns(at_once=1, of_one_user=1), Cost(Fraction(2))
    paying(service, project, "q")()
    with InTurn(DatabaseLedger(service, *project), project[1], turns) as ledger:
        assert ledger.reserve("q", TENTH, BUDGET) is None
        assert turns._is_free(project[1])
        with pytest.raises(BudgetExceeded):
            ledger.reserve("r", cost, BUDGET)
    assert turns._is_free(project[1])


def test_few_tables_of_a_user_are_loaded_at_the_same_time(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    steward, researcher = (new_user(service, privileged=which) for which in (True, False))
    actor, made = Actor(steward.id, STEWARD, "s"), []
    for rows in range(20, 26):
        dataset = store_dataset(service, patients(rows), steward.id)
        wanted = store.NewProject("questions", "", dataset, researcher.id, config=interactive(1, 1e-6))
        made.append(store.create(service, actor, wanted).project_id)
        tables.forget(service, _sha256(service, dataset))
    load, loading, ended, goes_on = tables.tables.load, [], [], threading.Event()

    def loaded(*given: Any) -> Any:
        loading.append(1)
        assert goes_on.wait(60)
        ended.append(1)
        return load(*given)

    monkeypatch.setattr(tables.tables, "load", loaded)
    asked = queries.Query("SELECT COUNT(*) FROM PRIORI", 0.1, 0)
    asker = Actor(researcher.id, RESEARCHER, "r")
    with ThreadPoolExecutor(len(made)) as pool:
        found = [pool.submit(queries.answer_query, service, asker, number, asked) for number in made]
        held_up = reached(lambda: len(loading) + len(PREPARING._changed._waiters), len(made))  # type: ignore[attr-defined]
        at_once = len(loading)
        goes_on.set()
    assert (held_up, at_once, len(ended)) == (True, OF_ONE_USER, len(made))
    assert all(one.result()["cost"]["epsilon"] == 0.1 for one in found)


def _sha256(service: Service, dataset_id: int) -> str:
    with service.database.reading() as connection:
        return str(connection.execute(select(datasets.c.table_sha256).where(datasets.c.id == dataset_id)).scalar_one())
