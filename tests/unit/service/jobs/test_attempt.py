"""One attempt at a job: whatever happens while it is watched, no job ends with what became of another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kohorte.data import parse_table
from kohorte.errors import InputError
from kohorte.service.context import Service
from kohorte.service.jobs import attempt as attempt_module
from kohorte.service.jobs import queue
from kohorte.service.jobs.attempt import Attempt
from kohorte.service.jobs.worker import Worker
from kohorte.service.storage.schema import datasets, jobs, projects
from kohorte.service.vault import Content
from support.jobs import CSV, WIDE, WIDE_CSV, ended, locked_files, long_plan, new_dataset, new_project, row_of, working
from support.service import on_sqlite

CONFLICT = InputError("another change came first", code="service-conflict")
DONE = {"state": "done", "result": {}, "values": {"rows": 1}}


class ScriptedChild:
    """A process that answers what a test tells it to; each answer is made from the name of the order."""

    def __init__(self, *answers: Callable[[str], dict[str, Any] | None]) -> None:
        self._answers = list(answers)
        self._name = ""
        self.killed = False

    def send(self, message: dict[str, Any]) -> None:
        self._name = message["order"]

    def receive(self, seconds: float) -> dict[str, Any] | None:
        return self._answers.pop(0)(self._name)

    def resident(self) -> int:
        return 0

    def kill(self) -> None:
        self.killed = True


def attempted(service: Service, child: ScriptedChild, do_chores: Callable[[], None] = lambda: None) -> None:
    claim = queue.claim(service, "test")
    assert claim is not None
    Attempt(service, claim, child, stopping=lambda: False, do_chores=do_chores).perform()  # type: ignore[arg-type]


def test_the_answer_to_an_order_ends_the_job_and_the_process_stays(service: Service) -> None:
    dataset_id, job_id = new_dataset(service)
    child = ScriptedChild(lambda _: None, lambda name: {"order": name, "outcome": DONE})
    attempted(service, child)
    assert not child.killed
    assert row_of(service, jobs, job_id).state == "done"
    assert row_of(service, datasets, dataset_id).rows == 1


@on_sqlite
@pytest.mark.parametrize("answer", [{"outcome": DONE}, {"progress": 0.5, "message": "x"}, {"file": "0" * 32}])
@pytest.mark.parametrize("order", [{}, {"order": "1.1.another"}])
def test_an_answer_to_another_order_is_refused_and_the_job_tried_again(
    service: Service, answer: dict[str, Any], order: dict[str, str]
) -> None:
    dataset_id, job_id = new_dataset(service)
    child = ScriptedChild(lambda _: {**order, **answer})
    attempted(service, child)
    job = row_of(service, jobs, job_id)
    assert child.killed
    assert (job.state, job.attempt, job.progress, job.worker) == ("queued", 1, 0.0, None)
    assert row_of(service, datasets, dataset_id).state == "preparing"
    again = ScriptedChild(lambda name: {"order": name, "outcome": DONE})
    attempted(service, again)
    assert row_of(service, jobs, job_id).state == "done"


@on_sqlite
def test_two_attempts_never_have_the_same_order(service: Service) -> None:
    new_dataset(service)
    seen: list[str] = []
    for _ in range(2):
        attempted(service, ScriptedChild(lambda name: seen.append(name) or {"order": ""}))  # type: ignore[func-returns-value]
    assert len(set(seen)) == 2


@pytest.mark.parametrize("where", ["look", "answer"])
def test_an_unexpected_error_ends_the_process_and_the_job_is_tried_again(
    service: Service, monkeypatch: pytest.MonkeyPatch, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, job_id = new_dataset(service)

    def fail(*_: object) -> None:
        raise RuntimeError("canary")

    if where == "look":
        monkeypatch.setattr(queue, "standing", fail)
        child = ScriptedChild(lambda _: None)
    else:
        child = ScriptedChild(lambda name: {"order": name, "outcome": {"state": "strange"}})
    written = service.vault.write(b"half")
    child._answers.insert(0, lambda name: {"order": name, "file": written, "progress": 0.1, "message": "x"})
    monkeypatch.setattr(attempt_module, "LOOK_SECONDS", 0.0 if where == "look" else 60.0)
    attempted(service, child)
    job = row_of(service, jobs, job_id)
    assert child.killed
    assert (job.state, job.attempt, job.worker) == ("queued", 1, None)
    assert written not in locked_files(service)
    assert "canary" not in caplog.text


@on_sqlite
def test_an_interruption_ends_the_process_too(service: Service) -> None:
    new_dataset(service)
    child = ScriptedChild(lambda _: None)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempted(service, child, interrupt)
    assert child.killed


def test_a_job_that_cannot_be_watched_has_failed_in_the_end(service: Service) -> None:
    _, job_id = new_dataset(service)
    for _ in range(queue.MOST_ATTEMPTS):
        attempted(service, ScriptedChild(lambda _: {"order": "another"}))
    job = row_of(service, jobs, job_id)
    assert (job.state, job.problem["code"]) == ("failed", "job-lost")


def test_a_conflict_in_the_database_is_tried_again_while_the_job_goes_on(service: Service) -> None:
    _, job_id = new_dataset(service)
    failures = [CONFLICT, CONFLICT]

    def do_chores() -> None:
        if failures:
            raise failures.pop()

    child = ScriptedChild(lambda _: None, lambda _: None, lambda name: {"order": name, "outcome": DONE})
    attempted(service, child, do_chores)
    assert not failures
    assert not child.killed
    assert (row_of(service, jobs, job_id).state, row_of(service, jobs, job_id).attempt) == ("done", 1)


@pytest.mark.slow
@pytest.mark.parametrize(("error", "attempts"), [(CONFLICT, 1), (RuntimeError("canary"), 2)])
def test_after_an_error_each_project_has_the_release_of_its_own_table(
    service: Service, monkeypatch: pytest.MonkeyPatch, error: Exception, attempts: int
) -> None:
    with working(service):
        wide, wide_job = new_dataset(service, WIDE_CSV)
        small, small_job = new_dataset(service, CSV)
        ended(service, wide_job)
        ended(service, small_job)
    real, failures = queue.standing, [error]

    def fail_once(service: Service, claim: queue.Claim) -> Any:
        if failures:
            raise failures.pop()
        return real(service, claim)

    monkeypatch.setattr(queue, "standing", fail_once)
    first, first_job = new_project(service, wide, long_plan(1.0))
    second, second_job = new_project(service, small)
    with working(service):
        rows = [ended(service, first_job), ended(service, second_job)]
    assert not failures
    assert [(row.state, row.attempt) for row in rows] == [("done", attempts), ("done", 1)]
    assert columns_of(service, first) == WIDE
    assert columns_of(service, second) == ["age", "zip", "sex", "disease"]


def columns_of(service: Service, project_id: int) -> list[str]:
    name = row_of(service, projects, project_id).release_file
    return parse_table(service.vault.read(name, Content.RELEASE), Path("release.csv")).frame.columns


def test_a_worker_and_its_jobs_survive_a_sweep_that_fails(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    (service.vault.folder / "lost+found").mkdir()
    iterdir = Path.iterdir

    def fail(path: Path) -> Any:
        if path == service.vault.folder:
            raise PermissionError
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", fail)
    _, job_id = new_dataset(service)
    with working(service) as (worker,):
        assert ended(service, job_id).state == "done"
        assert worker._swept > 0


def test_a_sign_of_life_that_fails_does_not_hold_up_the_jobs(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kohorte.service.jobs.worker.AFTER_FAILURE_SECONDS", 0.0)
    worker, calls = Worker(service), []

    def fail(*_: object) -> None:
        calls.append(1)
        raise CONFLICT

    monkeypatch.setattr(worker, "_say_alive", fail)
    worker._step()
    worker._step()
    worker._child.kill()
    assert calls == [1]  # the next sign of life waits for its time, so that jobs go on
