"""The rules of the house, for everybody who is signed in."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from kohorte.service.web.dependencies import ServiceDep

router = APIRouter(tags=["rules"])


class RulesAnswer(BaseModel):
    """The rules of the house; null means that a rule does not apply."""

    least_k: Annotated[int | None, Field(description="The fewest rows of a class of a release, or people")]
    largest_epsilon: Annotated[float | None, Field(description="The largest epsilon of a project for each researcher")]
    largest_delta: Annotated[float | None, Field(description="The largest delta of a project for each researcher")]
    dataset_epsilon: Annotated[
        float | None, Field(description="The most epsilon that all people together spend on a dataset in all projects")
    ]
    dataset_delta: Annotated[
        float | None, Field(description="The most delta that all people together spend on a dataset in all projects")
    ]
    required_models: Annotated[
        list[dict[str, Any]],
        Field(description="Models that every release satisfies", examples=[[{"model": "k-anonymity", "k": 5}]]),
    ]
    second_approver: Annotated[
        str | None, Field(description="`releases`: a release leaves after a second person has approved it")
    ]
    people: Annotated[
        str | None,
        Field(description="`stated`: a release says whom its rows are about; `counted`: its models count people"),
    ]


@router.get("/rules", summary="Show the rules of the house")
def show_rules(service: ServiceDep) -> RulesAnswer:
    """Return the rules that hold for all projects; what breaks one is refused with 403 and the name of the `rule`."""
    return RulesAnswer(**service.settings.rules.to_dict())
