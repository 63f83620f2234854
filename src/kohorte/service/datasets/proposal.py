"""Propose a role and a hierarchy for every column, and models; the proposal contains names and counts, no values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from kohorte.data import Role
from kohorte.hierarchies import builder_to_dict
from kohorte.plans.profile import ColumnProfile, first_plan, profile
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import tables
from kohorte.service.datasets.hierarchies import stored_for
from kohorte.service.datasets.records import log_reading

USUAL_K = 5
LEAST_K = 2
LEAST_VALUES = 2


def propose(service: Service, actor: Actor, dataset_id: int) -> dict[str, Any]:
    """Return an initial config for a dataset, with reasons."""
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
        known = stored_for(connection, dataset_id)
    found = proposal(tables.load(service, dataset), known)
    log_reading(service, actor, dataset_id, "read-proposal", columns=len(found["columns"]))
    return found


def proposal(frame: pl.DataFrame, known: set[str]) -> dict[str, Any]:
    """Return a config for a table; the columns in `known` already have a stored hierarchy."""
    columns = profile(frame)
    config = {
        "attributes": [_attribute(column, known) for column in columns],
        "privacy_models": _models(columns, frame.height),
        "suppression_limit": first_plan(columns).suppression_limit,
    }
    return {"config": config, "columns": [_column(column, known) for column in columns], "reasons": _reasons(columns)}


def _attribute(column: ColumnProfile, known: set[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"attribute_name": column.name, "attribute_type": str(column.role)}
    if column.hierarchy is not None and column.name not in known:
        entry["hierarchy"] = builder_to_dict(column.hierarchy)
    return entry


def _column(column: ColumnProfile, known: set[str]) -> dict[str, Any]:
    return {
        "attribute_name": column.name,
        "kind": column.kind,
        "distinct": column.distinct,
        "missing": column.missing,
        "suspected_identifier": column.role is Role.IDENTIFYING,
        "reason": column.why,
        "hierarchy_stored": column.name in known,
    }


def _models(columns: Sequence[ColumnProfile], rows: int) -> list[dict[str, Any]]:
    k = max(LEAST_K, min(USUAL_K, rows))
    models: list[dict[str, Any]] = [{"model_name": "k-anonymity", "model_params": {"k": k}}]
    return models + [
        {
            "model_name": "l-diversity_distinct",
            "attribute_name": column.name,
            "model_params": {"l": LEAST_VALUES},
        }
        for column in columns
        if column.role is Role.SENSITIVE and column.distinct >= LEAST_VALUES
    ]


def _reasons(columns: Sequence[ColumnProfile]) -> list[str]:
    count = {role: sum(column.role is role for column in columns) for role in Role}
    found = [
        f"k = {USUAL_K}: each person looks like at least {USUAL_K - 1} others; a small table gets a smaller k",
        f"{count[Role.QUASI_IDENTIFYING]} columns are quasi-identifying: make those insensitive that outsiders "
        "cannot know",
    ]
    if count[Role.IDENTIFYING]:
        found.append(f"{count[Role.IDENTIFYING]} columns look like identifiers; a release leaves them out")
    if count[Role.SENSITIVE]:
        found.append("each class contains at least two values of every sensitive attribute")
    return found
