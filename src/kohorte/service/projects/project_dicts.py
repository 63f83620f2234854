"""Projects as the interface shows them: with the names of PRIORI and additional fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from kohorte.service.access import Actor
from kohorte.service.accounts.users import user_to_dict
from kohorte.service.context import Service
from kohorte.service.permissions import Permission
from kohorte.service.projects.store import people_of, summary_of


def projects_to_dicts(service: Service, actor: Actor, rows: list[Row[Any]]) -> list[dict[str, Any]]:
    """Return projects as plain data, without hierarchies; problems only for actors who may see datasets."""
    people = people_of(service, rows)
    return [_project(service, actor, row, people) for row in rows]


def project_to_dict(service: Service, actor: Actor, row: Row[Any]) -> dict[str, Any]:
    """Return one project as plain data."""
    return projects_to_dicts(service, actor, [row])[0]


def _project(service: Service, actor: Actor, row: Row[Any], people: Mapping[int, Row[Any]]) -> dict[str, Any]:
    told = {
        **summary_of(service, row),
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
    return {**told, "problem": row.problem} if actor.may(Permission.SEE_DATASETS) else told
