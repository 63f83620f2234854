"""A risk is asked of a dataset that is there, and stays until the job has ended."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from sqlalchemy import select

from kohorte.errors import AccessDenied, InputError
from kohorte.service.access import Actor
from kohorte.service.approvals.requests import perform
from kohorte.service.context import Service
from kohorte.service.projects import risk
from kohorte.service.storage.schema import datasets, jobs
from support.jobs import new_creator, row_of
from support.projects import patients, release, store_dataset
from support.service import STEWARD


def test_nobody_deletes_a_dataset_while_a_job_is_queued_for_it(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward = Actor(new_creator(service), STEWARD, "")
    dataset_id = store_dataset(service, patients(), steward.user_id)
    codes: list[str] = []

    def remove() -> None:
        with Service.opened(service.settings, create=False) as another:
            try:
                perform(another, steward, "delete_dataset", dataset_id)
            except InputError as error:
                codes.append(error.code)

    thread, enqueue = threading.Thread(target=remove), risk.enqueue

    def slowly(*given: Any, **named: Any) -> int:
        thread.start()
        thread.join(1)
        return enqueue(*given, **named)

    monkeypatch.setattr(risk, "enqueue", slowly)
    job_id, _ = risk.begin_risk(service, steward, dataset_id, release())
    thread.join()
    assert codes == ["dataset-conflict"]
    assert row_of(service, jobs, job_id).state == "queued"
    assert row_of(service, datasets, dataset_id).deleted_at is None


def test_no_job_is_queued_for_a_dataset_that_was_deleted_meanwhile(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward = Actor(new_creator(service), STEWARD, "")
    dataset_id = store_dataset(service, patients(), steward.user_id)
    read_plan = risk.read_plan

    def slowly(*given: Any) -> Any:
        perform(service, steward, "delete_dataset", dataset_id)
        return read_plan(*given)

    monkeypatch.setattr(risk, "read_plan", slowly)
    with pytest.raises(AccessDenied) as caught:
        risk.begin_risk(service, steward, dataset_id, release())
    assert caught.value.code == "not-found"
    with service.database.reading() as connection:
        assert connection.execute(select(jobs)).all() == []
