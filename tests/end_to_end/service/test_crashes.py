"""kill -9 of everything, in the middle: what was acknowledged is there afterwards, and nothing is spent twice."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import psycopg
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
            ask_as(client, path, number, answers)
    except httpx.TransportError:
        return


def ask_as(client: httpx.Client, path: str, number: int, answers: dict[str, Any], epsilon: float = EPSILON) -> None:
    """Ask one question after the other until the server or the budget is gone."""
    try:
        for age in range(100):
            query = f"SELECT COUNT(*) FROM PRIORI WHERE age >= {number} AND age <= {age}"
            answer = client.post(path, json={"query": query, "epsilon": epsilon, "delta": 0})
            if answer.status_code == 200:
                answers[query] = answer.json()["query_result"]
            elif answer.json().get("code") == "query-budget":
                return
    except httpx.TransportError:
        return


@pytest.mark.slow
@pytest.mark.parametrize(("database", "processes"), [("sqlite", 1), ("postgresql", 2)])
def test_a_group_that_is_killed_between_its_log_and_the_database_is_paid_for_once(
    database: str, processes: int, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """The moment is when spent.log has all payments of a group, and the database none of them."""
    budget, large, options = 10, 0.5, ("--processes", str(processes))
    answers: dict[str, Any] = {}
    with ExitStack() as stack:
        address = stack.enter_context(cluster(pytestconfig).database()) if database == "postgresql" else None
        with running(tmp_path / "service", database=address, options=options) as service:
            path = new_project(service, budget)
            with service.signed_in(RESEARCHER["email_address"]) as client, all_asking(client, path, EPSILON, answers):
                give_up = time.monotonic() + 120
                while len(answers) < 20 and time.monotonic() < give_up:
                    time.sleep(0.01)
                kill_within_a_group(service, address)
        killed = paid(service)
        assert len(killed) - known(service, address) > 1
        with running(tmp_path / "service", database=address, options=options) as again:
            with again.signed_in(RESEARCHER["email_address"]) as client:
                assert len(answers) >= 20
                for query, result in answers.items():
                    answer = client.post(path, json={"query": query, "epsilon": EPSILON, "delta": 0}).json()
                    assert (answer["from_record"], answer["query_result"]) == (True, result)
                with all_asking(client, path, large, {}):
                    pass
                told = client.get(path.replace("analyze", "budget")).json()
            assert budget - large < told["spent"]["epsilon"] == float(sum(paid(again))) <= budget
            assert told["questions"] == len(paid(again)) == known(again, address)
            assert paid(again)[: len(killed)] == killed
            with again.signed_in() as steward:
                assert steward.get("/audit/verify").json()["whole"]


def new_project(service: Running, budget: float) -> str:
    """Set a service up; return where its project is asked."""
    service.set_up()
    with service.signed_in() as steward:
        made = story.dataset(steward, patients.csv(1_000)), story.researcher(steward)
        return f"/projects/{story.project(steward, *made, patients.interactive_config(budget, 1e-6))}/analyze"


@contextmanager
def all_asking(client: httpx.Client, path: str, epsilon: float, answers: dict[str, Any]) -> Iterator[None]:
    """Thirty clients ask at the same time until the budget is spent or the server is killed."""
    asking = [threading.Thread(target=ask_as, args=(client, path, one, answers, epsilon)) for one in range(30)]
    for thread in asking:
        thread.start()
    yield
    for thread in asking:
        thread.join()


def kill_within_a_group(service: Running, address: str | None) -> None:
    """kill -9 when spent.log has several payments that the database lacks; all processes are stopped to look."""
    everybody = [service.process.pid, *descendants(service.process.pid)]
    log, give_up = service.folder / "spent.log", time.monotonic() + 120
    size = log.stat().st_size
    while time.monotonic() < give_up:
        if log.stat().st_size == size:
            continue
        signal_all(everybody, signal.SIGSTOP)
        size = log.stat().st_size
        with suppress(sqlite3.OperationalError):  # it was stopped while it changed the file's locks
            if len(paid(service)) - known(service, address) > 1:
                break
        signal_all(everybody, signal.SIGCONT)
    signal_all(everybody, signal.SIGKILL)


def paid(service: Running) -> list[Fraction]:
    """The payments in spent.log."""
    lines = (service.folder / "spent.log").read_bytes().splitlines(keepends=True)
    whole = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return [Fraction(line["amount"]) for line in whole if line["kind"] == "spend"]


def known(service: Running, address: str | None) -> int:
    """The payments that the database knows."""
    path = service.folder / "service.db"
    with closing(sqlite3.connect(path) if address is None else psycopg.connect(address)) as database:
        found = database.execute("SELECT count(*) FROM spent").fetchone()
    return int(found[0])


def kill(process: int) -> None:
    """kill -9 of a process and all that it started, before any of them can notice."""
    everybody = [process, *descendants(process)]
    signal_all(everybody, signal.SIGSTOP)
    signal_all(everybody, signal.SIGKILL)


def signal_all(everybody: list[int], number: int) -> None:
    """Send a signal to processes."""
    for one in everybody:
        os.kill(one, number)


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
