"""The places of the interface: each visitor sees those that they may open."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from kohorte.languages import translatable
from kohorte.service.parts import Part


@dataclass(frozen=True)
class Place:
    """An entry of the menu; it needs the permission of an operation and, if it belongs to one, a part."""

    label: str
    path: str
    operation: str
    part: Part | None = None


PLACES = (
    Place(translatable("Home"), "/app", "show_me"),
    Place(translatable("Data"), "/app/datasets", "list_datasets", Part.RESEARCH),
    Place(translatable("Review"), "/app/drafts", "list_drafts", Part.RESEARCH),
    Place(translatable("Projects"), "/app/projects", "list_projects", Part.RESEARCH),
    Place(translatable("Jobs"), "/app/jobs", "list_jobs", Part.RESEARCH),
    Place(translatable("Accounts"), "/app/accounts", "list_users"),
)


def places(may: Callable[[str], bool], parts: Collection[Part]) -> tuple[Place, ...]:
    """Return the places of the served parts that a visitor may open."""
    return tuple(place for place in PLACES if (place.part is None or place.part in parts) and may(place.operation))
