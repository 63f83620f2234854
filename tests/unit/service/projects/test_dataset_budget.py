"""The limit of a dataset: over all projects and all people, exact, also with several processes that are killed."""

from __future__ import annotations

import multiprocessing
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from sqlalchemy import select, update

from kohorte.dp import Budget
from kohorte.dp.budget.budget import NOTHING, Cost
from kohorte.errors import BudgetExceeded, EngineError
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.house_rules import HouseRules
from kohorte.service.projects import store
from kohorte.service.projects.dataset_budget import dataset_budget
from kohorte.service.projects.ledger import DatabaseLedger
from kohorte.service.projects.spendings import enter_all
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import accounts, datasets, now, projects, spent, users
from support.marked_rows import mark_rows
from support.projects import interactive, patients, spend_beyond_in_process, store_dataset
from support.service import STEWARD, new_user

TENTH = Cost(Fraction(1, 10), Fraction(1, 10**8))
ONE = HouseRules(dataset_epsilon=1, dataset_delta=1e-6)


@pytest.fixture
def service_settings(service_settings: Settings) -> Settings:
    return replace(service_settings, rules=ONE)


@pytest.fixture
def steward(service: Service) -> Actor:
    return Actor(new_user(service, privileged=True).id, STEWARD, "s")


def new_project(service: Service, steward: Actor, dataset: int, **more: Any) -> int:
    researcher = new_user(service, privileged=False).id
    wanted = store.NewProject("questions", "", dataset, researcher, config=interactive(1, 1e-6, **more))
    return store.create(service, steward, wanted).project_id


def pay(service: Service, project: int, user: int, question: str, *, cost: Cost = TENTH, **budget: Any) -> None:
    DatabaseLedger(service, project, user).reserve(question, cost, Budget(1, 1e-6, **budget))


def refused(service: Service, project: int, user: int, **more: Any) -> BudgetExceeded:
    with pytest.raises(BudgetExceeded) as caught:
        pay(service, project, user, "one more", **more)
    assert caught.value.code == "house-rule"
    return caught.value


def total(service: Service) -> Fraction:
    with service.database.reading() as connection:
        return sum(map(Fraction, connection.execute(select(spent.c.amount)).scalars()), Fraction(0))


def test_projects_and_people_share_the_limit_of_their_dataset(service: Service, steward: Actor) -> None:
    dataset = store_dataset(service, patients(20), steward.user_id)
    one, other = (new_project(service, steward, dataset) for _ in range(2))
    people = [new_user(service, privileged=False).id for _ in range(2)]
    for number in range(5):
        pay(service, one, people[0], f"q{number}")
        pay(service, other, people[1], f"q{number}")
    for project, user in ((one, people[0]), (one, people[1]), (other, people[0]), (other, people[1])):
        refusal = refused(service, project, user)
        assert (refusal.field, refusal.figures["remaining"]) == ("dataset_epsilon", {"epsilon": 0.0})
    assert total(service) == 1
    shown = dataset_budget(service, steward, dataset)
    assert (shown["counted"]["epsilon"], shown["limit"]) == (1.0, {"epsilon": 1, "delta": 1e-6})


def test_the_delta_of_a_dataset_is_limited_too(service: Service, steward: Actor) -> None:
    project = new_project(service, steward, store_dataset(service, patients(20), steward.user_id))
    users = [new_user(service, privileged=False).id for _ in range(2)]
    cost = Cost(Fraction(1, 10), Fraction(6, 10**7))
    pay(service, project, users[0], "q", cost=cost)
    assert refused(service, project, users[1], cost=cost).field == "dataset_delta"


def test_another_dataset_has_its_own_limit(service: Service, steward: Actor) -> None:
    first, second = (store_dataset(service, patients(rows), steward.user_id) for rows in (20, 21))
    for dataset in (first, second):
        project = new_project(service, steward, dataset)
        pay(service, project, steward.user_id, "all of it", cost=Cost(Fraction(1)))


def test_the_same_table_uploaded_again_is_the_same_dataset(service: Service, steward: Actor) -> None:
    first, second = (store_dataset(service, patients(20), steward.user_id) for _ in range(2))
    pay(service, new_project(service, steward, first), steward.user_id, "all of it", cost=Cost(Fraction(1)))
    assert refused(service, new_project(service, steward, second), steward.user_id).field == "dataset_epsilon"


