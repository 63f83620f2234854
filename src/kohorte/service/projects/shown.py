"""Projects as the interface shows them: the names of PRIORI, and what Kohorte adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from kohorte.service.access import Actor
from kohorte.service.accounts.users import user_to_dict
from kohorte.service.context import Service
from kohorte.service.projects.store import config_of, people_of


def projects_to_dicts(service: Service, actor: Actor, rows: list[Row[Any]]) -> list[dict[str, Any]]:
    """Return projects for programs; hierarchies are left out, and why one failed is told to stewards only."""
    people = people_of(service, rows)
    return [_project(service, actor, row, people) for row in rows]


def project_to_dict(service: Service, actor: Actor, row: Row[Any]) -> dict[str, Any]:
    """Return one project for programs."""
    return projects_to_dicts(service, actor, [row])[0]


def _project(service: Service, actor: Actor, row: Row[Any], people: Mapping[int, Row[Any]]) -> dict[str, Any]:
    config = config_of(service, row)
    told = {
        **(_of_plan(config["plan"]) if "plan" in config else _of_config(config)),
        "budget": row.budget,
        "created_at": row.created_at.isoformat(),
        "creator": user_to_dict(people[row.creator_id]),
        "dataset_id": row.dataset_id,
        "description": row.description,
        "interactive": row.interactive,
        "name": row.name,
        "project_id": row.id,
        "researcher": user_to_dict(people[row.researcher_id]),
        "state": row.state,
    }
    return {**told, "problem": row.problem} if actor.privileged else told


def _of_config(config: Mapping[str, Any]) -> dict[str, Any]:
    shown = ("attribute_name", "attribute_type", "metadata")
    return {
        "attributes": [_only(entry, shown) for entry in config["attributes"]],
        "privacy_models": [_only(entry, tuple(entry)) for entry in config["privacy_models"]],
        "suppression_limit": config.get("suppression_limit"),
    }


def _of_plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "attributes": [
            {"attribute_name": name, "attribute_type": entry["role"]} for name, entry in plan["attributes"].items()
        ],
        "privacy_models": [_model(entry) for entry in plan["models"]],
        "suppression_limit": plan.get("suppression_limit", 0.0),
    }


def _model(entry: Mapping[str, Any]) -> dict[str, Any]:
    attribute = {"attribute_name": entry["attribute"]} if "attribute" in entry else {}
    parameters = {key: value for key, value in entry.items() if key not in ("model", "attribute")}
    return {"model_name": entry["model"], **attribute, "model_params": parameters}


def _only(entry: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: entry[key] for key in keys if entry.get(key) is not None}
