"""Tasks of the exchange and of the trustee for the home page: what waits for this visitor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kohorte.errors import EngineError
from kohorte.service.exchange import requests
from kohorte.service.parts import Part
from kohorte.service.trust import patients
from kohorte.service.web.screens.routes.exchange.requests import with_task
from kohorte.service.web.screens.routes.way_back.listing import PLACES, waiting
from kohorte.service.web.screens.visitors import Visitor

SHOWN = 5


def tasks_of(visitor: Visitor) -> dict[str, Any]:
    """Requests of other institutions, cases and requests for the way back that wait for the visitor.

    None stands for a card that the visitor has not, False for one whose part cannot be used at the moment: the home
    page is there in any case.
    """
    parts = visitor.service.settings.parts
    exchange = Part.EXCHANGE in parts and visitor.may("list_requests")
    cases = Part.PATIENTS in parts and visitor.may("list_cases")
    ways = any(part in parts for part in PLACES) and any(map(visitor.may, ("ask_way_back", "approve_way_back")))
    wanted: dict[str, tuple[bool, Callable[[Visitor], Any]]] = {
        "requests": (exchange, _requests),
        "cases": (cases, _cases),
        "ways_back": (ways, _ways_back),
    }
    return {name: _found(visitor, look) if has else None for name, (has, look) in wanted.items()}


def _found(visitor: Visitor, look: Callable[[Visitor], Any]) -> Any:
    try:
        return look(visitor)
    except EngineError:  # the log of the service says why
        return False


def _cases(visitor: Visitor) -> int:
    return len(patients.cases(visitor.service, visitor.actor))


def _requests(visitor: Visitor) -> list[dict[str, Any]]:
    """What the visitor has to do; those who only supervise see all that is open."""
    acts = any(map(visitor.may, ("check_request", "decide_request")))
    found = (with_task(visitor, one) for one in requests.listed(visitor.service))
    return [one for one in found if (one["mine"] if acts else one["task"])][:SHOWN]


def _ways_back(visitor: Visitor) -> list[dict[str, Any]]:
    return [one for one in waiting(visitor) if one["can_approve"] or one["can_show"]][:SHOWN]
