"""Waiting ends with the job, or when time is over."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from kohorte.errors import AccessDenied
from kohorte.service.context import Service
from kohorte.service.jobs import queue
from kohorte.service.jobs.settlement import Outcome, settle
from kohorte.service.web.execution.synchronous import finished
from support.jobs import new_dataset


def test_a_job_that_does_not_end_is_returned_as_it_stands(service: Service) -> None:
    _, job_id = new_dataset(service)
    started = time.monotonic()
    assert asyncio.run(finished(service, job_id, 0.2)).state == "queued"
    assert time.monotonic() - started >= 0.2
    assert asyncio.run(finished(service, job_id, 0)).state == "queued"


def test_the_end_of_a_job_is_noticed_before_time_is_over(service: Service) -> None:
    _, job_id = new_dataset(service)
    claim = queue.claim(service, "w")
    assert claim is not None
    threading.Timer(0.2, settle, (service, claim, Outcome.cancelled())).start()
    started = time.monotonic()
    assert asyncio.run(finished(service, job_id, 600)).state == "cancelled"
    assert time.monotonic() - started < 300


def test_there_is_no_waiting_for_what_is_not_there(service: Service) -> None:
    with pytest.raises(AccessDenied):
        asyncio.run(finished(service, 7, 1))
