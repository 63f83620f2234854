"""One attempt at one job: start it, follow its progress, renew the lease, and record how it ended."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from kohorte.errors import InputError, KohorteError
from kohorte.plans import Plan
from kohorte.service.context import Service
from kohorte.service.disclosures.given import ledger_order
from kohorte.service.house_rules import ReleaseTerms
from kohorte.service.integrity.marks import DATASET
from kohorte.service.jobs import queue
from kohorte.service.jobs.error_location import error_location
from kohorte.service.jobs.files import discard
from kohorte.service.jobs.process import Child, ChildDied
from kohorte.service.jobs.queue import MOST_ATTEMPTS, Claim, Kind, State
from kohorte.service.jobs.settlement import Outcome, lost, settle
from kohorte.service.storage.schema import datasets
from kohorte.service.trust.leaving.releases import Places, remember_parts

TICK = 0.05
LOOK_SECONDS = 0.2
PROGRESS_SECONDS = 0.5
RENEW_SECONDS = 5.0
PATIENCE_SECONDS = 3.0
SETTLING_SECONDS = 20.0
_log = logging.getLogger("kohorte.service.jobs")


class Unfinished(StrEnum):
    """Why an attempt has no outcome."""

    STOPPING = "the worker stops"
    DIED = "the process died"
    CONFUSED = "the process answered about another job"
    FAILED = "the worker could not watch it"
    TAKEN = "another worker has the job"


class Attempt:
    """Watches over one job in the child process."""

    def __init__(
        self,
        service: Service,
        claim: Claim,
        child: Child,
        *,
        stopping: Callable[[], bool],
        do_chores: Callable[[], None],
    ) -> None:
        self._service = service
        self._claim = claim
        self._child = child
        self._stopping = stopping
        self._do_chores = do_chores
        self._name = f"{claim.job_id}.{claim.attempt}.{secrets.token_hex(8)}"
        self._files: list[str] = []
        self._told: tuple[float, str] | None = None
        self._times: dict[str, float] = {"look": 0.0, "renew": time.monotonic(), "tell": time.monotonic()}
        self._kill_at: float | None = None
        self._child_is_idle = False

    def perform(self) -> None:
        """Run the job, and record how it ended."""
        end = self._refused() or self._watched()
        remember_parts(self._service, self._claim.request)
        settled = self._settle(end) if isinstance(end, Outcome) else self._put_back(end)
        if not (settled and isinstance(end, Outcome) and end.state is State.DONE):
            discard(self._service, self._files)

    def _refused(self) -> Outcome | None:
        """The outcome of a release that breaks a rule of the house, which may be stricter than when it was queued."""
        if self._claim.kind is not Kind.ANONYMIZE:
            return None
        try:
            self._service.settings.rules.refuse(ReleaseTerms.of(Plan.from_dict(self._claim.request["plan"])))
        except KohorteError as error:
            return Outcome.failed(error)
        return None

    def _watched(self) -> Outcome | Unfinished:
        """Watch the process, and kill it unless it is idle: the next job needs an idle process."""
        try:
            return self._watch()
        except ChildDied:
            return Unfinished.DIED
        except Exception as error:  # noqa: BLE001 - whatever it is, the job is tried again
            _log.warning("job %d: %s", self._claim.job_id, error_location(error))
            return Unfinished.FAILED
        finally:
            if not self._child_is_idle:
                self._child.kill()

    def _watch(self) -> Outcome | Unfinished:
        self._child.send(self._order())
        while True:
            answer = self._child.receive(TICK)
            if answer is not None and answer.get("order") != self._name:
                return Unfinished.CONFUSED
            if answer is not None and "outcome" in answer:
                outcome = self._outcome(answer["outcome"])
                self._child_is_idle = True
                return outcome
            self._note(answer or {})
            end = self._look_around()
            if end is not None:
                return end

    def _order(self) -> dict[str, Any]:
        with self._service.database.reading() as connection:
            statement = DATASET.rows.where(datasets.c.id == self._claim.dataset_id)
            dataset = connection.execute(statement).one_or_none()
            if dataset is not None:
                self._service.guard.checked(connection, DATASET, dataset)
        return {
            "order": self._name,
            "kind": self._claim.kind,
            "request": self._claim.request,
            "table_file": None if dataset is None else dataset.table_file,
            "most_cells": self._service.settings.most_cells,
            "unpacked_limit": self._service.settings.unpacked_limit,
            "ledger": ledger_order(self._service.settings),
            "places": asdict(Places.of(self._service.settings)),
        }

    def _note(self, answer: dict[str, Any]) -> None:
        if "file" in answer:
            self._files.append(answer["file"])
        if "progress" in answer:
            self._told = answer["progress"], answer["message"]

    def _outcome(self, told: dict[str, Any]) -> Outcome:
        state = State(told["state"])
        if state is State.CANCELLED:
            return Outcome.cancelled()
        if told.get("noted"):
            self._tell_house(told["noted"])
        if state is State.FAILED:
            _log.warning("job %d failed: %s, %s", self._claim.job_id, told["problem"]["code"], told["location"])
        return Outcome(state, told.get("result"), told.get("problem"), told.get("values", {}))

    def _tell_house(self, noted: str) -> None:
        """Note in the audit log what the disclosure ledger found; people who see the job do not learn it."""
        with self._service.database.writing() as connection:
            about = f"{self._claim.subject.kind} {self._claim.subject.id}"
            self._service.log.append(connection, "examine-release", about, actor=None, found=noted)

    # While the job runs

    def _look_around(self) -> Outcome | Unfinished | None:
        """Return how the attempt ends, if something outside it requires that."""
        if self._stopping():
            return Unfinished.STOPPING
        if self._child.resident() > self._service.settings.worker_memory:
            return Outcome.failed(
                InputError(
                    f"the job needed more than {self._service.settings.worker_memory:,} bytes of memory",
                    code="job-memory-too-large",
                )
            )
        if self._kill_at is not None and time.monotonic() > self._kill_at:
            return Outcome.cancelled()
        try:
            self._do_chores()
            return self._look_at_row()
        except KohorteError as error:  # the database may be back before the lease is over
            _log.warning("job %d: %s", self._claim.job_id, error.code)
            return None

    def _look_at_row(self) -> Unfinished | None:
        taken = False
        if self._told is not None and self._due("tell", PROGRESS_SECONDS):
            taken = not queue.report_progress(self._service, self._claim, *self._told)
            self._told = None
        elif self._due("renew", RENEW_SECONDS):
            taken = not queue.renew(self._service, self._claim)
        elif self._due("look", LOOK_SECONDS):
            row = queue.standing(self._service, self._claim)
            taken = row is None
            if row is not None and row.cancel_requested and self._kill_at is None:
                self._kill_at = time.monotonic() + PATIENCE_SECONDS
                self._child.send({"stop": True})
        return Unfinished.TAKEN if taken else None

    def _due(self, what: str, seconds: float) -> bool:
        due = time.monotonic() - self._times[what] >= seconds
        if due:
            self._times[what] = time.monotonic()
        return due

    # The end

    def _settle(self, outcome: Outcome) -> bool:
        return self._insist(lambda: settle(self._service, self._claim, outcome))

    def _put_back(self, reason: Unfinished) -> bool:
        _log.warning("job %d, attempt %d: %s", self._claim.job_id, self._claim.attempt, reason)
        if reason is Unfinished.TAKEN:
            return False
        counted = reason is not Unfinished.STOPPING
        if counted and self._claim.attempt >= MOST_ATTEMPTS:
            return self._settle(lost())
        return self._insist(lambda: queue.give_back(self._service, self._claim, counted=counted))

    def _insist(self, write: Callable[[], bool]) -> bool:
        """Write to the database, with retries for a while, so that finished work is not lost."""
        until = time.monotonic() + SETTLING_SECONDS
        while True:
            try:
                return write()
            except KohorteError as error:
                _log.warning("job %d: %s", self._claim.job_id, error.code)
                if time.monotonic() > until:
                    raise
            time.sleep(0.5)
