"""Propose a role and a hierarchy for every column, and models; the proposal contains names and counts, no values."""

from __future__ import annotations

from typing import Any

import polars as pl
from sqlalchemy import Row

from kohorte.data import Role
from kohorte.hierarchies import builder_to_dict
from kohorte.models import PrivacyModel
from kohorte.plans import proposal as plans
from kohorte.plans.people.proposed_person import ProposedPerson
from kohorte.plans.person import Person
from kohorte.plans.profile import ColumnProfile
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import kept_results, kept_tables
from kohorte.service.datasets.hierarchies import stored_for
from kohorte.service.datasets.records import log_reading
from kohorte.service.datasets.stored_references import using


def propose(service: Service, actor: Actor, dataset_id: int) -> dict[str, Any]:
    """Return an initial config for a dataset, with reasons."""
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
        known = stored_for(connection, dataset_id)
    found = proposed(service, dataset)
    log_reading(service, actor, dataset_id, "read-proposal", columns=len(found.columns))
    return _to_dict(found, known)


def proposed_plan(service: Service, actor: Actor, dataset_id: int) -> dict[str, Any]:
    """Return the proposed plan for a dataset, ready to be changed; only roles if no plan can be proposed.

    Stored hierarchies are used instead of proposed ones.
    """
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
        known = stored_for(connection, dataset_id)
    found = proposed(service, dataset)
    log_reading(service, actor, dataset_id, "read-proposal", columns=len(found.columns))
    if found.plan is not None:
        return using(found.plan.to_dict(), known)
    return using({"attributes": {column.name: {"role": str(column.role)} for column in found.columns}}, known)


def proposal(frame: pl.DataFrame, known: set[str]) -> dict[str, Any]:
    """Return a config for a table; the columns in `known` already have a stored hierarchy."""
    return _to_dict(plans.propose(frame), known)


def proposed(service: Service, dataset: Row[Any]) -> plans.Proposal:
    """Return the proposal for a dataset, which stays in memory for a while: all pages begin with the same one."""
    key = (str(dataset.table_sha256), "proposal")
    found, _ = kept_results.PROPOSALS.get(service, key, lambda: plans.propose(kept_tables.frame(service, dataset)))
    return found


def _to_dict(found: plans.Proposal, known: set[str]) -> dict[str, Any]:
    config: dict[str, Any] = {
        "attributes": [_attribute(column, known, found.person) for column in found.columns],
        "privacy_models": [_model(model) for model in found.models],
        "suppression_limit": plans.SUPPRESSION_LIMIT,
        "search": found.search.to_dict(),
    }
    if found.person is not None and found.person.columns:
        config["person"] = Person(found.person.columns).to_dict()
    if found.missing_values:
        config["missing_values"] = list(found.missing_values)
    reasons = found.reasons if found.plan is not None else (*found.reasons, found.why_no_plan)
    return {"config": config, "columns": [_column(column, known) for column in found.columns], "reasons": list(reasons)}


def _attribute(column: ColumnProfile, known: set[str], person: ProposedPerson | None) -> dict[str, Any]:
    numbers_people = person is not None and column.name == person.identifying
    role = Role.IDENTIFYING if numbers_people else column.role
    entry: dict[str, Any] = {"attribute_name": column.name, "attribute_type": str(role)}
    if column.hierarchy is not None and column.name not in known and not numbers_people:
        entry["hierarchy"] = builder_to_dict(column.hierarchy)
    return entry


def _model(model: PrivacyModel) -> dict[str, Any]:
    """A model as a config writes it."""
    parameters = {key: value for key, value in model.to_dict().items() if key not in ("model", "attribute")}
    named = {"attribute_name": model.sensitive[0]} if model.sensitive else {}
    return {"model_name": model.name, **named, "model_params": parameters}


def _column(column: ColumnProfile, known: set[str]) -> dict[str, Any]:
    return {
        "attribute_name": column.name,
        "kind": column.kind,
        "distinct": column.distinct,
        "missing": column.missing,
        "suspected_identifier": column.role is Role.IDENTIFYING,
        "reason": column.why,
        "hierarchy_reason": column.why_hierarchy,
        "hierarchy_stored": column.name in known,
    }
