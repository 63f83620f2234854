"""Attacks on the rules of the house by a person with full access to the database and no key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from sqlalchemy import delete, insert, update

from kohorte.dp import Budget
from kohorte.dp.budget.budget import Cost
from kohorte.errors import BudgetExceeded, EngineError
from kohorte.service.access import Actor
from kohorte.service.approvals import requests
from kohorte.service.context import Service
from kohorte.service.house_rules import HouseRules
from kohorte.service.integrity.marks import APPROVAL, PROJECT
from kohorte.service.projects import store
from kohorte.service.projects.dataset_budget import dataset_budget
from kohorte.service.projects.ledger import DatabaseLedger
from kohorte.service.projects.ruled_projects import broken_rules
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import accounts, approvals, datasets, now, projects
from support.attacker import Attacker
from support.jobs import new_dataset, new_project
from support.projects import interactive, patients, store_dataset
from support.service import RESEARCHER, STEWARD, new_user

ALL = Cost(Fraction(1))
HIDE: dict[str, Callable[[tuple[int, int], int], Any]] = {
    "project": lambda spent, other: update(projects).where(projects.c.id == spent[1]).values(dataset_id=other),
    "file": lambda spent, _: update(datasets).where(datasets.c.id == spent[0]).values(sha256="x", table_sha256="x"),
    "account": lambda spent, _: delete(accounts).where(accounts.c.project_id == spent[1]),
}


@pytest.fixture
def service_settings(service_settings: Settings) -> Settings:
    rules = HouseRules(dataset_epsilon=1, dataset_delta=1e-6, second_approver="releases")
    return replace(service_settings, rules=rules)


@pytest.fixture
def steward(service: Service) -> Actor:
    return Actor(new_user(service, privileged=True).id, STEWARD, "s")


def questions(service: Service, steward: Actor, dataset: int) -> int:
    wanted = store.NewProject("questions", "", dataset, steward.user_id, config=interactive(1, 1e-6))
    return store.create(service, steward, wanted).project_id


@pytest.mark.parametrize("how", HIDE)
def test_the_total_of_a_dataset_does_not_lose_an_account_that_was_hidden(
    service: Service, steward: Actor, how: str
) -> None:
    first, again, other = (store_dataset(service, patients(rows), steward.user_id) for rows in (20, 20, 21))
    spent, mine = questions(service, steward, first), questions(service, steward, again)
    DatabaseLedger(service, spent, steward.user_id).reserve("all of it", ALL, Budget(1, 1e-6))
    more = DatabaseLedger(service, mine, steward.user_id)
    with pytest.raises(BudgetExceeded):
        more.reserve("q", ALL, Budget(1, 1e-6))
    Attacker(service).run(HIDE[how]((first, spent), other))
    for use in (lambda: more.reserve("q", ALL, Budget(1, 1e-6)), lambda: dataset_budget(service, steward, again)):
        with pytest.raises(EngineError) as caught:
            use()
        assert caught.value.code == "service-row-changed"


def approved_by(service: Service, approver: Actor) -> tuple[int, Actor]:
    """A project whose researcher has asked for its release, and the steward who made it has approved it."""
    researcher = Actor(new_user(service, privileged=False).id, RESEARCHER, "r")
    project, _ = new_project(service, new_dataset(service)[0], researcher_id=researcher.user_id)
    moment = now()
    entry: dict[str, Any] = {
        "operation": requests.OPENING,
        "subject_kind": "project",
        "subject_id": project,
        "state": "confirmed",
        "requester_id": researcher.user_id,
        "decider_id": approver.user_id,
        "created_at": moment,
        "expires_at": moment,
    }
    sealed = service.vault.seal("{}", label=requests.values_label(entry))
    with service.database.writing() as connection:
        creator = update(projects).where(projects.c.id == project).values(creator_id=approver.user_id)
        with service.guard.changing(connection, PROJECT, project):
            connection.execute(creator)
        added = insert(approvals).values(**entry, sealed_values=sealed).returning(approvals.c.id)
        service.guard.mark(connection, APPROVAL, connection.execute(added).scalar_one())
    return project, researcher


def test_a_second_approver_does_not_become_independent_in_the_database(service: Service, steward: Actor) -> None:
    project, researcher = approved_by(service, steward)
    assert not requests._is_open(service, requests.OPENING, project)
    another = new_user(service, privileged=True).id
    Attacker(service).run(update(projects).where(projects.c.id == project).values(creator_id=another))
    with pytest.raises(EngineError) as caught:
        requests.refuse_unapproved(service, researcher, project)
    assert caught.value.code == "service-row-changed"


def test_a_project_that_was_changed_outside_is_named_with_the_broken_rules(service: Service, steward: Actor) -> None:
    project = questions(service, steward, store_dataset(service, patients(20), steward.user_id))
    assert broken_rules(service) == []
    Attacker(service).run(update(projects).where(projects.c.id == project).values(name="another"))
    assert [(one.project_id, one.rule) for one in broken_rules(service)] == [(project, "readable")]
