"""`hierarchy: {stored: true}` in a plan of the service: the hierarchy that is stored for the column."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kohorte.data import Role
from kohorte.errors import InputError

STORED: Mapping[str, bool] = {"stored": True}
WITH_HIERARCHY = (Role.QUASI_IDENTIFYING, Role.SENSITIVE)
Stored = Mapping[str, Sequence[Sequence[str]]]


def refers_to_stored(plan: object) -> list[str]:
    """Return the columns whose hierarchy in a plan is the stored one; anything that is no plan has none."""
    attributes = plan.get("attributes") if isinstance(plan, Mapping) else None
    if not isinstance(attributes, Mapping):
        return []
    return [
        name for name, entry in attributes.items() if isinstance(entry, Mapping) and entry.get("hierarchy") == STORED
    ]


def resolved(plan: object, stored: Stored) -> object:
    """Return a plan with the rows of the stored hierarchies that it refers to; another one is returned as it is."""
    named = refers_to_stored(plan)
    if not named or not isinstance(plan, Mapping):
        return plan
    for name in named:
        if name not in stored:
            raise InputError(f"no hierarchy is stored for column {name!r}", code="hierarchy-not-stored")
    entries = {
        name: {**entry, "hierarchy": {"rows": stored[name]}} if name in named else entry
        for name, entry in plan["attributes"].items()
    }
    return {**plan, "attributes": entries}


def referring(plan: Mapping[str, Any], stored: Stored) -> dict[str, Any]:
    """Return a plan that refers to stored hierarchies where it has exactly their rows."""
    entries = {
        name: {**entry, "hierarchy": dict(STORED)} if _has(entry, stored.get(name)) else entry
        for name, entry in plan["attributes"].items()
    }
    return {**plan, "attributes": entries}


def using(plan: Mapping[str, Any], stored: Collection[str]) -> dict[str, Any]:
    """Return a plan that uses stored hierarchies for all columns that have one, if their roles need one."""
    roles = list(WITH_HIERARCHY)
    entries = {
        name: {**entry, "hierarchy": dict(STORED)} if name in stored and entry.get("role") in roles else entry
        for name, entry in plan["attributes"].items()
    }
    return {**plan, "attributes": entries}


def _has(entry: Mapping[str, Any], rows: Sequence[Sequence[str]] | None) -> bool:
    hierarchy = entry.get("hierarchy")
    return rows is not None and isinstance(hierarchy, Mapping) and hierarchy.get("rows") == rows
