"""The rules of the house over HTTP: where a project is created, where a job runs, where a release leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from kohorte.cli.main import main
from kohorte.service.context import Service
from kohorte.service.house_rules import HouseRules
from kohorte.service.jobs.attempt import Attempt
from kohorte.service.jobs.queue import claim
from kohorte.service.permissions import Role
from kohorte.service.projects.ruled_projects import broken_rules
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import jobs, projects
from support.jobs import new_project, row_of
from support.projects import interactive, patients, release, store_dataset, working
from support.service import Person, client_of, new_person, new_person_with, on_sqlite

API = "/api/v1"
COUNT = {"query": "SELECT COUNT(*) FROM PRIORI"}
Create = Callable[..., Any]
PRIVATE_IDS: dict[str, dict[str, Any]] = {
    "unstated": {},
    "none": {"private_id": "none"},
    "private_id": {"private_id": "disease"},
    "person": {"person": ["zip_code", "age"]},
}


def ruled(service: Service, **rules: Any) -> Service:
    """The same service after its rules were changed and it was started again."""
    return replace(service, settings=replace(service.settings, rules=HouseRules.from_dict(rules)))


@contextmanager
def serving(service: Service, **rules: Any) -> Iterator[TestClient]:
    with client_of(ruled(service, **rules)) as client:
        yield client


@pytest.fixture
def create(service: Service, client: TestClient, steward: Person, researcher: Person) -> Create:
    """Create a project; the client may be one of a service with other rules."""
    dataset = store_dataset(service, patients(), steward.user_id)

    def made(config: dict[str, Any], client: TestClient = client) -> Any:
        body = {"name": "p", "dataset_id": dataset, "researcher_id": researcher.user_id, "config": config}
        with working(service):
            return client.post(f"{API}/projects", json=body, headers=steward.headers)

    return made


def refusal(answer: Any) -> tuple[int, str, str]:
    return answer.status_code, answer.json()["code"], answer.json()["rule"]


def by(rule: str) -> tuple[int, str, str]:
    return 403, "house-rule", rule


@on_sqlite
@pytest.mark.parametrize(
    ("rules", "config", "rule"),
    [
        ({"least_k": 6}, release(5), "least_k"),
        ({"people": "stated"}, release(5), "people"),
        ({"people": "stated"}, interactive(1), "people"),
        ({"people": "counted"}, interactive(1) | {"private_id": "none"}, "people"),
        ({"required_models": [{"model": "l-diversity_distinct", "l": 3}]}, release(5), "required_models"),
        ({"largest_epsilon": 1}, interactive(2), "largest_epsilon"),
        ({"largest_delta": 1e-7}, interactive(1, 1e-6), "largest_delta"),
        ({"dataset_epsilon": 1}, interactive(2), "dataset_epsilon"),
        ({"dataset_delta": 1e-7}, interactive(1, 1e-6), "dataset_delta"),
    ],
)
def test_a_project_that_breaks_a_rule_is_not_created(
    service: Service, create: Create, rules: dict[str, Any], config: dict[str, Any], rule: str
) -> None:
    with serving(service, **rules) as client:
        answer = create(config, client)
    assert refusal(answer) == by(rule)
    assert answer.json()["detail"].startswith(f"rule {rule}: ")
    assert broken_rules(service) == []


def test_a_project_that_keeps_the_rules_is_created(service: Service, create: Create) -> None:
    rules = {
        "least_k": 5,
        "required_models": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity_distinct", "l": 2}],
    }
    with serving(service, **rules, largest_epsilon=2, dataset_epsilon=2) as client:
        assert create(release(10), client).status_code == 201
        assert create(interactive(2), client).status_code == 201


def test_a_stricter_rule_holds_for_releases_that_were_made_before(
    service: Service, client: TestClient, create: Create, researcher: Person, steward: Person
) -> None:
    project = f"{API}/projects/{create(release(5)).json()['project_id']}"
    assert client.get(f"{project}/csv", headers=researcher.headers).status_code == 200
    with serving(service, least_k=6) as stricter:
        for person in (researcher, steward):
            for part in ("csv", "preview"):
                assert refusal(stricter.get(f"{project}/{part}", headers=person.headers)) == by("least_k")
            assert stricter.get(f"{project}/certificate", headers=person.headers).status_code == 200
    stated = f"{API}/projects/{create(release(5, person='none')).json()['project_id']}"
    with serving(service, people="stated") as people:
        assert people.get(f"{stated}/csv", headers=researcher.headers).status_code == 200
        assert refusal(people.get(f"{project}/csv", headers=researcher.headers)) == by("people")


def test_a_stricter_rule_holds_for_projects_that_answered_before(
    service: Service, client: TestClient, create: Create, researcher: Person
) -> None:
    project = f"{API}/projects/{create(interactive(2)).json()['project_id']}"
    assert client.post(f"{project}/analyze", json=COUNT, headers=researcher.headers).status_code == 200
    with serving(service, largest_epsilon=1) as stricter:
        for operation in ("analyze", "estimate"):
            answer = stricter.post(f"{project}/{operation}", json=COUNT, headers=researcher.headers)
            assert refusal(answer) == by("largest_epsilon")


def test_queries_that_do_not_say_whom_a_row_is_about_end_with_the_rule(
    service: Service, create: Create, researcher: Person
) -> None:
    made = {key: create(interactive(2) | stated).json()["project_id"] for key, stated in PRIVATE_IDS.items()}
    answered: dict[str, list[int]] = {}
    for rule in ("stated", "counted"):
        with serving(service, people=rule) as stricter:
            asked = [
                stricter.post(f"{API}/projects/{number}/analyze", json=COUNT, headers=researcher.headers)
                for number in made.values()
            ]
            answered[rule] = [answer.status_code for answer in asked]
            assert all(refusal(answer) == by("people") for answer in asked if answer.status_code != 200)
        broken = {one.project_id for one in broken_rules(ruled(service, people=rule))}
        assert broken == {one for one, status in zip(made.values(), answered[rule], strict=True) if status != 200}
    assert answered == {"stated": [403, 200, 200, 200], "counted": [403, 403, 200, 200]}


def test_a_stricter_rule_holds_for_jobs_that_were_queued_before(service: Service, steward: Person) -> None:
    project_id, job_id = new_project(service, store_dataset(service, patients(), steward.user_id))
    stricter = ruled(service, least_k=1000)
    taken = claim(stricter, "test")
    assert taken is not None
    Attempt(stricter, taken, None, stopping=lambda: False, do_chores=lambda: None).perform()  # type: ignore[arg-type]
    row = row_of(service, jobs, job_id)
    assert (row.state, row.problem["code"], row.problem["rule"]) == ("failed", "house-rule", "least_k")
    assert row_of(service, projects, project_id).state == "failed"


def test_several_people_in_several_projects_share_the_total_of_a_dataset(
    service: Service, create: Create, researcher: Person, steward: Person
) -> None:
    with serving(service, dataset_epsilon=1) as client:
        paths = [f"{API}/projects/{create(interactive(1), client).json()['project_id']}" for _ in range(2)]
        others = [(paths[0], researcher), (paths[1], researcher), (paths[0], steward), (paths[1], steward)]
        answers = [
            client.post(
                f"{path}/analyze",
                json={"query": f"SELECT COUNT(*) FROM PRIORI WHERE age > {number}", "epsilon": 0.3},
                headers=person.headers,
            )
            for number, (path, person) in enumerate(others)
        ]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 403]
        assert refusal(answers[3]) == by("dataset_epsilon")
        assert answers[3].json()["remaining"]["epsilon"] == pytest.approx(0.1)
        assert client.get(f"{paths[0]}/budget", headers=steward.headers).json()["spent"]["epsilon"] == 0.3
        dataset = client.get(paths[0], headers=steward.headers).json()["dataset_id"]
        shown = client.get(f"{API}/datasets/{dataset}/budget", headers=steward.headers).json()
        assert (shown["counted"]["epsilon"], shown["limit"]["epsilon"]) == (pytest.approx(0.9), 1)


@on_sqlite
def test_everybody_who_is_signed_in_reads_the_rules_and_nobody_else(
    service: Service, client: TestClient, researcher: Person
) -> None:
    assert client.get(f"{API}/rules").status_code == 401
    trustee = new_person_with(service, client, Role.TRUSTEE)
    with serving(service, least_k=7, required_models=[{"model": "k-anonymity", "k": 7}]) as other:
        for person in (researcher, trustee):
            shown = other.get(f"{API}/rules", headers=person.headers).json()
            assert (shown["least_k"], shown["required_models"]) == (7, [{"model": "k-anonymity", "k": 7}])
            assert shown == HouseRules.from_dict(shown).to_dict()


def test_a_release_waits_for_somebody_who_has_no_part_in_the_project(
    service: Service, client: TestClient, create: Create, researcher: Person, steward: Person
) -> None:
    project = f"{API}/projects/{create(release(5)).json()['project_id']}"
    approver = new_person_with(service, client, Role.APPROVER)
    with serving(service, second_approver="releases") as strict:
        for person in (researcher, steward):
            for part in ("csv", "preview"):
                assert strict.get(f"{project}/{part}", headers=person.headers).status_code == 202
        for part in ("certificate", "report"):
            assert refusal(strict.get(f"{project}/{part}", headers=researcher.headers)) == by("second_approver")
            assert strict.get(f"{project}/{part}", headers=approver.headers).status_code == 200
        asked = strict.get(f"{project}/csv", headers=researcher.headers).headers["Location"]
        assert refusal(strict.post(f"{asked}/confirm", headers=steward.headers)) == by("second_approver")
        assert strict.get(f"{project}/csv", headers=researcher.headers).status_code == 202
        assert strict.post(f"{asked}/confirm", headers=approver.headers).status_code == 200
        for part in ("csv", "preview", "certificate", "report"):
            assert strict.get(f"{project}/{part}", headers=researcher.headers).status_code == 200


def test_somebody_else_does_not_learn_whether_a_release_waits(service: Service, create: Create) -> None:
    project = f"{API}/projects/{create(release(5)).json()['project_id']}"
    with serving(service, second_approver="releases") as strict:
        outsider = new_person(service, strict, privileged=False)
        for part in ("csv", "preview", "certificate", "report"):
            assert strict.get(f"{project}/{part}", headers=outsider.headers).status_code == 404


def test_the_approval_of_the_creator_does_not_count_once_the_rule_is_there(
    service: Service, create: Create, researcher: Person, steward: Person
) -> None:
    project = f"{API}/projects/{create(release(5)).json()['project_id']}"
    lax = replace(service, settings=replace(service.settings, two_people=("download_csv",)))
    with client_of(lax) as client:
        asked = client.get(f"{project}/csv", headers=researcher.headers).headers["Location"]
        assert client.post(f"{asked}/confirm", headers=steward.headers).status_code == 200
        assert client.get(f"{project}/csv", headers=researcher.headers).status_code == 200
    with serving(service, second_approver="releases") as strict:
        assert strict.get(f"{project}/csv", headers=researcher.headers).status_code == 202
        other = new_person(service, strict, privileged=True)
        asked = strict.get(f"{project}/csv", headers=researcher.headers).headers["Location"]
        assert strict.post(f"{asked}/confirm", headers=other.headers).status_code == 200
        assert strict.get(f"{project}/csv", headers=researcher.headers).status_code == 200


def test_projects_that_break_a_rule_are_named(
    service: Service,
    service_settings: Settings,
    create: Create,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = [create(config).json()["project_id"] for config in (release(5), interactive(2), release(10))]
    path: Path = service_settings.folder / "service.yaml"
    path.write_text("rules: {least_k: 6, largest_epsilon: 1}\n")
    monkeypatch.setenv("KOHORTE_DATABASE", service_settings.database_address)
    capsys.readouterr()
    assert main(["service", "status", "--folder", str(service_settings.folder)]) == 1
    out = capsys.readouterr().out
    assert "rule least_k: 6\n" in out
    assert f"project {numbers[0]} breaks the rule least_k: " in out
    assert f"project {numbers[1]} breaks the rule largest_epsilon: " in out
    assert f"project {numbers[2]} breaks" not in out
    assert main(["serve", "--folder", str(service_settings.folder), "--migrate-only"]) == 0
    assert f"project {numbers[0]} breaks the rule least_k: " in capsys.readouterr().err
    path.write_text("rules: {least_k: 5}\n")
    assert main(["service", "status", "--folder", str(service_settings.folder)]) == 0
