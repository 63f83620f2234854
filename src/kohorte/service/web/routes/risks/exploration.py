"""All combinations of levels of a plan on a dataset."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field, StrictInt

from kohorte.service.previews import exploration
from kohorte.service.web.dependencies import ActorDep, Number, ServiceDep
from kohorte.service.web.execution.table_work import run_exploration
from kohorte.service.web.models.projects import ColumnName, RiskConfig

router = APIRouter(tags=["risk"])


class ExploreConfig(RiskConfig):
    """A config whose combinations of levels are explored, and the one to look at."""

    at: Annotated[dict[ColumnName, StrictInt], Field(max_length=1000)] | None = Field(
        default=None,
        description="The level of each quasi-identifier; without it, the best combination.",
        examples=[{"age": 1, "gender": 0}],
    )


class Combination(BaseModel):
    """A combination of levels: whether it satisfies the config, and what it costs."""

    levels: dict[str, int]
    solution: bool
    cost: float | None = Field(description="By the metric of the config; null if it is not a solution.")
    suppressed: int = Field(description="Rows that are, or would have to be, suppressed.")
    classes: int
    smallest_class: int | None


class StepsAway(BaseModel):
    """The combinations that differ by one step of one column; null if there is no further level."""

    attribute: str
    finer: Combination | None
    coarser: Combination | None


class ExplorationAnswer(BaseModel):
    """The space of a config, as far as it has been counted; call again until `complete`."""

    attributes: list[str]
    lowest_levels: list[int]
    levels_in_words: list[list[str]]
    rows: int
    people: int | None
    unit: str = Field(examples=["rows"], description="What the models and the smallest class count.")
    limit: int = Field(description="The rows that may be suppressed.")
    metric: str
    notes: list[str]
    combinations: int
    counted: int
    complete: bool
    solutions: int = Field(description="The combinations that satisfy the config, of those that have been counted.")
    best: Combination | None
    best_is_optimal: bool = Field(description="False as long as a better one may be found.")
    at: Combination
    steps: list[StepsAway]
    best_ones: list[Combination]


@router.post("/datasets/{dataset_id}/explore", summary="Explore the combinations of levels")
async def explore_plan(
    dataset_id: Number, body: ExploreConfig, service: ServiceDep, actor: ActorDep
) -> ExplorationAnswer:
    """Count combinations of levels for about a second, and tell the best one and those one step away from `at`."""
    config = {name: value for name, value in body.plain().items() if name != "at"}
    work = partial(exploration.explore, service, actor, dataset_id, config, at=body.at)
    found = await run_exploration(work)
    return ExplorationAnswer(**found.to_dict())
