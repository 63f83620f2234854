"""Attacks of a person with full access to the database and no key: refused when used, named by the verification."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, insert, select, update

from kohorte.dp import Budget
from kohorte.dp.budget.budget import Cost
from kohorte.errors import AccessDenied, EngineError
from kohorte.service.access import Actor
from kohorte.service.accounts import setup, users
from kohorte.service.approvals import requests
from kohorte.service.context import Service
from kohorte.service.integrity.verification import verify
from kohorte.service.jobs.queue import State, claim
from kohorte.service.jobs.settlement import Outcome, settle
from kohorte.service.key_rotation import SEALED
from kohorte.service.permissions import Role
from kohorte.service.projects import store
from kohorte.service.projects.ledger import DatabaseLedger
from kohorte.service.storage import schema
from kohorte.service.vault import Content
from kohorte.trust import passwords
from support.attacker import Attacker
from support.jobs import new_project
from support.projects import interactive, patients, store_dataset
from support.service import PASSWORD, STEWARD, Person, client_of, new_person, on_sqlite

API = "/api/v1"
BUDGET = Budget(1, 1e-6)
TENTH = Cost(Fraction(1, 10), Fraction(1, 10**8))


@dataclass
class Hospital:
    """A service with two releases, of Jane and of Mallory, and questions of Mallory, who can write to the database."""

    service: Service
    client: TestClient
    attacker: Attacker
    steward: Person
    jane: Person
    mallory: Person
    dataset: int
    release_of_jane: int
    release_of_mallory: int
    questions: int

    @property
    def boss(self) -> Actor:
        return Actor(self.steward.user_id, STEWARD)

    def get(self, path: str, person: Person) -> tuple[int, str]:
        answer = self.client.get(f"{API}{path}", headers=person.headers)
        is_problem = answer.headers["content-type"] == "application/problem+json"
        return answer.status_code, answer.json()["code"] if is_problem else ""

    def sign_in(self, person: Person, password: str = PASSWORD) -> tuple[int, str]:
        told = {"email_address": person.email_address, "password": password}
        answer = self.client.post(f"{API}/login", json=told)
        return answer.status_code, answer.json().get("code", "")

    def pay(self, question: str) -> None:
        DatabaseLedger(self.service, self.questions, self.mallory.user_id).reserve(question, TENTH, BUDGET)

    def wrong(self) -> list[tuple[str, str, str]]:
        found = verify(self.service.database, self.service.log, self.service.guard, SEALED)
        assert found.whole == (not found.rows and found.log.whole and found.state is None)
        return [(row.table, row.id, str(row.problem)) for row in found.rows]

    def reports(self) -> list[tuple[str, str]]:
        """The entries of the audit log about rows that were refused."""
        with self.service.database.reading() as connection:
            wanted = schema.audit.c.action == "refuse-row"
            rows = connection.execute(select(schema.audit.c.object, schema.audit.c.details).where(wanted)).all()
        return [(row.object, row.details["problem"]) for row in rows]


REFUSED = (503, "service-row-changed")


def released(service: Service, dataset: int, researcher: int, content: bytes) -> int:
    project, _ = new_project(service, dataset, researcher_id=researcher)
    taken = claim(service, "worker")
    assert taken is not None
    files = {
        "release_file": service.vault.write(content, Content.RELEASE),
        "report_file": service.vault.write(b"report", Content.REPORT),
    }
    assert settle(service, taken, Outcome(State.DONE, values={**files, "certificate": {"k": 5}}))
    return project


@pytest.fixture
def hospital(service: Service) -> Iterator[Hospital]:
    with client_of(service) as client:
        steward = new_person(service, client, privileged=True)
        jane = new_person(service, client, privileged=False)
        mallory = new_person(service, client, privileged=False)
        dataset = store_dataset(service, patients(20), steward.user_id)
        wanted = store.NewProject("questions", "", dataset, mallory.user_id, config=interactive(1, 1e-6))
        found = Hospital(
            service,
            client,
            Attacker(service),
            steward,
            jane,
            mallory,
            dataset,
            released(service, dataset, jane.user_id, b"jane\n"),
            released(service, dataset, mallory.user_id, b"mallory\n"),
            store.create(service, Actor(steward.user_id, STEWARD), wanted).project_id,
        )
        found.pay("q1")
        assert found.wrong() == []
        yield found


def refusal(work: Any, *arguments: Any) -> str:
    with pytest.raises(EngineError) as caught:
        work(*arguments)
    return caught.value.code


def test_nobody_becomes_steward_by_a_row_of_roles(hospital: Hospital) -> None:
    me = hospital.mallory.user_id
    hospital.attacker.run(insert(schema.user_roles).values(user_id=me, role="steward"))
    assert hospital.get("/users", hospital.mallory) == REFUSED
    assert hospital.sign_in(hospital.mallory) == REFUSED
    assert hospital.sign_in(hospital.mallory, "a wrong password")[0] == 401  # strangers learn nothing
    assert hospital.wrong() == [("users", str(me), "changed")]
    assert hospital.reports() == [(f"users {me}", "changed")]
    assert hospital.get(f"/projects/{hospital.release_of_jane}/csv", hospital.jane)[0] == 200


def test_an_account_that_was_inserted_cannot_sign_in(hospital: Hospital) -> None:
    (row,) = hospital.attacker.rows(schema.users, id=hospital.steward.user_id)  # with its genuine mark
    forged = {**row, "id": 77, "email_address": "evil@example.org", "password_hash": passwords.hashed(PASSWORD)}
    roles = insert(schema.user_roles).values(user_id=77, role="steward")
    hospital.attacker.run(insert(schema.users).values(forged), roles)
    assert hospital.sign_in(Person(77, "evil@example.org", {})) == REFUSED
    assert hospital.wrong() == [("users", "77", "changed")]


def test_a_password_that_was_replaced_does_not_sign_in(hospital: Hospital) -> None:
    me = hospital.steward.user_id
    known = passwords.hashed("known to the attacker")
    hospital.attacker.run(update(schema.users).where(schema.users.c.id == me).values(password_hash=known))
    assert hospital.sign_in(hospital.steward, "known to the attacker") == REFUSED
    assert hospital.get("/users", hospital.steward) == REFUSED
    assert hospital.wrong() == [("users", str(me), "changed")]


def test_nobody_gets_the_project_of_another(hospital: Hospital) -> None:
    project = hospital.release_of_jane
    mine = {"researcher_id": hospital.mallory.user_id}
    hospital.attacker.run(update(schema.projects).where(schema.projects.c.id == project).values(mine))
    for path in (f"/projects/{project}", f"/projects/{project}/csv", "/projects", "/jobs"):
        assert hospital.get(path, hospital.mallory) == REFUSED
    assert hospital.wrong() == [("projects", str(project), "changed")]


def test_a_mark_is_worth_nothing_on_another_row(hospital: Hospital) -> None:
    attacker, table = hospital.attacker, schema.projects
    (own,) = attacker.rows(table, id=hospital.release_of_mallory)
    copy = {name: value for name, value in own.items() if name not in ("id", "sealed_config", "sealed_summary")}
    attacker.run(update(table).where(table.c.id == hospital.release_of_jane).values(copy))
    assert hospital.get(f"/projects/{hospital.release_of_jane}/csv", hospital.mallory) == REFUSED
    assert hospital.wrong() == [("projects", str(hospital.release_of_jane), "changed")]


@pytest.mark.parametrize("change", ["role", "password"])
def test_an_older_account_is_refused_at_once(hospital: Hospital, change: str) -> None:
    attacker, me = hospital.attacker, hospital.mallory.user_id
    raised = users.Changes(roles=[Role.STEWARD])
    users.change(hospital.service, hospital.boss, me, raised)
    old, old_roles = attacker.rows(schema.users, id=me), attacker.rows(schema.user_roles, user_id=me)
    lowered = users.Changes(roles=[Role.RESEARCHER]) if change == "role" else users.Changes(password="another one 123")
    users.change(hospital.service, hospital.boss, me, lowered)
    assert hospital.wrong() == []
    attacker.put_back(schema.users, old, id=me)
    attacker.put_back(schema.user_roles, old_roles, user_id=me)
    assert hospital.sign_in(hospital.mallory) == REFUSED
    assert hospital.wrong() == [("users", str(me), "older")]
    assert hospital.reports() == [(f"users {me}", "older")]


def test_an_account_that_was_removed_is_named(hospital: Hospital) -> None:
    person = users.create(
        hospital.service,
        email_address="ann@example.org",
        name="Ann",
        institution="",
        password=PASSWORD,
        roles=[Role.RESEARCHER],
        by=None,
    )
    hospital.attacker.run(
        delete(schema.user_roles).where(schema.user_roles.c.user_id == person.id),
        delete(schema.users).where(schema.users.c.id == person.id),
    )
    assert hospital.sign_in(Person(person.id, "ann@example.org", {}))[0] == 401
    assert hospital.wrong() == [("users", str(person.id), "missing")]


def test_an_older_account_of_spendings_is_refused(hospital: Hospital) -> None:
    attacker = hospital.attacker
    account, paid = attacker.rows(schema.accounts), attacker.rows(schema.spent)
    hospital.pay("q2")
    attacker.put_back(schema.accounts, account)
    attacker.put_back(schema.spent, paid)
    assert refusal(hospital.pay, "q3") == "service-row-changed"
    assert hospital.get(f"/projects/{hospital.questions}/budget", hospital.mallory) == REFUSED
    number = f"{hospital.questions} {hospital.mallory.user_id}"
    assert [("accounts", number, "older")] == [row for row in hospital.wrong() if row[0] == "accounts"]
    assert [row[0::2] for row in hospital.wrong() if row[0] == "spent"] == [("spent", "missing")]


def test_an_account_that_was_removed_does_not_give_the_budget_back(hospital: Hospital) -> None:
    hospital.attacker.run(delete(schema.accounts), delete(schema.answered), delete(schema.spent))
    assert refusal(hospital.pay, "q2") == "service-row-changed"
    assert hospital.get(f"/projects/{hospital.questions}/budget", hospital.mallory) == REFUSED
    assert [(row[0], row[2]) for row in hospital.wrong()] == [("accounts", "missing"), ("spent", "missing")]


@pytest.mark.parametrize(
    "statement", ["DELETE FROM spent", "UPDATE spent SET amount = '0'", "UPDATE spent SET delta = 'x'"]
)
def test_spendings_that_were_removed_or_lowered_are_noticed_at_the_next_query(
    hospital: Hospital, statement: str
) -> None:
    hospital.attacker.run(statement)
    assert refusal(hospital.pay, "q2") == "service-row-changed"
    problem = "missing" if statement.startswith("DELETE") else "changed"
    assert [(row[0], row[2]) for row in hospital.wrong()] == [("spent", problem)]


def test_a_budget_is_not_raised_in_the_database(hospital: Hospital) -> None:
    table, more = schema.projects, {"epsilon": 1000.0, "delta": 1e-6, "composition": "basic"}
    hospital.attacker.run(update(table).where(table.c.id == hospital.questions).values(budget=more))
    assert refusal(hospital.pay, "q2") == "service-row-changed"
    assert hospital.get(f"/projects/{hospital.questions}/budget", hospital.mallory) == REFUSED
    assert hospital.wrong() == [("projects", str(hospital.questions), "changed")]


def test_the_terms_of_another_project_are_worth_nothing(hospital: Hospital) -> None:
    generous = store.NewProject("more", "", hospital.dataset, hospital.mallory.user_id, config=interactive(10, 1e-6))
    other = store.create(hospital.service, hospital.boss, generous).project_id
    (row,) = hospital.attacker.rows(schema.projects, id=other)
    table = schema.projects
    values = {"sealed_config": row["sealed_config"]}
    hospital.attacker.run(update(table).where(table.c.id == hospital.questions).values(values))
    path = f"{API}/projects/{hospital.questions}/analyze"
    answer = hospital.client.post(path, json={"query": "SELECT COUNT(*) FROM PRIORI"}, headers=hospital.mallory.headers)
    assert (answer.status_code, answer.json()["code"]) == (500, "service-damaged")
    assert hospital.wrong() == [("projects", str(hospital.questions), "changed")]


def test_two_releases_cannot_be_exchanged(hospital: Hospital) -> None:
    attacker, table = hospital.attacker, schema.projects
    (jane,), (mallory,) = (attacker.rows(table, id=n) for n in (hospital.release_of_jane, hospital.release_of_mallory))
    for row, other in ((jane, mallory), (mallory, jane)):
        attacker.run(update(table).where(table.c.id == row["id"]).values(release_file=other["release_file"]))
    assert hospital.get(f"/projects/{mallory['id']}/csv", hospital.mallory) == REFUSED
    assert hospital.wrong() == [("projects", str(row["id"]), "changed") for row in (jane, mallory)]


def test_the_files_of_two_releases_cannot_be_exchanged(hospital: Hospital) -> None:
    attacker, vault = hospital.attacker, hospital.service.vault
    numbers = (hospital.release_of_jane, hospital.release_of_mallory)
    first, second = (vault.path(attacker.rows(schema.projects, id=n)[0]["release_file"]) for n in numbers)
    content = first.read_bytes(), second.read_bytes()
    first.write_bytes(content[1])
    second.write_bytes(content[0])
    assert hospital.get(f"/projects/{numbers[1]}/csv", hospital.mallory) == (500, "service-damaged")
    assert hospital.wrong() == [("projects", str(number), "its file is another one") for number in numbers]


def test_a_dataset_is_not_replaced_by_another(hospital: Hospital) -> None:
    other = store_dataset(hospital.service, patients(30), hospital.steward.user_id)
    (row,) = hospital.attacker.rows(schema.datasets, id=other)
    table = schema.datasets
    copy = {name: row[name] for name in ("table_file", "table_sha256")}
    hospital.attacker.run(update(table).where(table.c.id == hospital.dataset).values(copy))
    assert hospital.get(f"/datasets/{hospital.dataset}", hospital.steward) == REFUSED
    assert hospital.wrong() == [("datasets", str(hospital.dataset), "changed")]


def careful(hospital: Hospital) -> Service:
    settings = replace(hospital.service.settings, two_people=("download_csv", "delete_dataset"))
    return replace(hospital.service, settings=settings)


def test_an_approval_is_not_given_by_the_database(hospital: Hospital) -> None:
    service, mallory = careful(hospital), Actor(hospital.mallory.user_id, frozenset({Role.RESEARCHER}))
    asked = requests.perform(service, mallory, "download_csv", hospital.release_of_mallory).approval
    assert asked is not None
    hospital.attacker.run(
        update(schema.approvals).values(state="confirmed", decider_id=hospital.steward.user_id, decided_at=schema.now())
    )
    work = (requests.perform, service, mallory, "download_csv", hospital.release_of_mallory)
    assert refusal(*work) == "service-row-changed"
    assert hospital.wrong() == [("approvals", str(asked["approval_id"]), "changed")]


def test_an_approval_that_was_removed_is_noticed(hospital: Hospital) -> None:
    service, mallory = careful(hospital), Actor(hospital.mallory.user_id, frozenset({Role.RESEARCHER}))
    asked = requests.perform(service, mallory, "download_csv", hospital.release_of_mallory).approval
    assert asked is not None
    number = int(asked["approval_id"])
    hospital.attacker.run(delete(schema.approvals))
    assert refusal(requests.confirm, service, hospital.boss, number) == "service-row-changed"
    assert hospital.wrong() == [("approvals", str(number), "missing")]
    with pytest.raises(AccessDenied):  # a request that never was is simply not found
        requests.confirm(service, hospital.boss, number + 1)


def test_a_declined_request_does_not_become_pending_again(hospital: Hospital) -> None:
    service, boss = careful(hospital), hospital.boss
    mallory = Actor(hospital.mallory.user_id, frozenset({Role.RESEARCHER}))
    pending = requests.perform(service, mallory, "download_csv", hospital.release_of_mallory).approval
    assert pending is not None
    old = hospital.attacker.rows(schema.approvals)
    requests.decline(service, boss, int(pending["approval_id"]))
    hospital.attacker.put_back(schema.approvals, old)
    assert refusal(requests.confirm, service, boss, int(pending["approval_id"])) == "service-row-changed"
    assert hospital.wrong() == [("approvals", str(pending["approval_id"]), "older")]


def test_a_change_by_the_service_does_not_make_a_forged_row_genuine(hospital: Hospital) -> None:
    me, project = hospital.mallory.user_id, hospital.release_of_jane
    hospital.attacker.run(
        insert(schema.user_roles).values(user_id=me, role="steward"),
        update(schema.projects).where(schema.projects.c.id == project).values(researcher_id=me),
    )
    assert refusal(users.change, hospital.service, hospital.boss, me, users.Changes(name="M")) == "service-row-changed"
    assert refusal(store.change, hospital.service, hospital.boss, project, {"name": "x"}) == "service-row-changed"
    assert [row[2] for row in hospital.wrong()] == ["changed", "changed"]


def test_a_job_does_not_make_a_forged_project_genuine_and_ends(hospital: Hospital) -> None:
    service = hospital.service
    project, job = new_project(service, hospital.dataset, researcher_id=hospital.jane.user_id)
    taken = claim(service, "worker")
    assert taken is not None
    mine = {"researcher_id": hospital.mallory.user_id}
    hospital.attacker.run(update(schema.projects).where(schema.projects.c.id == project).values(mine))
    made = service.vault.write(b"new", Content.RELEASE)
    assert settle(service, taken, Outcome(State.DONE, values={"release_file": made}))
    (row,) = hospital.attacker.rows(schema.jobs, id=job)
    assert (row["state"], row["problem"]["code"]) == ("failed", "service-row-changed")
    assert made not in service.vault.names()
    assert hospital.wrong() == [("projects", str(project), "changed")]


def test_nobody_becomes_the_first_steward_by_disabling_the_others(hospital: Hospital) -> None:
    token = "a token of the attacker"
    told = {"token_hash": hashlib.sha256(token.encode()).hexdigest(), "created_at": schema.now()}
    hospital.attacker.run(
        update(schema.users).where(schema.users.c.id == hospital.steward.user_id).values(disabled_at=schema.now()),
        insert(schema.setup_tokens).values(told),
        delete(schema.user_roles).where(schema.user_roles.c.role == "steward"),
    )
    person = {"email_address": "evil@example.org", "name": "E", "institution": "", "password": PASSWORD}
    with pytest.raises(AccessDenied):
        setup.create_first_steward(hospital.service, token, **person)
    assert setup.fresh_token(hospital.service) is None
    assert ("users", str(hospital.steward.user_id), "changed") in hospital.wrong()


@on_sqlite
@pytest.mark.parametrize("change", ["created_at = 'never'", "name = x'ff'", "version = 'x'", "mark = NULL"])
def test_what_sqlite_lets_into_a_column_is_named_too(hospital: Hospital, change: str) -> None:
    me = hospital.jane.user_id
    hospital.attacker.run(f"UPDATE users SET {change} WHERE id = {me}")
    assert hospital.wrong() == [("users", str(me), "changed")]
    assert hospital.sign_in(hospital.jane)[0] >= 401
