"""kill -9 of everything, in the middle: what was acknowledged is there afterwards, and nothing is spent twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.postgres import cluster
from testbed import patients, story
from testbed.running import RESEARCHER, Running, free_port, running

EPSILON = 0.01


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_answers_outlive_the_server(database: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    with ExitStack() as stack:
        address = stack.enter_context(cluster(pytestconfig).database()) if database == "postgresql" else None
        answers: dict[str, Any] = {}
        with running(tmp_path / "service", database=address) as service:
            service.set_up()
            with service.signed_in() as steward:
                made = story.dataset(steward, patients.csv(1_000)), story.researcher(steward)
                project_id = story.project(steward, *made, patients.interactive_config(10, 1e-6))
            path = f"/projects/{project_id}/analyze"
            asking = [threading.Thread(target=ask, args=(service, path, number, answers)) for number in range(8)]
            for thread in asking:
                thread.start()
            give_up = time.monotonic() + 120
            while len(answers) <= 40 and time.monotonic() < give_up:
                time.sleep(0.05)
            kill(service.process.pid)
            for thread in asking:
                thread.join()
        assert len(answers) > 8
        with running(tmp_path / "service", database=address) as again:
            again_answers(again, project_id, answers)


def again_answers(service: Running, project_id: int, answers: dict[str, Any]) -> None:
    """Every acknowledged answer is in the record, and the books hold at least those costs."""
    with service.signed_in(RESEARCHER["email_address"]) as client:
        spent = client.get(f"/projects/{project_id}/budget").json()["spent"]["epsilon"]
        paid = round(spent / EPSILON)
        assert len(answers) <= paid <= len(answers) + 8  # those under way when the server died may have paid
        for query, result in answers.items():
            body = {"query": query, "epsilon": EPSILON, "delta": 0}
            answer = client.post(f"/projects/{project_id}/analyze", json=body).json()
            assert (answer["from_record"], answer["query_result"]) == (True, result)
        assert client.get(f"/projects/{project_id}/budget").json()["spent"]["epsilon"] == spent


def ask(service: Running, path: str, number: int, answers: dict[str, Any]) -> None:
    """Ask one question after the other until the server is gone."""
    try:
        with service.signed_in(RESEARCHER["email_address"]) as client:
            for age in range(100):
                query = f"SELECT COUNT(*) FROM PRIORI WHERE age >= {number} AND age <= {age}"
                answer = client.post(path, json={"query": query, "epsilon": EPSILON, "delta": 0})
                if answer.status_code == 200:
                    answers[query] = answer.json()["query_result"]
    except httpx.TransportError:
        return


def kill(process: int) -> None:
    """kill -9 of a process and all that it started, before any of them can notice."""
    everybody = [process, *descendants(process)]
    for number in everybody:
        os.kill(number, signal.SIGSTOP)
    for number in everybody:
        os.kill(number, signal.SIGKILL)


def descendants(process: int) -> list[int]:
    """The children of a process, and theirs."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [number for child in listed for number in (int(child), *descendants(int(child)))]


@pytest.mark.slow
def test_an_upload_and_a_project_outlive_the_worker_and_the_server(tmp_path: Path) -> None:
    later = {"Prefer": "respond-async"}
    with running(tmp_path / "service", port=free_port()) as service:
        service.set_up()
        with service.signed_in() as steward:
            researcher_id = story.researcher(steward)
            dataset_id = story.dataset(steward, patients.csv(100_000))
            body = {"name": "n", "description": "d", "dataset_id": dataset_id, "researcher_id": researcher_id}
            config = patients.anonymous_config()
            answer = steward.post("/projects", json={**body, "config": config}, headers=later)
            assert answer.status_code == 202
            project_id = answer.json()["job"]["project_id"]
        kill(service.process.pid)
    with running(tmp_path / "service") as again, again.signed_in() as steward:
        give_up = time.monotonic() + 300
        while steward.get(f"/projects/{project_id}").json()["state"] == "preparing" and time.monotonic() < give_up:
            time.sleep(0.5)
        assert steward.get(f"/projects/{project_id}").json()["state"] == "ready"
        assert len(steward.get(f"/projects/{project_id}/csv").text.splitlines()) == 100_001
        assert steward.get("/audit/verify").json()["whole"]
