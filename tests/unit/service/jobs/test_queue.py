"""The queue: every job is taken by one worker at a time, and one that was thought dead changes nothing."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from kohorte.service.context import Service
from kohorte.service.jobs import queue
from kohorte.service.jobs.queue import Kind, State, Subject
from kohorte.service.jobs.settlement import Outcome, settle, settle_lost
from kohorte.service.jobs.tasks import TASKS
from kohorte.service.storage.schema import datasets, jobs
from support.jobs import CSV, let_leases_run_out, new_creator, new_dataset, row_of


def claimed(service: Service, worker: str = "w") -> queue.Claim:
    found = queue.claim(service, worker)
    assert found is not None
    return found


def test_a_job_of_a_transaction_that_fails_is_not_there(service: Service) -> None:
    dataset_id, _ = new_dataset(service)
    creator = new_creator(service)

    def enqueue_and_fail() -> None:
        with service.database.writing() as connection:
            queue.enqueue(service, connection, Kind.RISK, Subject("dataset", dataset_id), actor_id=creator, request={})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        enqueue_and_fail()
    with service.database.reading() as connection:
        assert len(connection.execute(select(jobs)).all()) == 1


def test_the_request_of_a_job_is_sealed_and_comes_back_with_the_claim(service: Service) -> None:
    dataset_id, first = new_dataset(service)
    creator = new_creator(service)
    with service.database.writing() as connection:
        request = {"plan": {"secret": "canary"}}
        queue.enqueue(service, connection, Kind.RISK, Subject("dataset", dataset_id), actor_id=creator, request=request)
    assert claimed(service).job_id == first
    taken = claimed(service)
    assert taken.request == request
    assert b"canary" not in row_of(service, jobs, taken.job_id).sealed_request
    assert "canary" not in repr(taken)


def test_jobs_are_taken_in_their_order_and_none_is_taken_twice(service: Service) -> None:
    numbers = [new_dataset(service)[1] for _ in range(3)]
    assert [claimed(service).job_id for _ in numbers] == numbers
    assert queue.claim(service, "w") is None


def test_many_workers_at_once_take_each_job_once(service: Service) -> None:
    numbers = [new_dataset(service)[1] for _ in range(30)]

    def take_all(worker: str) -> list[int]:
        found = []
        while (one := queue.claim(service, worker)) is not None:
            found.append(one.job_id)
        return found

    with ThreadPoolExecutor(8) as pool:
        taken = [number for found in pool.map(take_all, map(str, range(8))) for number in found]
    missed = [number for number in numbers if row_of(service, jobs, number).state == State.QUEUED]
    assert Counter(taken) + Counter(missed) == Counter(numbers)
    assert len(missed) == 0


def test_a_job_is_taken_over_only_when_its_lease_has_run_out(service: Service) -> None:
    new_dataset(service)
    first = claimed(service, "first")
    assert queue.claim(service, "second") is None
    let_leases_run_out(service)
    second = claimed(service, "second")
    assert (second.job_id, second.attempt) == (first.job_id, 2)


def test_a_worker_whose_job_was_taken_over_can_change_nothing(service: Service) -> None:
    new_dataset(service)
    old = claimed(service, "same name")
    let_leases_run_out(service)
    new = claimed(service, "same name")
    before = row_of(service, jobs, new.job_id)
    assert not queue.renew(service, old)
    assert not queue.report_progress(service, old, 0.9, "late")
    assert not queue.give_back(service, old, counted=False)
    assert not settle(service, old, Outcome(State.DONE, result={}))
    assert queue.standing(service, old) is None
    assert row_of(service, jobs, new.job_id) == before
    assert settle(service, new, Outcome.cancelled())


def test_a_renewed_lease_keeps_others_away(service: Service) -> None:
    new_dataset(service)
    taken = claimed(service)
    let_leases_run_out(service)
    assert queue.renew(service, taken)
    assert queue.claim(service, "other") is None
    let_leases_run_out(service)
    assert queue.report_progress(service, taken, 0.5, "half")
    assert queue.claim(service, "other") is None
    assert row_of(service, jobs, taken.job_id).progress == 0.5


def test_a_job_whose_workers_die_three_times_has_failed(service: Service) -> None:
    dataset_id, job_id = new_dataset(service)
    for attempt in (1, 2, 3):
        assert claimed(service).attempt == attempt
        assert settle_lost(service) == 0
        let_leases_run_out(service)
    assert queue.claim(service, "w") is None
    assert settle_lost(service) == 1
    row = row_of(service, jobs, job_id)
    assert (row.state, row.problem["code"], row.problem["status"]) == ("failed", "job-lost", 500)
    assert row_of(service, datasets, dataset_id).state == "failed"
    assert settle_lost(service) == 0


def test_a_job_that_is_given_back_waits_again_as_if_untouched(service: Service) -> None:
    _, job_id = new_dataset(service)
    before = row_of(service, jobs, job_id)
    taken = claimed(service)
    queue.report_progress(service, taken, 0.5, "half")
    assert queue.give_back(service, taken, counted=False)
    assert row_of(service, jobs, job_id) == before
    assert queue.give_back(service, claimed(service), counted=True)
    assert row_of(service, jobs, job_id).attempt == 1


def test_progress_stays_between_0_and_1_and_messages_fit(service: Service) -> None:
    new_dataset(service)
    taken = claimed(service)
    queue.report_progress(service, taken, 7.0, "x" * 500)
    row = row_of(service, jobs, taken.job_id)
    assert (row.progress, len(row.message)) == (1.0, 200)


def test_a_job_may_be_about_something_that_is_no_dataset(service: Service) -> None:
    creator = new_creator(service)
    with service.database.writing() as connection:
        job_id = queue.enqueue(service, connection, Kind.RISK, Subject("vault"), actor_id=creator, request={"files": 3})
    taken = queue.claim(service, "worker")
    assert taken is not None
    assert (taken.subject, taken.dataset_id, taken.request) == (Subject("vault"), None, {"files": 3})
    assert settle(service, taken, Outcome(State.DONE, {"files": 3}))
    shown = queue.job_to_dict(row_of(service, jobs, job_id))
    assert (shown["subject_kind"], shown["subject_id"], shown["dataset_id"], shown["project_id"]) == (
        "vault", None, None, None,
    )  # fmt: skip
    assert shown["state"] == "done"


def test_every_kind_of_job_has_a_task() -> None:
    assert set(TASKS) == set(Kind)


def test_a_job_is_shown_by_the_names_of_the_interface(service: Service) -> None:
    dataset_id, job_id = new_dataset(service)
    shown = queue.job_to_dict(row_of(service, jobs, job_id))
    assert shown.pop("created_at").endswith("+00:00")
    assert shown == {
        "job_id": job_id,
        "kind": "ingest",
        "state": "queued",
        "progress": 0.0,
        "message": "",
        "attempt": 0,
        "subject_kind": "dataset",
        "subject_id": dataset_id,
        "dataset_id": dataset_id,
        "project_id": None,
        "started_at": None,
        "ended_at": None,
        "result": None,
        "problem": None,
    }
    assert CSV.decode() not in str(shown)
