"""Datasets, projects and jobs made directly in the database, and workers to do them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Row, Table, insert, select, update

from kohorte.service.access import JOBS
from kohorte.service.context import Service
from kohorte.service.jobs.queue import Kind, State, Subject, enqueue
from kohorte.service.jobs.worker import Worker
from kohorte.service.projects.store import summary_label
from kohorte.service.projects.summary import summary
from kohorte.service.storage.schema import datasets, jobs, now, projects, user_roles, users
from kohorte.service.vault import Content
from support.marked_rows import mark_rows

CSV = b"age,zip,sex,disease\n" + b"".join(
    b"%d,%d,%s,d%d\n" % (20 + i % 40, 10000 + i % 50, b"mf"[i % 2 : i % 2 + 1], i % 7) for i in range(200)
)
AGE = {"intervals": {"lower": 0, "upper": 120, "widths": [5, 10, 20, 40], "integer": True}}
PLAN: dict[str, Any] = {
    "kohorte": 1,
    "attributes": {
        "age": {"role": "quasi-identifying", "hierarchy": AGE},
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 5}}},
        "sex": {"role": "quasi-identifying"},
        "disease": {"role": "sensitive"},
    },
    "models": [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity_distinct", "l": 2, "attribute": "disease"},
    ],
    "suppression_limit": 0.05,
}
WIDE = [f"q{number}" for number in range(7)]
WIDE_CSV = (",".join(WIDE) + "\n").encode() + b"".join(
    (",".join(str((i * (7 + 2 * n) + n) % 97) for n in range(len(WIDE))) + "\n").encode() for i in range(3000)
)


def long_plan(seconds: float | None = None) -> dict[str, Any]:
    """A plan for `WIDE_CSV` whose search takes hours, or is cut off after some seconds."""
    search: dict[str, Any] = {"algorithm": "exhaustive"} | ({} if seconds is None else {"time_limit": seconds})
    return {
        "kohorte": 1,
        "attributes": {name: {"role": "quasi-identifying", "hierarchy": AGE} for name in WIDE},
        "models": [{"model": "k-anonymity", "k": 5}],
        "suppression_limit": 0.0,
        "search": search,
    }


def new_creator(service: Service) -> int:
    """A user for whom there is no way to sign in."""
    with service.database.writing() as connection:
        found = connection.execute(select(users.c.id).where(users.c.email_address == "creator@example.org")).scalar()
        if found is not None:
            return int(found)
        statement = insert(users).values(
            email_address="creator@example.org",
            name="A creator",
            institution="",
            password_hash="",
            created_at=now(),
        )
        user_id = int(connection.execute(statement.returning(users.c.id)).scalar_one())
        connection.execute(insert(user_roles).values(user_id=user_id, role="steward"))
        mark_rows(service, connection)
        return user_id


def new_dataset(service: Service, content: bytes = CSV, file_name: str = "table.csv") -> tuple[int, int]:
    """Upload a file; return the numbers of dataset and job."""
    creator, name = new_creator(service), service.vault.write(content, Content.UPLOAD)
    with service.database.writing() as connection:
        statement = insert(datasets).values(
            name="A dataset",
            description="",
            creator_id=creator,
            created_at=now(),
            state="preparing",
            file_name=file_name,
            bytes=len(content),
            sha256="",
            uploaded_file=name,
        )
        dataset_id = connection.execute(statement.returning(datasets.c.id)).scalar_one()
        mark_rows(service, connection)
        request = {"file": name, "file_name": file_name}
        job_id = enqueue(
            service, connection, Kind.INGEST, Subject("dataset", dataset_id), actor_id=creator, request=request
        )
    return dataset_id, job_id


def new_project(
    service: Service, dataset_id: int, plan: dict[str, Any] = PLAN, researcher_id: int | None = None
) -> tuple[int, int]:
    """Create a project; return the numbers of project and job."""
    creator = new_creator(service)
    with service.database.writing() as connection:
        statement = insert(projects).values(
            name="A project",
            description="",
            dataset_id=dataset_id,
            creator_id=creator,
            researcher_id=researcher_id or creator,
            created_at=now(),
            interactive=False,
            state="preparing",
            sealed_config=b"",
            sealed_summary=b"",
        )
        project_id = connection.execute(statement.returning(projects.c.id)).scalar_one()
        sealed = service.vault.seal(json.dumps(summary({"plan": plan})), label=summary_label(project_id))
        connection.execute(update(projects).where(projects.c.id == project_id).values(sealed_summary=sealed))
        mark_rows(service, connection)
        job_id = enqueue(
            service,
            connection,
            Kind.ANONYMIZE,
            Subject("project", project_id),
            actor_id=creator,
            request={"plan": plan},
        )
    return project_id, job_id


def new_risk_job(service: Service, dataset_id: int, plan: dict[str, Any] = PLAN) -> int:
    """Ask for the risk of a dataset."""
    creator = new_creator(service)
    with service.database.writing() as connection:
        request = {"plan": plan, "policy": service.settings.policy.to_dict()}
        return enqueue(
            service, connection, Kind.RISK, Subject("dataset", dataset_id), actor_id=creator, request=request
        )


def row_of(service: Service, table: Table, key: int) -> Row[Any]:
    """One row of a table; of a job also the dataset and the project that it is about."""
    rows = JOBS if table is jobs else select(table)
    with service.database.reading() as connection:
        return connection.execute(rows.where(table.c.id == key)).one()


def wait_for(condition: Any, seconds: float = 120) -> Any:
    """Wait until something is the case, and return it."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)
    return found


def ended(service: Service, job_id: int, seconds: float = 120) -> Row[Any]:
    """Wait for the end of a job."""
    wait_for(lambda: State(row_of(service, jobs, job_id).state).ended, seconds)
    return row_of(service, jobs, job_id)


def running(service: Service, job_id: int, seconds: float = 120) -> Row[Any]:
    """Wait until a job runs and has said how far it is."""
    wait_for(lambda: (row := row_of(service, jobs, job_id)).state == "running" and row.message, seconds)
    return row_of(service, jobs, job_id)


def let_leases_run_out(service: Service) -> None:
    """As if nobody had renewed any for a long time."""
    with service.database.writing() as connection:
        connection.execute(update(jobs).values(lease_until=now() - timedelta(seconds=1)))


@contextmanager
def working(service: Service, count: int = 1) -> Iterator[list[Worker]]:
    """Workers in threads of this process."""
    workers = [Worker(service, f"worker {number}") for number in range(count)]
    threads = [threading.Thread(target=worker.run) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        yield workers
    finally:
        for worker in workers:
            worker.stop()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive()


@contextmanager
def worker_process(service: Service) -> Iterator[subprocess.Popen[bytes]]:
    """`kohorte worker`, killed at the end if it is still there."""
    command = [sys.executable, "-m", "kohorte.cli.main", "worker", "--folder", str(service.settings.folder)]
    environment = {**os.environ, "KOHORTE_DATABASE": service.settings.database_address}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def is_alive(pid: int) -> bool:
    """Whether a process is there and not just waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def locked_files(service: Service) -> set[str]:
    """The names of all files in the vault, also those that are half written."""
    return {path.name for path in service.vault.folder.iterdir()}
