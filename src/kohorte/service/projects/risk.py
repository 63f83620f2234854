"""Measure the risk of a dataset after anonymization with a config, as a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select

from kohorte.errors import AccessDenied, InputError
from kohorte.plans import Plan
from kohorte.service.access import DATASET, Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies
from kohorte.service.datasets.stored_references import refers_to_stored
from kohorte.service.jobs.evidence import without_values
from kohorte.service.jobs.queue import Kind, Subject, enqueue
from kohorte.service.permissions import Permission
from kohorte.service.projects.configuration import Dataset, read_plan
from kohorte.service.projects.store import names_of, refuse_unready
from kohorte.service.storage.schema import datasets


def begin_risk(service: Service, actor: Actor, dataset_id: int, config: Mapping[str, Any]) -> tuple[int, int]:
    """Start the job that measures the risk; return its id and the number of rows of the table."""
    with service.database.reading() as connection:
        dataset = refuse_unready(dataset_for(service, connection, actor, dataset_id))
        stored = hierarchies.stored(service, connection, dataset_id)
    try:
        plan = read_plan(config, Dataset(names_of(dataset), stored))
    except InputError as error:  # here the config is the body itself
        raise InputError(error.message.removeprefix("config.").removeprefix("config: "), code=error.code) from None
    if not actor.may(Permission.SEE_VALUES):
        _refuse_values(config, plan)
    with service.database.writing() as connection:
        stays = select(datasets.c.id).where(datasets.c.id == dataset_id).with_for_update(read=True, key_share=True)
        connection.execute(stays)  # locked, so that it is not deleted before the job exists
        dataset_for(service, connection, actor, dataset_id)
        job_id = enqueue(
            service,
            connection,
            Kind.RISK,
            Subject(DATASET, dataset_id),
            actor_id=actor.user_id,
            request={"plan": plan.to_dict(), "policy": service.settings.policy.to_dict()},
        )
        service.log.append(connection, "analyze-risk", f"dataset {dataset_id}", actor=actor.user_id, job=job_id)
    return job_id, int(dataset.rows)


def _refuse_values(config: Mapping[str, Any], plan: Plan) -> None:
    """Refuse hierarchies that list values: with one of their own somebody could count the rows of any value."""
    stated: Mapping[str, Any] = plan.to_dict()
    attributes = stated["attributes"]
    for name in _stated(config["plan"]) if "plan" in config else _with_own_hierarchy(config["attributes"]):
        hierarchy = attributes[name].get("hierarchy", {})
        if without_values(hierarchy) != hierarchy:
            raise AccessDenied(
                f"column {name!r}: only somebody who may see values gives a hierarchy that lists them; leave it out, "
                "and the one that is stored for the column is used",
                code="not-allowed",
            )


def _stated(plan: Mapping[str, Any]) -> list[str]:
    """The columns of a plan, except those that use the stored hierarchy."""
    return [name for name in plan["attributes"] if name not in refers_to_stored(plan)]


def _with_own_hierarchy(attributes: Sequence[Mapping[str, Any]]) -> list[str]:
    given = ("hierarchy", "attribute_hierarchy")
    return [entry["attribute_name"] for entry in attributes if any(entry.get(key) is not None for key in given)]
