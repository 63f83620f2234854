"""Request and response bodies of surveys, with examples for the OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from kohorte.service.web.models.requests import Body

SURVEY: dict[str, Any] = {
    "people": 200,
    "questions": {
        "sex": {"categories": {"female": 0.51, "male": 0.49}},
        "school": {"categories": ["primary", "secondary", "tertiary"], "merge": False},
        "region": {"categories": {"north": 0.3, "south": 0.4, "east": 0.3}, "ordered": False},
    },
}
By = Literal["expected", "worst", "OR", "FG", "RT", "RR"]
People = Annotated[int, Field(strict=True, ge=1, le=10_000_000)]
Group = Annotated[list[str], Field(fail_fast=True, max_length=400)]
Groups = Annotated[list[Group], Field(fail_fast=True, max_length=400)]


class SurveyBody(Body):
    """A questionnaire, as a survey file writes it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"survey": SURVEY}]})
    survey: dict[str, Any] = Field(description="The content of a survey file.")
    people: People | None = Field(default=None, description="Instead of the number in the survey.")
    normalize: StrictBool = Field(default=False, description="Divide frequencies by their sum.")


class SurveyEstimateBody(SurveyBody):
    """A questionnaire to estimate, perhaps with merges to try."""

    by: By = "expected"
    merges: dict[str, Groups] | None = Field(
        default=None, description="For some questions, groups of answers that become one."
    )


class SurveyPlanBody(SurveyBody):
    """A questionnaire, and the percentage that must be reached."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"survey": SURVEY, "percent": 5}]})
    percent: float = Field(strict=True, ge=0, le=100, allow_inf_nan=False)
    by: By = "expected"


class SurveyCurves(BaseModel):
    """The percentage by each judgement at each number of people."""

    people: list[int]
    percents: dict[str, list[float]]
