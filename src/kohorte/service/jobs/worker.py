"""A worker: takes jobs from the queue one after the other, and runs them in a separate process."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from datetime import timedelta

from sqlalchemy import delete, insert, update

from kohorte.errors import KohorteError
from kohorte.service.context import Service
from kohorte.service.jobs.attempt import Attempt
from kohorte.service.jobs.files import sweep
from kohorte.service.jobs.process import Child, ChildDied
from kohorte.service.jobs.queue import claim, clock
from kohorte.service.jobs.settlement import settle_lost
from kohorte.service.storage.schema import workers

IDLE_SECONDS = 0.05
HEARTBEAT_SECONDS = 5.0
SWEEP_SECONDS = 3600.0
AFTER_FAILURE_SECONDS = 1.0
FORGOTTEN_HOURS = 24
LONGEST_NAME = 80
_log = logging.getLogger("kohorte.service.jobs")


class Worker:
    """One worker of a service; `run` works until `stop` is called, from a signal handler or another thread."""

    def __init__(self, service: Service, name: str | None = None) -> None:
        given = name or f"{socket.gethostname()}-{os.getpid()}"
        self.name = f"{given[:LONGEST_NAME]}-{secrets.token_hex(4)}"  # makes names unique
        self._service = service
        self._child = Child(service.settings)
        self._stopping = False  # not an Event: setting one in a signal handler can deadlock
        self._ready = False
        self._heartbeat = self._swept = float("-inf")

    def stop(self) -> None:
        """Ask the worker to stop; its current job goes back to the queue."""
        self._stopping = True

    def run(self) -> None:
        """Work until `stop` is called."""
        try:
            while not self._stopping:
                self._step()
        finally:
            self._child.kill()
            self._sign_off()

    def _step(self) -> None:
        try:
            self._do_chores()
            if not (self._warm() and self._work()):
                time.sleep(IDLE_SECONDS)
        except KohorteError as error:
            _log.warning("worker %s: %s", self.name, error.code)
            time.sleep(AFTER_FAILURE_SECONDS)

    def _warm(self) -> bool:
        """Make sure that the child process is ready; no job is taken before."""
        if self._child.pid is None:
            self._ready = False
            self._child.start()
        try:
            while not self._ready:
                answer = self._child.receive(IDLE_SECONDS)
                if answer is None:
                    return False
                self._ready = "ready" in answer
        except ChildDied:
            _log.warning("worker %s: the process that does the work could not start", self.name)
            self._child.kill()
            time.sleep(AFTER_FAILURE_SECONDS)
            return False
        return True

    def _work(self) -> bool:
        """Run the next job, if there is one."""
        found = claim(self._service, self.name)
        if found is None:
            return False
        Attempt(self._service, found, self._child, stopping=lambda: self._stopping, do_chores=self._do_chores).perform()
        if self._child.resident() > self._service.settings.worker_memory / 2:  # memory that it does not release
            self._child.kill()
        return True

    def _do_chores(self) -> None:
        """Do the periodic work, also while a job runs: heartbeat, lost jobs, unused files."""
        if time.monotonic() - self._heartbeat >= HEARTBEAT_SECONDS:
            self._heartbeat = time.monotonic()  # set first, so that a failure is not repeated at once
            self._say_alive()
            settle_lost(self._service)
        if time.monotonic() - self._swept >= SWEEP_SECONDS:
            self._swept = time.monotonic()
            self._sweep()

    def _say_alive(self) -> None:
        with self._service.database.writing() as connection:
            moment = clock(connection)
            changed = connection.execute(update(workers).where(workers.c.name == self.name).values(seen_at=moment))
            if not changed.rowcount:
                connection.execute(insert(workers).values(name=self.name, seen_at=moment))
                forgotten = moment - timedelta(hours=FORGOTTEN_HOURS)
                connection.execute(delete(workers).where(workers.c.seen_at < forgotten))

    def _sweep(self) -> None:
        """Remove files that no row refers to; a failure must not stop the jobs."""
        try:
            sweep(self._service)
        except KohorteError as error:
            _log.warning("worker %s: %s", self.name, error.code)

    def _sign_off(self) -> None:
        try:
            with self._service.database.writing() as connection:
                connection.execute(delete(workers).where(workers.c.name == self.name))
        except KohorteError as error:
            _log.warning("worker %s: %s", self.name, error.code)
