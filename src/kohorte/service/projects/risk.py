"""The risk of a dataset once it is anonymized as a config says, as a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from kohorte.errors import InputError
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies
from kohorte.service.jobs.queue import Kind, enqueue
from kohorte.service.projects.contract import Dataset, read_plan
from kohorte.service.projects.store import names_of, refuse_unready
from kohorte.service.storage.schema import datasets


def begin_risk(service: Service, actor: Actor, dataset_id: int, config: Mapping[str, Any]) -> tuple[int, int]:
    """Begin to assess the risk; return the job, and how many rows the table has."""
    with service.database.reading() as connection:
        dataset = refuse_unready(dataset_for(connection, actor, dataset_id))
        stored = hierarchies.stored(service, connection, dataset_id)
    try:
        plan = read_plan(config, Dataset(names_of(dataset), stored))
    except InputError as error:  # here the config is the body itself
        raise InputError(error.message.removeprefix("config.").removeprefix("config: "), code=error.code) from None
    with service.database.writing() as connection:
        stays = select(datasets.c.id).where(datasets.c.id == dataset_id).with_for_update(read=True, key_share=True)
        connection.execute(stays)  # nobody deletes it before the job is there
        dataset_for(connection, actor, dataset_id)
        job_id = enqueue(
            service,
            connection,
            Kind.RISK,
            actor_id=actor.user_id,
            dataset_id=dataset_id,
            request={"plan": plan.to_dict(), "policy": service.settings.policy.to_dict()},
        )
        service.log.append(connection, "analyze-risk", f"dataset {dataset_id}", actor=actor.user_id, job=job_id)
    return job_id, int(dataset.rows)
