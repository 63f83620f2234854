"""The way from the plan editor to the hierarchy editor and back: the plan and what was typed beside it travel along."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kohorte.errors import InputError
from kohorte.service.datasets import records
from kohorte.service.datasets.stored_references import using
from kohorte.service.web.screens.hierarchy.changes import plain_json
from kohorte.service.web.screens.plan_form import plan_from, plan_from_text
from kohorte.service.web.screens.visitors import Visitor

CARRIED = "plan"
TYPED = ("draft", "revision", "name", "researcher", "comment")
LARGEST = 1 << 20


@dataclass(frozen=True)
class CarriedPlan:
    """The text of the plan that goes back, and what was typed beside it."""

    text: str
    typed: Mapping[str, str]


def carried_from(visitor: Visitor, dataset_id: int) -> str:
    """Return the plan of the plan editor as the field that carries it; what cannot be read there is told."""
    dataset = records.show(visitor.service, visitor.actor, dataset_id)
    names = [column["name"] for column in dataset["columns"] or ()]
    in_text = visitor.text("use") == "text"
    plan = plan_from_text(visitor.text("text")) if in_text else plan_from(visitor, names)
    return plain_json({"plan": plan, "typed": {name: visitor.text(name) for name in TYPED}})


def plan_of(carried: str, attribute: str) -> CarriedPlan:
    """Return what goes back to the plan editor; the plan uses the stored hierarchy of the column."""
    try:
        found: Any = json.loads(carried[:LARGEST])
        plan: dict[str, Any] = using({"attributes": {}, **found["plan"]}, [attribute])
        typed = {name: str(found["typed"].get(name, "")) for name in TYPED}
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        raise InputError("the plan that the form sent back cannot be read", code="hierarchy-form") from None
    return CarriedPlan(plain_json(plan), typed)
