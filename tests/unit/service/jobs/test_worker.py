"""Workers: every job is done once, whoever is killed, and nothing is left behind."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sqlite3
import time
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import select, update

import kohorte as ko
from kohorte.data import parse_table
from kohorte.service.access import Actor
from kohorte.service.audit import verify_log
from kohorte.service.context import Service
from kohorte.service.jobs import queue
from kohorte.service.jobs import worker as worker_module
from kohorte.service.jobs.settlement import Outcome, cancel, settle
from kohorte.service.storage import schema
from kohorte.service.storage.database import Database
from kohorte.service.storage.schema import audit, datasets, jobs, projects, workers
from kohorte.service.vault import Content
from kohorte.service.web.execution.synchronous import finished
from kohorte.service.web.metrics import workers_seen
from support.jobs import (
    CSV,
    PLAN,
    WIDE_CSV,
    children_of,
    ended,
    is_alive,
    let_leases_run_out,
    locked_files,
    long_plan,
    new_creator,
    new_dataset,
    new_project,
    new_risk_job,
    row_of,
    running,
    wait_for,
    worker_process,
    working,
)
from support.marked_rows import mark_rows
from support.service import STEWARD, on_sqlite


def ends(service: Service) -> Counter[str]:
    """How often each job has ended, by the audit log."""
    with service.database.reading() as connection:
        rows = connection.execute(select(audit).where(audit.c.action == "end-job")).all()
    return Counter(row.object for row in rows)


def named_files(service: Service) -> set[str]:
    """The files that rows name."""
    columns = (datasets.c.uploaded_file, datasets.c.table_file, projects.c.release_file, projects.c.report_file)
    with service.database.reading() as connection:
        found = [connection.execute(select(column)).scalars().all() for column in columns]
    return {name for column in found for name in column if name is not None}


def prepared(service: Service) -> int:
    """A dataset for long searches, made without a worker."""
    dataset_id, _ = new_dataset(service, WIDE_CSV)
    claim = queue.claim(service, "test")
    assert claim is not None
    table = io.BytesIO()
    parse_table(WIDE_CSV, Path("wide.csv")).frame.write_parquet(table)
    values = {"table_file": service.vault.write(table.getvalue())}
    assert settle(service, claim, Outcome(queue.State.DONE, values=values))
    return dataset_id


def steward(service: Service) -> Actor:
    return Actor(new_creator(service), STEWARD, "")


def test_datasets_releases_and_risks_are_made(service: Service) -> None:
    with working(service):
        dataset_id, job_id = new_dataset(service)
        assert ended(service, job_id).problem is None
        dataset = row_of(service, datasets, dataset_id)
        assert (dataset.state, dataset.rows, len(dataset.columns)) == ("ready", 200, 4)
        project_id, job_id = new_project(service, dataset_id)
        job = ended(service, job_id)
        assert (job.state, job.progress, job.attempt) == ("done", 1.0, 1)
        project = row_of(service, projects, project_id)
        risk = ended(service, new_risk_job(service, dataset_id))
    released = parse_table(service.vault.read(project.release_file, Content.RELEASE), Path("release.csv")).frame
    assert ko.verify(released, ko.Plan.from_dict(PLAN)).satisfied
    assert project.state == "ready"
    assert project.certificate["verification"]["satisfied"]
    assert b"<html" in service.vault.read(project.report_file, Content.REPORT)
    assert risk.result["weighted_risk"]["risk"] > 0
    assert locked_files(service) == named_files(service)
    assert verify_log(service.database, service.log).whole


@on_sqlite
def test_one_small_job_after_the_other_is_waited_for(service: Service) -> None:
    with working(service):
        ended(service, new_dataset(service)[1])
        for _ in range(5):
            _, job_id = new_dataset(service)
            assert asyncio.run(finished(service, job_id, 60)).state == "done"


@on_sqlite
def test_what_went_wrong_is_a_problem_with_its_status(service: Service) -> None:
    gaps = pl.read_csv(CSV, infer_schema=False)
    gaps = gaps.with_columns(pl.when(pl.int_range(pl.len()) < 50).then(None).otherwise("age").alias("age"))
    with working(service):
        dataset_id, _ = new_dataset(service, gaps.write_csv().encode())
        plan = PLAN | {"missing": "suppress", "suppression_limit": 0.1}
        project_id, job_id = new_project(service, dataset_id, plan)
        broken_id, broken_job = new_dataset(service, b"a,b\n1,2\n3\n")
        job, broken = ended(service, job_id), ended(service, broken_job)
    project = row_of(service, projects, project_id)
    assert (job.state, job.problem["status"]) == ("failed", 422)
    assert (project.state, project.problem, project.release_file) == ("failed", job.problem, None)
    assert (broken.state, broken.problem["status"]) == ("failed", 400)
    assert row_of(service, datasets, broken_id).state == "failed"
    assert locked_files(service) == named_files(service)


@pytest.mark.slow
def test_three_workers_do_a_hundred_jobs_once_each(service: Service) -> None:
    numbers = [new_dataset(service, CSV[: 400 + number])[1] for number in range(100)]
    with working(service, 3):
        for number in numbers:
            ended(service, number, 60)
    rows = [row_of(service, jobs, number) for number in numbers]
    assert {row.attempt for row in rows} == {1}
    assert set(ends(service).values()) == {1}
    assert len(ends(service)) == 100
    assert locked_files(service) == named_files(service)


@pytest.mark.slow
def test_a_job_that_runs_is_cancelled(service: Service) -> None:
    project_id, job_id = new_project(service, prepared(service), long_plan())
    with working(service):
        running(service, job_id)
        assert cancel(service, steward(service), job_id).state == "running"
        row = ended(service, job_id)
    assert (row.state, row.problem["code"]) == ("cancelled", "job-cancelled")
    assert row_of(service, projects, project_id).state == "failed"
    assert locked_files(service) == named_files(service)


@pytest.mark.slow
def test_progress_grows_while_a_search_runs(service: Service) -> None:
    _, job_id = new_project(service, prepared(service), long_plan(3.0))
    seen = []
    with working(service):
        while not queue.State((row := row_of(service, jobs, job_id)).state).ended:
            seen.append((row.progress, row.message))
            time.sleep(0.05)
    assert row.state == "done"
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert any(message.startswith("searching") for _, message in seen)


@pytest.mark.slow
def test_a_worker_that_stops_puts_its_job_back(service: Service) -> None:
    _, job_id = new_project(service, prepared(service), long_plan())
    with worker_process(service) as process:
        running(service, job_id)
        (child,) = children_of(process.pid)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    row = row_of(service, jobs, job_id)
    assert (row.state, row.attempt, row.worker, row.progress) == ("queued", 0, None, 0.0)
    assert not is_alive(child)
    assert locked_files(service) == named_files(service)
    with service.database.reading() as connection:
        assert connection.execute(select(workers)).all() == []


@pytest.mark.slow
def test_the_job_of_a_killed_worker_is_finished_by_another(service: Service) -> None:
    project_id, job_id = new_project(service, prepared(service), long_plan(2.0))
    with worker_process(service) as process:
        running(service, job_id)
        (child,) = children_of(process.pid)
        process.kill()
        process.wait()
    wait_for(lambda: not is_alive(child), 10)
    assert row_of(service, jobs, job_id).state == "running"
    let_leases_run_out(service)
    with working(service):
        row = ended(service, job_id)
    assert (row.state, row.attempt) == ("done", 2)
    assert ends(service)[f"job {job_id}"] == 1
    assert row_of(service, projects, project_id).state == "ready"
    assert locked_files(service) == named_files(service)


@pytest.mark.slow
def test_a_job_whose_process_is_killed_is_tried_again(service: Service) -> None:
    _, job_id = new_project(service, prepared(service), long_plan(2.0))
    with working(service) as (worker,):
        running(service, job_id)
        first = worker._child.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        row = ended(service, job_id)
        assert worker._child.pid != first
    assert (row.state, row.attempt) == ("done", 2)
    assert locked_files(service) == named_files(service)


@pytest.mark.slow
def test_a_job_that_kills_every_process_has_failed_in_the_end(service: Service) -> None:
    project_id, job_id = new_project(service, prepared(service), long_plan())
    with working(service) as (worker,):
        for attempt in (1, 2, 3):
            wait_for(lambda: (row := running(service, job_id)).attempt == attempt and row.message)  # noqa: B023
            pid = worker._child.pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: worker._child.pid != pid)  # noqa: B023
        row = ended(service, job_id)
    assert (row.state, row.problem["code"], row.attempt) == ("failed", "job-lost", 3)
    assert row_of(service, projects, project_id).state == "failed"


@pytest.mark.slow
def test_a_slow_worker_whose_job_was_taken_over_lets_go_of_it(service: Service) -> None:
    _, job_id = new_project(service, prepared(service), long_plan())
    with working(service) as (old,):
        running(service, job_id)
        pid = old._child.pid
        with service.database.writing() as connection:  # as if another had taken the job over
            connection.execute(update(jobs).values(worker="another", attempt=2))
        wait_for(lambda: old._child.pid != pid, 10)
        assert (row := row_of(service, jobs, job_id)).state == "running"
        assert (row.worker, row.attempt) == ("another", 2)
    assert ends(service)[f"job {job_id}"] == 0


@pytest.mark.slow
def test_a_job_that_needs_too_much_memory_fails_and_is_not_tried_again(service: Service) -> None:
    _, job_id = new_project(service, prepared(service), long_plan())
    small = replace(service, settings=replace(service.settings, worker_memory=1 << 20))
    with working(small):
        row = ended(service, job_id)
    assert (row.state, row.attempt) == ("failed", 1)
    assert (row.problem["code"], row.problem["status"]) == ("job-memory-too-large", 413)


@pytest.mark.slow
def test_a_job_of_a_deleted_project_comes_to_nothing(service: Service) -> None:
    project_id, job_id = new_project(service, prepared(service), long_plan())
    with working(service):
        running(service, job_id)
        with service.database.writing() as connection:
            connection.execute(update(projects).where(projects.c.id == project_id).values(deleted_at=queue.now()))
            mark_rows(service, connection)
            connection.execute(update(jobs).where(jobs.c.id == job_id).values(cancel_requested=True))
        assert ended(service, job_id).state == "cancelled"
    assert locked_files(service) == named_files(service)


@pytest.mark.slow
def test_a_worker_is_heard_of_and_its_lease_renewed_while_a_long_job_runs(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "HEARTBEAT_SECONDS", 0.1)
    _, job_id = new_project(service, prepared(service), long_plan())

    def standing() -> tuple[Any, Any]:
        with service.database.reading() as connection:
            seen = connection.execute(select(workers.c.seen_at)).scalar_one()
        return seen, row_of(service, jobs, job_id).lease_until

    with working(service):
        running(service, job_id)
        seen, lease = standing()
        wait_for(lambda: standing()[0] > seen and standing()[1] > lease, 10)


def test_workers_are_known_while_they_work(service: Service) -> None:
    def known() -> list[str]:
        with service.database.reading() as connection:
            return list(connection.execute(select(workers.c.name)).scalars())

    with working(service, 2):
        wait_for(lambda: len(known()) == 2)
    assert known() == []


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
@pytest.mark.parametrize("hours", [-1, 1])
def test_a_worker_whose_clock_is_wrong_is_seen_as_long_as_it_gives_signs_of_life(
    service: Service, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    class Wrong(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return datetime.now(tz) + timedelta(hours=hours)

    worker = worker_module.Worker(service)
    with monkeypatch.context() as patched:
        patched.setattr(schema, "datetime", Wrong)
        worker._say_alive()
        assert workers_seen(service) == 1
    assert workers_seen(service) == 1
    with service.database.writing() as connection:
        assert connection.execute(select(workers.c.seen_at)).scalar_one() <= queue.clock(connection)
        connection.execute(update(workers).values(seen_at=queue.clock(connection) - timedelta(minutes=1)))
    assert workers_seen(service) == 0


@on_sqlite
def test_a_worker_survives_a_database_that_somebody_else_locks(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kohorte.service.storage.database.WAIT_SECONDS", 0)
    impatient = replace(service, database=Database(service.settings.database_address))
    _, job_id = new_dataset(service)
    other = sqlite3.connect(service.settings.folder / "service.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with working(impatient) as (worker,):
        wait_for(lambda: worker._child.pid is not None, 20)
        assert row_of(service, jobs, job_id).state == "queued"
        other.execute("ROLLBACK")
        assert ended(service, job_id).state == "done"
    other.close()
    impatient.database.close()
