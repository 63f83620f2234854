"""Queries with noise in the web interface: estimates are free, answers are paid for, overspending says what remains."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.permissions import Role
from kohorte.service.projects import store
from kohorte.service.storage.schema import spent
from support.projects import interactive, patients, store_dataset
from support.screens import enter, send, sign_in, words
from support.service import new_user_with, on_sqlite

pytestmark = on_sqlite
ASK = "/app/projects/1/ask"
SQL = "SELECT gender, COUNT(*) FROM PRIORI GROUP BY gender"


@pytest.fixture
def researcher(service: Service, client: TestClient) -> None:
    steward, row = new_user_with(service, Role.STEWARD), new_user_with(service, Role.RESEARCHER)
    dataset = store_dataset(service, patients(), steward.id)
    wanted = store.NewProject("Heart", "", dataset, row.id, interactive() | {"person": "none"})
    store.create(service, Actor(steward.id, frozenset({Role.STEWARD})), wanted)
    sign_in(client, row.email_address)


def paid(service: Service) -> int:
    with service.database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(spent)).scalar_one())


@pytest.mark.usefixtures("researcher")
def test_an_estimate_is_free_and_an_answer_is_paid_once(service: Service, client: TestClient) -> None:
    assert "epsilon 2 of 2 remains" in words(client.get(ASK))
    told = words(send(client, f"{ASK}/estimate", query=SQL))
    assert "would cost epsilon 0.2 of the 2 that you have" in told
    assert paid(service) == 0
    answer = send(client, ASK, query=SQL)
    assert "Paid: epsilon 0.2." in words(answer)
    assert "epsilon 1.8 of 2 remains" in words(answer)
    again = words(send(client, ASK, query=SQL))
    assert "From the record: nothing was paid." in again
    assert paid(service) == 1


@pytest.mark.usefixtures("researcher")
def test_overspending_says_what_remains_and_keeps_the_query(service: Service, client: TestClient) -> None:
    answer = send(client, ASK, query=SQL, epsilon="1,5")
    assert answer.status_code == 200
    refused = send(client, ASK, query=f"{SQL} ", epsilon="1.9")
    assert refused.status_code in (200, 400)
    other = send(client, ASK, query="SELECT married, COUNT(*) FROM PRIORI GROUP BY married", epsilon="1.9")
    assert other.status_code == 400
    assert re.search(r"0\.5", words(other))
    assert "SELECT married" in other.text
    assert paid(service) == 1


@pytest.mark.usefixtures("researcher")
@pytest.mark.parametrize(("query", "epsilon"), [("", ""), ("DROP TABLE PRIORI", ""), (SQL, "much")])
def test_what_is_no_query_is_refused_on_the_page(
    service: Service, client: TestClient, query: str, epsilon: str
) -> None:
    answer = send(client, ASK, query=query, epsilon=epsilon)
    assert answer.status_code == 400
    assert "This was not possible" in words(answer)
    assert paid(service) == 0


@pytest.mark.usefixtures("researcher")
def test_another_researcher_cannot_ask(service: Service, client: TestClient) -> None:
    enter(service, client, Role.RESEARCHER)
    assert client.get(ASK).status_code == 404
    assert send(client, ASK, query=SQL).status_code == 404
    assert client.get("/app/projects/1/dummy-data").status_code == 404


@pytest.mark.usefixtures("researcher")
def test_made_up_rows_can_be_downloaded_for_trying(client: TestClient) -> None:
    answer = client.get("/app/projects/1/dummy-data")
    assert len(answer.text.splitlines()) == 1_001
