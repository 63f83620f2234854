"""A filled service for trying it out: made-up patients and requests, a release, queries, an account for every role."""

from __future__ import annotations

import io
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kohorte.cohorts import cohort
from kohorte.data import write_csv
from kohorte.errors import EngineError
from kohorte.plans import proposal
from kohorte.service.access import Actor
from kohorte.service.accounts import users
from kohorte.service.context import Service
from kohorte.service.datasets import records
from kohorte.service.datasets.uploads import Upload
from kohorte.service.jobs.listing import shown
from kohorte.service.jobs.queue import State
from kohorte.service.jobs.worker import Worker
from kohorte.service.permissions import Role
from kohorte.service.processes.demonstrated_series import start_series
from kohorte.service.processes.made_up_patients import fill_patients
from kohorte.service.processes.made_up_requests import HOUSE, fill_exchange
from kohorte.service.projects import store
from kohorte.service.vault import Content

SECONDS = 300.0
PEOPLE: Mapping[str, tuple[str, tuple[Role, ...]]] = {
    "steward": ("Stella Steward", (Role.STEWARD,)),
    "second-steward": ("Sven Steward", (Role.STEWARD,)),
    "researcher": ("Rosa Researcher", (Role.RESEARCHER,)),
    "officer": ("Otto Officer", (Role.DATA_PROTECTION_OFFICER,)),
    "approver": ("Anna Approver", (Role.APPROVER,)),
    "second-approver": ("Arne Approver", (Role.APPROVER,)),
    "trustee": ("Tarek Trustee", (Role.TRUSTEE,)),
    "operator": ("Olga Operator", (Role.OPERATOR,)),
    "source": ("Clinic for the heart", (Role.SOURCE,)),
    "recipient": ("Database of the registry", (Role.RECIPIENT,)),
}
QUERIES: dict[str, Any] = {
    "attributes": [
        {
            "attribute_name": name,
            "attribute_type": "quasi-identifying",
            "metadata": {"datatype": "str", "cardinality": most},
        }
        for name, most in (("sex", 3), ("blood_group", 8))
    ]
    + [{"attribute_name": "ssn", "attribute_type": "identifying"}],
    "privacy_models": [
        {"model_name": "epsilon-delta-differential_privacy", "model_params": {"epsilon": 2, "delta": 1e-6}}
    ],
    "person": "none",
}


@dataclass(frozen=True)
class Account:
    """An account of the demonstration; the password is drawn for it and shown once."""

    email_address: str
    password: str = field(repr=False)
    role: str


def fill(service: Service, *, rows: int, seed: int) -> list[Account]:
    """Create accounts, a dataset, a release, a project for queries, requests and patients; return the accounts."""
    numbers, accounts = _people(service)
    actors = {name: Actor(numbers[name], frozenset(roles)) for name, (_, roles) in PEOPLE.items()}
    steward = actors["steward"]
    fill_patients(service, actors)
    table = cohort(rows, seed=seed)
    start_series(service.settings.series_path, table)
    dataset_id, job_id = _uploaded(service, steward, table)
    worker = Worker(service, "demonstration")
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    try:
        _wait(service, steward, job_id)
        plan = proposal.propose(table).plan
        assert plan is not None
        released = store.NewProject(
            "Admissions", "A table for research", dataset_id, numbers["researcher"], {"plan": plan.to_dict()}
        )
        _wait(service, steward, store.create(service, steward, released).job_id)
        asking = (steward, actors["researcher"])
        _wait(service, steward, fill_exchange(service, *asking, dataset_id=dataset_id, plan=plan.to_dict()))
    finally:
        worker.stop()
        thread.join(SECONDS)
    asked = store.NewProject(
        "Admissions, queries", "Answers with noise", dataset_id, numbers["researcher"], {**QUERIES}
    )
    store.create(service, steward, asked)
    return accounts


def _people(service: Service) -> tuple[dict[str, int], list[Account]]:
    numbers, accounts = {}, []
    for name, (words, roles) in PEOPLE.items():
        account = Account(f"{name}@example.org", secrets.token_urlsafe(12), ", ".join(roles))
        row = users.create(
            service,
            email_address=account.email_address,
            name=words,
            institution=HOUSE,
            password=account.password,
            roles=roles,
            by=None,
        )
        numbers[name] = row.id
        accounts.append(account)
    return numbers, accounts


def _uploaded(service: Service, actor: Actor, table: Any) -> tuple[int, int]:
    written = io.BytesIO()
    write_csv(table, written)
    with service.vault.writing(Content.UPLOAD) as writer:
        writer.write(written.getvalue())
    upload = Upload(writer.name, "patients.csv", writer.bytes, writer.sha256)
    return records.create(
        service, actor, upload, name="Admissions", description="Everybody in this table is made up.", layout={}
    )


def _wait(service: Service, actor: Actor, job_id: int | None) -> None:
    assert job_id is not None
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        state = State(shown(service, actor, job_id).state)
        if state is State.DONE:
            return
        if state.ended:
            break
        time.sleep(0.05)
    raise EngineError("the demonstration could not be made; start it again", code="demo-stopped")
