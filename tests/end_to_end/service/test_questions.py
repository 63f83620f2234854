"""Questions over HTTP: noisy answers as in appendix H, from a budget that nobody gets around."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from kohorte.service.context import Service
from kohorte.service.house_rules import HouseRules
from kohorte.service.projects.tables import cache_of
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import answered, spent
from support.projects import interactive, patients, release, store_dataset
from support.service import Person, client_of, new_person, new_user, on_sqlite

APPENDIX = "SELECT married, AVG(age) FROM PRIORI GROUP BY married"
COUNT = "SELECT COUNT(*) FROM PRIORI"
Make = Callable[..., str]


@pytest.fixture
def service_settings(service_settings: Settings) -> Settings:
    """Without limits of the house: with a large epsilon an answer has hardly any noise."""
    return replace(service_settings, rules=HouseRules(largest_epsilon=None, dataset_epsilon=None))


@pytest.fixture
def make(service: Service, client: TestClient, steward: Person, researcher: Person) -> Make:
    """Make an interactive project and return its path."""

    def made(config: dict[str, Any] | None = None, frame: pl.DataFrame | None = None) -> str:
        dataset = store_dataset(service, patients() if frame is None else frame, steward.user_id)
        wanted = {
            "name": "questions",
            "dataset_id": dataset,
            "researcher_id": researcher.user_id,
            "config": config or interactive(),
        }
        answer = client.post("/api/v1/projects", json=wanted, headers=steward.headers)
        assert answer.status_code == 201, answer.text
        return f"/api/v1/projects/{answer.json()['project_id']}"

    return made


def asked(client: TestClient, path: str, person: Person, sql: str = COUNT, **more: Any) -> Any:
    return client.post(f"{path}/analyze", json={"query": sql, **more}, headers=person.headers)


def paid(service: Service) -> int:
    with service.database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(spent)).scalar_one())


def test_a_question_is_answered_as_in_appendix_h(client: TestClient, make: Make, researcher: Person) -> None:
    answer = asked(client, make(interactive(100)), researcher, APPENDIX)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["query_result"]["married"] == {"0": False, "1": True}
    assert set(found["query_result"]["Col1"]) == {"0", "1"}
    assert all(30 < mean < 70 for mean in found["query_result"]["Col1"].values())
    assert found["cost"] == {"epsilon": 10, "delta": 0}
    assert found["remaining"]["epsilon"] == 90
    assert found["from_record"] is False


def test_keys_that_are_not_public_spend_the_delta_of_appendix_g(
    client: TestClient, make: Make, researcher: Person
) -> None:
    sql = "SELECT gender, COUNT(*) FROM PRIORI GROUP BY gender"
    answer = asked(client, make(interactive(50, 10e-16)), researcher, sql)
    assert answer.status_code == 200, answer.text
    assert answer.json()["cost"]["delta"] == 2.5e-16
    assert set(answer.json()["query_result"]["gender"].values()) == {"f", "m"}


def test_the_same_question_again_costs_nothing(
    service: Service, client: TestClient, make: Make, researcher: Person
) -> None:
    path = make()
    first = asked(client, path, researcher, APPENDIX).json()
    again = asked(client, path, researcher, "select  married, avg(age) from PRIORI group by married").json()
    assert again["query_result"]["married"] == first["query_result"]["married"]
    assert list(again["query_result"].values())[1] == list(first["query_result"].values())[1]
    assert (again["from_record"], again["cost"]["epsilon"]) == (True, 0)
    assert paid(service) == 1


def test_the_budget_is_exact_and_refused_when_used_up(
    service: Service, client: TestClient, make: Make, researcher: Person
) -> None:
    path = make()
    for age in range(10):
        assert asked(client, path, researcher, f"{COUNT} WHERE age > {age}").status_code == 200
    answer = asked(client, path, researcher, f"{COUNT} WHERE age > 50", epsilon=0.001)
    assert (answer.status_code, answer.json()["code"]) == (403, "query-budget")
    assert "epsilon 0 and" in answer.json()["detail"]
    budget = client.get(f"{path}/budget", headers=researcher.headers).json()
    assert (budget["spent"]["epsilon"], budget["remaining"]["epsilon"], budget["questions"]) == (2, 0, 10)
    assert asked(client, path, researcher, f"{COUNT} WHERE age > 3").json()["from_record"] is True
    assert paid(service) == 10


def test_a_differencing_attack_with_unlimited_questions_is_stopped(
    service: Service, client: TestClient, make: Make, researcher: Person
) -> None:
    """Who knows that one person is older than all others asks for both counts, again and again, with new words."""
    path, differences = make(interactive(1, 1e-6)), []
    for number in range(200):
        counts = []
        for bound in (93 + number / 1000, 95 + number / 1000):
            answer = asked(client, path, researcher, f"{COUNT} WHERE age < {bound}", epsilon=0.05)
            if answer.status_code == 403:
                break
            counts.append(answer.json()["query_result"]["Col0"]["0"])
        if len(counts) < 2:
            break
        differences.append(counts[1] - counts[0])
    assert len(differences) == 10
    assert paid(service) == 20
    assert asked(client, path, researcher, f"{COUNT} WHERE age < 12.5", epsilon=0.001).status_code == 403


def test_every_researcher_and_project_has_an_own_budget(
    service: Service, client: TestClient, make: Make, researcher: Person, steward: Person
) -> None:
    one, two = make(), make()
    asked(client, one, researcher, epsilon=2)
    assert asked(client, one, researcher, APPENDIX).status_code == 403
    assert asked(client, two, researcher, APPENDIX).status_code == 200
    assert asked(client, one, steward, APPENDIX).status_code == 200
    mine = client.get(f"{one}/budget", headers=researcher.headers).json()
    theirs = client.get(f"{one}/budget?user_id={researcher.user_id}", headers=steward.headers).json()
    assert mine == theirs
    assert client.get(f"{one}/budget?user_id={steward.user_id}", headers=researcher.headers).status_code == 404


REFUSED = (
    "SELECT * FROM PRIORI",
    "SELECT age FROM PRIORI",
    "SELECT COUNT(*) FROM PRIORI JOIN other ON true",
    "SELECT COUNT(*) FROM PRIORI, PRIORI p",
    "SELECT COUNT(*) FROM (SELECT * FROM PRIORI)",
    "SELECT COUNT(*) FROM PRIORI UNION SELECT COUNT(*) FROM PRIORI",
    "SELECT COUNT(*) FROM PRIORI -- all",
    "SELECT COUNT(*) FROM PRIORI; DROP TABLE PRIORI",
    "SELECT COUNT(*), read_csv('/etc/passwd') FROM PRIORI",
    "SELECT LENGTH(gender) FROM PRIORI",
    "SELECT SUM(unknown_column) FROM PRIORI",
    "SELECT COUNT(*) FROM PRIORI WHERE zip_code = '476'",
    "SELECT COUNT(*) FROM PRIORI WHERE disease = 'flu'",
    "SELECT AVG(gender) FROM PRIORI",
    "SELECT COUNT(*) FROM other",
    "DELETE FROM PRIORI",
    "nonsense",
    "(" * 5000,
)


@pytest.mark.parametrize("route", ["analyze", "estimate"])
@on_sqlite
def test_what_is_not_safe_is_refused_with_its_place_and_nothing_is_spent(
    service: Service, client: TestClient, make: Make, researcher: Person, route: str
) -> None:
    path = make()
    for sql in REFUSED:
        answer = client.post(f"{path}/{route}", json={"query": sql}, headers=researcher.headers)
        assert answer.status_code == 400, sql
        assert answer.json()["detail"].startswith("line 1, column "), sql
    assert paid(service) == 0


WRONG: tuple[dict[str, Any], ...] = (
    {},
    {"query": ""},
    {"query": COUNT, "epsilon": 0},
    {"query": COUNT, "epsilon": "1"},
    {"query": COUNT, "x": 1},
    {"query": COUNT, "delta": 1},
    {"query": COUNT, "epsilon": 10**400},
    {"query": "x" * 200_000},
)


@on_sqlite
def test_wrong_bodies_spend_nothing(service: Service, client: TestClient, make: Make, researcher: Person) -> None:
    path = make()
    for wrong in WRONG:
        answer = client.post(f"{path}/analyze", json=wrong, headers=researcher.headers)
        assert answer.status_code == 400, answer.text
    assert paid(service) == 0


def test_an_estimate_spends_nothing(service: Service, client: TestClient, make: Make, researcher: Person) -> None:
    path = make()
    answer = client.post(f"{path}/estimate", json={"query": APPENDIX}, headers=researcher.headers)
    assert answer.status_code == 200
    assert answer.json()["cost"]["epsilon"] == 0.2
    assert answer.json()["affordable"] is True
    assert paid(service) == 0


@on_sqlite
def test_dummy_data_fits_what_may_be_asked(client: TestClient, make: Make, researcher: Person) -> None:
    path = make()
    answer = client.get(f"{path}/dummy-data?rows=50&seed=7", headers=researcher.headers)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 50
    assert set(rows[0]) == {"age", "gender", "married"}
    assert client.get(f"{path}/dummy-data?rows=50&seed=7", headers=researcher.headers).text == answer.text


def test_questions_are_listed_for_their_owner_and_for_stewards(
    service: Service, client: TestClient, make: Make, researcher: Person, steward: Person
) -> None:
    path = make()
    asked(client, path, researcher, APPENDIX)
    asked(client, path, steward, COUNT)
    mine = client.get(f"{path}/questions", headers=researcher.headers).json()
    assert [(entry["sql"], entry["answered"], entry["cost"]["epsilon"]) for entry in mine["questions"]] == [
        (APPENDIX, True, 0.2)
    ]
    everybody = client.get(f"{path}/questions", headers=steward.headers).json()
    assert [entry["user_id"] for entry in everybody["questions"]] == [steward.user_id, researcher.user_id]
    own = client.get(f"{path}/questions?user_id={researcher.user_id}", headers=steward.headers).json()
    assert own["questions"] == mine["questions"]


def test_the_budget_of_a_dataset_adds_up_over_its_projects(
    service: Service, client: TestClient, steward: Person, researcher: Person
) -> None:
    dataset, paths = store_dataset(service, patients(), steward.user_id), []
    for composition in ("pure", "pure", "zcdp"):
        config = interactive(2, 1e-6, composition=composition)
        wanted = {"name": "q", "dataset_id": dataset, "researcher_id": researcher.user_id, "config": config}
        answer = client.post("/api/v1/projects", json=wanted, headers=steward.headers)
        paths.append(f"/api/v1/projects/{answer.json()['project_id']}")
        assert asked(client, paths[-1], researcher, APPENDIX).status_code == 200
    asked(client, paths[0], steward, COUNT)
    client.delete(paths[0], headers=steward.headers)
    found = client.get(f"/api/v1/datasets/{dataset}/budget", headers=steward.headers).json()
    assert [entry["deleted"] for entry in found["accounts"]] == [True, True, False, False]
    sums = {entry["user_id"]: entry["spent"] for entry in found["users"]}
    assert sums[researcher.user_id]["epsilon"] == pytest.approx(0.6, rel=1e-6)
    assert sums[researcher.user_id]["delta"] == pytest.approx(5e-7)
    assert sums[steward.user_id]["epsilon"] == 0.2
    assert found["everybody"]["epsilon"] == pytest.approx(0.8, rel=1e-6)
    assert client.get(f"/api/v1/datasets/{dataset}/budget", headers=researcher.headers).status_code == 403


def test_what_was_spent_survives_a_deleted_project_and_a_restart(
    service: Service, service_settings: Settings, client: TestClient, make: Make, researcher: Person
) -> None:
    path = make()
    before = asked(client, path, researcher, APPENDIX).json()
    with Service.opened(service_settings, create=False) as again, client_of(again) as restarted:
        after = asked(restarted, path, researcher, APPENDIX).json()
        assert after["query_result"] == before["query_result"]
        assert after["from_record"] is True
        budget = restarted.get(f"{path}/budget", headers=researcher.headers).json()
        assert (budget["spent"]["epsilon"], budget["questions"]) == (0.2, 1)


def test_a_deleted_project_answers_no_question_and_keeps_no_table(
    service: Service, client: TestClient, make: Make, researcher: Person, steward: Person
) -> None:
    path = make()
    assert cache_of(service).bytes > 0
    client.delete(path, headers=steward.headers)
    assert cache_of(service).bytes == 0
    assert asked(client, path, researcher).status_code == 404
    assert paid(service) == 0


@on_sqlite
def test_each_kind_of_project_has_its_own_exits(
    service: Service, client: TestClient, make: Make, researcher: Person, steward: Person
) -> None:
    path = make()
    for part in ("csv", "preview", "certificate", "report"):
        answer = client.get(f"{path}/{part}", headers=researcher.headers)
        assert (answer.status_code, answer.json()["code"]) == (400, "project-interactive")
    dataset = store_dataset(service, patients(), steward.user_id)
    wanted = {"name": "r", "dataset_id": dataset, "researcher_id": researcher.user_id, "config": release()}
    headers = {**steward.headers, "Prefer": "respond-async"}
    number = client.post("/api/v1/projects", json=wanted, headers=headers).json()["project_id"]
    answer = asked(client, f"/api/v1/projects/{number}", researcher)
    assert (answer.status_code, answer.json()["code"]) == (400, "project-not-interactive")


def test_many_clients_at_once_spend_exactly_the_budget(
    service: Service, client: TestClient, make: Make, researcher: Person
) -> None:
    path = make()

    def one(number: int) -> int:
        return int(asked(client, path, researcher, f"{COUNT} WHERE age > {number % 40}", epsilon=0.1).status_code)

    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(one, range(80)))
    assert set(found) == {200, 403}
    assert paid(service) == 20
    with service.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(answered)).scalar_one() == 20
    budget = client.get(f"{path}/budget", headers=researcher.headers).json()
    assert (budget["spent"]["epsilon"], budget["remaining"]["epsilon"]) == (2, 0)


def test_a_disabled_user_gets_no_project(service: Service, client: TestClient, steward: Person) -> None:
    person = new_user(service, privileged=False)
    client.patch(f"/api/v1/users/{person.id}", json={"disabled": True}, headers=steward.headers)
    dataset = store_dataset(service, patients(), steward.user_id)
    wanted = {"name": "q", "dataset_id": dataset, "researcher_id": person.id, "config": interactive()}
    answer = client.post("/api/v1/projects", json=wanted, headers=steward.headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "project-researcher")


def test_somebody_else_pays_for_the_same_question(
    service: Service, client: TestClient, make: Make, researcher: Person, steward: Person
) -> None:
    path = make()
    asked(client, path, researcher)
    answer = asked(client, path, new_person(service, client, privileged=True))
    assert answer.json()["from_record"] is False
    assert paid(service) == 2


@on_sqlite
def test_cells_of_another_type_are_told_to_the_steward_and_a_column_of_them_is_refused(
    service: Service, client: TestClient, steward: Person, researcher: Person
) -> None:
    def made(ages: list[str]) -> Any:
        frame = patients(len(ages)).with_columns(pl.Series("age", ages))
        number = store_dataset(service, frame, steward.user_id)
        config = interactive() | {"person": "none"}
        wanted = {"name": "q", "dataset_id": number, "researcher_id": researcher.user_id, "config": config}
        return client.post("/api/v1/projects", json=wanted, headers=steward.headers)

    answer = made(["30", "1,5", "n/a", "40"])
    assert answer.status_code == 201, answer.text
    assert answer.json()["warnings"] == ["age: 2 cells not of type int, treated as missing"]
    shown = client.get(f"/api/v1/projects/{answer.json()['project_id']}", headers=researcher.headers).json()
    assert shown["warnings"] is None
    refused = made(["a", "b", "c", "d"])
    assert (refused.status_code, refused.json()["code"]) == (400, "query-table")
