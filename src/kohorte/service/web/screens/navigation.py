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
    useful_with: tuple[str, ...] = ()
    """Operations of which a visitor needs one, so that the place is not empty for them."""


WAY_BACK, OF_WAY_BACK = translatable("Way back"), ("ask_way_back", "approve_way_back", "read_way_back_notices")
PLACES = (
    Place(translatable("Home"), "/app", "show_me"),
    Place(translatable("Data"), "/app/datasets", "list_datasets", Part.RESEARCH),
    Place(translatable("Review"), "/app/drafts", "list_drafts", Part.RESEARCH),
    Place(translatable("Projects"), "/app/projects", "list_projects", Part.RESEARCH),
    Place(translatable("Series"), "/app/series", "list_series", Part.RESEARCH),
    Place(translatable("Survey"), "/app/survey", "estimate_survey", Part.RESEARCH),
    Place(translatable("Jobs"), "/app/jobs", "list_jobs", Part.RESEARCH),
    Place(translatable("Exchange"), "/app/exchange/requests", "list_requests", Part.EXCHANGE),
    Place(translatable("Ask others"), "/app/exchange/sent", "list_sent_requests", Part.EXCHANGE),
    Place(translatable("Patients"), "/app/patients", "list_cases", Part.PATIENTS),
    Place(translatable("Register"), "/app/patients/register", "register_patients", Part.PATIENTS),
    Place(translatable("Pseudonyms"), "/app/pseudonyms", "list_domains", Part.PSEUDONYMS),
    Place(WAY_BACK, "/app/way-back", "list_way_back", Part.PSEUDONYMS, OF_WAY_BACK),
    Place(WAY_BACK, "/app/way-back", "list_people", Part.PATIENTS, OF_WAY_BACK),
    Place(translatable("Accounts"), "/app/accounts", "list_users"),
)


def places(may: Callable[[str], bool], parts: Collection[Part]) -> tuple[Place, ...]:
    """Return the places of the served parts that a visitor may open, each path once."""
    served = (place for place in PLACES if place.part is None or place.part in parts)
    allowed = (place for place in served if may(place.operation) and (not place.useful_with or _any(may, place)))
    return tuple({place.path: place for place in allowed}.values())


def _any(may: Callable[[str], bool], place: Place) -> bool:
    return any(map(may, place.useful_with))