def test_what_deleted_projects_people_and_datasets_have_spent_stays_spent(service: Service, steward: Actor) -> None:
    dataset = store_dataset(service, patients(20), steward.user_id)
    gone, person = new_project(service, steward, dataset), new_user(service, privileged=False).id
    pay(service, gone, person, "all of it", cost=Cost(Fraction(1)))
    with service.database.writing() as connection:
        connection.execute(update(projects).where(projects.c.id == gone).values(deleted_at=now()))
        connection.execute(update(users).where(users.c.id == person).values(deleted_at=now()))
        connection.execute(update(datasets).where(datasets.c.id == dataset).values(deleted_at=now()))
        mark_rows(service, connection)
    again = store_dataset(service, patients(20), steward.user_id)
    assert refused(service, new_project(service, steward, again), steward.user_id).field == "dataset_epsilon"


def test_an_account_with_rho_counts_with_its_whole_budget_from_its_first_query_on(
    service: Service, steward: Actor
) -> None:
    dataset = store_dataset(service, patients(20), steward.user_id)
    zcdp, pure = new_project(service, steward, dataset, composition="zcdp"), new_project(service, steward, dataset)
    little = Cost(Fraction(1, 10**6))
    for number in range(3):
        pay(service, zcdp, steward.user_id, f"q{number}", cost=little, composition="zcdp")
    assert refused(service, pure, steward.user_id).field == "dataset_epsilon"
    other = new_user(service, privileged=False).id
    assert refused(service, zcdp, other, cost=little, composition="zcdp").field == "dataset_epsilon"
    assert dataset_budget(service, steward, dataset)["counted"] == {"epsilon": 1.0, "delta": 1e-6}


def test_an_account_of_somebody_else_that_was_changed_from_outside_stops_everybody(
    service: Service, steward: Actor
) -> None:
    dataset = store_dataset(service, patients(20), steward.user_id)
    one, other = (new_project(service, steward, dataset) for _ in range(2))
    pay(service, one, steward.user_id, "q")
    with service.database.writing() as connection:
        connection.execute(update(accounts).values(amount="0"))
    with pytest.raises(EngineError, match="not as the service wrote it"):
        pay(service, other, steward.user_id, "q")


def test_what_was_refused_leaves_no_trace_in_any_account(service: Service, steward: Actor) -> None:
    dataset = store_dataset(service, patients(20), steward.user_id)
    one, other = (new_project(service, steward, dataset) for _ in range(2))
    pay(service, one, steward.user_id, "all of it", cost=Cost(Fraction(1)))
    refused(service, other, steward.user_id)
    assert DatabaseLedger(service, other, steward.user_id).spent() == NOTHING
    assert total(service) == 1


def test_without_the_rules_only_the_budgets_of_projects_count(service: Service, steward: Actor) -> None:
    free = replace(
        service, settings=replace(service.settings, rules=HouseRules(dataset_epsilon=None, dataset_delta=None))
    )
    dataset = store_dataset(service, patients(20), steward.user_id)
    for _ in range(2):
        pay(free, new_project(service, steward, dataset), steward.user_id, "all of it", cost=Cost(Fraction(1)))
    assert total(service) == 2


def test_many_threads_in_many_projects_spend_no_more_than_the_dataset_has(service: Service, steward: Actor) -> None:
    dataset = store_dataset(service, patients(20), steward.user_id)
    several = [new_project(service, steward, dataset) for _ in range(4)]

    def one(number: int) -> bool:
        try:
            pay(service, several[number % 4], steward.user_id, f"q{number}", cost=Cost(Fraction(3, 100)))
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(20) as pool:
        paid = sum(pool.map(one, range(50)))
    assert (paid, total(service)) == (33, Fraction(99, 100))


@pytest.mark.slow
def test_processes_that_are_killed_spend_no_more_than_the_dataset_has(
    service: Service, service_settings: Settings, steward: Actor
) -> None:
    dataset = store_dataset(service, patients(20), steward.user_id)
    several = [new_project(service, steward, dataset) for _ in range(4)]
    (service_settings.folder / "service.yaml").write_text("rules: {dataset_epsilon: 1, dataset_delta: 1e-6}\n")
    context = multiprocessing.get_context("spawn")
    folder, database = str(service_settings.folder), service_settings.database or None
    begun = context.Barrier(5)

    def start(name: int) -> Any:
        arguments = (folder, database, (several[name % 4], steward.user_id), name, begun if name < 4 else None)
        process = context.Process(target=spend_beyond_in_process, args=arguments)
        process.start()
        return process

    killed = [start(name) for name in range(4)]
    begun.wait(120)
    time.sleep(0.2)
    for process in killed:
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
    finishing = [start(name) for name in range(4, 8)]
    for process in finishing:
        process.join()
        assert process.exitcode == 0
    enter_all(service)  # what a process logged and was killed before it stored; a refusal does not store it
    assert Fraction(1) - Fraction(1, 30) < total(service) <= 1
