"""The book of what was spent, in the service's database: exact, whatever happens."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from sqlalchemy import select, update

from kohorte.dp import Budget
from kohorte.dp.budget.budget import NOTHING, Cost
from kohorte.errors import AccessDenied, BudgetExceeded, EngineError, InternalError
from kohorte.service.access import Actor
from kohorte.service.audit import verify_log
from kohorte.service.context import Service
from kohorte.service.projects import store
from kohorte.service.projects.ledger import DatabaseLedger
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import accounts, answered, audit, projects, spent
from support.marked_rows import mark_rows
from support.projects import ask_in_process, interactive, patients, spend_in_process, store_dataset
from support.service import STEWARD, new_user

BUDGET = Budget(1, 1e-6)
TENTH = Cost(Fraction(1, 10), Fraction(1, 10**8))


@pytest.fixture
def project(service: Service) -> tuple[int, int]:
    """A project with questions, and its researcher."""
    steward, researcher = new_user(service, privileged=True), new_user(service, privileged=False)
    dataset = store_dataset(service, patients(20), steward.id)
    wanted = store.NewProject("questions", "", dataset, researcher.id, config=interactive(1, 1e-6))
    return store.create(service, Actor(steward.id, STEWARD, "s"), wanted).project_id, researcher.id


def pay(
    service: Service, project: tuple[int, int], question: str, cost: Cost = TENTH, budget: Budget = BUDGET
) -> int | None:
    ledger = DatabaseLedger(service, *project, sql="SELECT")
    return ledger.reserve(question, cost, budget)


def total_of_spent(service: Service, project: tuple[int, int]) -> Cost:
    with service.database.reading() as connection:
        rows = connection.execute(select(spent).where(spent.c.project_id == project[0])).all()
    return sum((Cost(Fraction(row.amount), Fraction(row.delta)) for row in rows), NOTHING)


def test_a_budget_is_spent_to_the_last_part_and_no_further(service: Service, project: tuple[int, int]) -> None:
    for number in range(10):
        pay(service, project, f"q{number}")
    with pytest.raises(BudgetExceeded, match="epsilon 0 and delta 9e-07 are left"):
        pay(service, project, "one more")
    with pytest.raises(BudgetExceeded):
        pay(service, project, "a tiny one", Cost(Fraction(1, 10**30)))
    found = DatabaseLedger(service, *project).spent()
    assert found == total_of_spent(service, project) == Cost(Fraction(1), Fraction(1, 10**7))


def test_what_was_refused_leaves_no_trace(service: Service, project: tuple[int, int]) -> None:
    with pytest.raises(BudgetExceeded):
        pay(service, project, "q", Cost(Fraction(2)))
    with service.database.reading() as connection:
        assert connection.execute(select(spent)).all() == []
        assert connection.execute(select(accounts)).all() == []
        assert connection.execute(select(audit).where(audit.c.action == "spend")).all() == []


def test_every_payment_is_in_the_audit_log(service: Service, project: tuple[int, int]) -> None:
    number = pay(service, project, "q")
    with service.database.reading() as connection:
        entry = connection.execute(select(audit).where(audit.c.action == "spend")).one()
    assert entry.actor_id == project[1]
    assert entry.object == f"project {project[0]}"
    assert entry.details["question"] == number
    assert entry.details["amount"] == "1/10"
    assert verify_log(service.database, service.log).whole


def test_questions_and_answers_are_sealed_in_the_database(service: Service, project: tuple[int, int]) -> None:
    ledger = DatabaseLedger(service, *project, sql="SELECT secret-value")
    number = ledger.reserve("q", TENTH, BUDGET)
    ledger.record(number, '{"released": "secret-value"}')
    with service.database.reading() as connection:
        kept = connection.execute(select(spent.c.sealed_sql)).scalar_one()
        kept += connection.execute(select(answered.c.sealed_release)).scalar_one()
    assert b"secret" not in kept


def test_a_recorded_answer_is_found_by_its_own_account_only(service: Service, project: tuple[int, int]) -> None:
    other = new_user(service, privileged=False).id
    ledger = DatabaseLedger(service, *project)
    assert ledger.recorded("q") is None
    ledger.record(ledger.reserve("q", TENTH, BUDGET), "released")
    assert ledger.recorded("q") == "released"
    assert ledger.recorded("another") is None
    ledger = DatabaseLedger(service, project[0], other)
    assert ledger.recorded("q") is None
    assert ledger.spent() == NOTHING


def test_what_was_paid_and_never_answered_stays_paid(service: Service, project: tuple[int, int]) -> None:
    pay(service, project, "q")
    ledger = DatabaseLedger(service, *project)
    assert ledger.recorded("q") is None
    assert ledger.spent() == TENTH


def test_a_deleted_project_is_not_paid_for(service: Service, project: tuple[int, int]) -> None:
    with service.database.writing() as connection:
        connection.execute(update(projects).values(deleted_at=projects.c.created_at))
        mark_rows(service, connection)
    with pytest.raises(AccessDenied):
        pay(service, project, "q")
    assert total_of_spent(service, project) == NOTHING


def test_costs_of_two_compositions_are_never_added(service: Service, project: tuple[int, int]) -> None:
    pay(service, project, "q")
    with pytest.raises(InternalError):
        pay(service, project, "other", budget=Budget(1, 1e-6, "zcdp"))  # type: ignore[arg-type]


@pytest.mark.slow
def test_fifty_threads_spend_no_more_than_there_is(service: Service, project: tuple[int, int]) -> None:
    budget, cost = Budget(1), Cost(Fraction(3, 100))

    def one(number: int) -> bool:
        try:
            pay(service, project, f"q{number}", cost, budget)
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(50) as pool:
        paid = sum(pool.map(one, range(100)))
    assert paid == 33
    assert DatabaseLedger(service, *project).spent() == total_of_spent(service, project)
    assert total_of_spent(service, project).amount == Fraction(99, 100)
    assert verify_log(service.database, service.log).whole


@pytest.mark.slow
def test_the_same_questions_of_several_processes_are_paid_once_and_have_one_answer(
    service: Service, service_settings: Settings, project: tuple[int, int]
) -> None:
    context = multiprocessing.get_context("spawn")
    folder, database = str(service_settings.folder), service_settings.database or None
    start, answers = context.Barrier(3), context.Queue()
    asking = [
        context.Process(target=ask_in_process, args=(folder, database, project, start, answers)) for _ in range(3)
    ]
    for process in asking:
        process.start()
    found = {answers.get(timeout=60) for _ in range(30)}
    for process in asking:
        process.join()
        assert process.exitcode == 0
    assert len(found) == 10
    assert total_of_spent(service, project).amount == Fraction(11, 100)


def test_a_question_whose_process_was_lost_is_paid_again(
    service: Service, project: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pay(service, project, "q") is not None
    assert pay(service, project, "q") is None
    monkeypatch.setattr("kohorte.service.projects.payments.ANSWERED_WITHIN_SECONDS", 0)
    assert pay(service, project, "q") is not None


@pytest.mark.slow
def test_four_processes_spend_no_more_than_there_is(
    service: Service, service_settings: Settings, project: tuple[int, int]
) -> None:
    context = multiprocessing.get_context("spawn")
    folder, database = str(service_settings.folder), service_settings.database or None
    workers = [context.Process(target=spend_in_process, args=(folder, database, project, name)) for name in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert total_of_spent(service, project).amount == 1
    assert DatabaseLedger(service, *project).spent().amount == 1


def test_an_account_that_was_changed_from_outside_is_refused_and_seen_by_the_audit(
    service: Service, project: tuple[int, int]
) -> None:
    pay(service, project, "q")
    assert verify_log(service.database, service.log).whole
    with service.database.writing() as connection:
        connection.execute(update(accounts).values(amount="0"))
    with pytest.raises(EngineError, match="not as the service wrote it"):
        pay(service, project, "another")
    found = verify_log(service.database, service.log)
    assert (found.whole, found.first_wrong, found.accounts_fit) == (False, None, False)
