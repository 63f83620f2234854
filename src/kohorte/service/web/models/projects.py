"""Request and response bodies of projects and of risk."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, StringConstraints

from kohorte.plans.parts import LONGEST_LINE
from kohorte.service.web.dependencies import LARGEST_NUMBER
from kohorte.service.web.models.requests import MOST_LEVELS, MOST_ROWS, Body
from kohorte.service.web.models.responses import UserAnswer

LARGEST = 1e300
LONGEST_QUERY = 100_000
MOST_ENTRIES = 10_000


def _checked(value: Any) -> Any:
    """Refuse whole numbers that a floating-point number cannot hold."""
    if isinstance(value, dict):
        for part in value.values():
            _checked(part)
    elif isinstance(value, list):
        for part in value:
            _checked(part)
    elif isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError("contains a number that is too large")
    return value


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_LINE)]
Description = Annotated[str, StringConstraints(max_length=10_000)]
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Id = Annotated[int, Field(strict=True, ge=1, le=LARGEST_NUMBER)]
Amount = Annotated[StrictInt | StrictFloat, Field(ge=-LARGEST, le=LARGEST)]
JsonObject = Annotated[dict[str, Any], AfterValidator(_checked)]
PublicKey: TypeAlias = StrictStr | Annotated[StrictInt, Field(ge=-(2**53), le=2**53)]
HierarchyRow = Annotated[list[StrictStr | StrictInt], Field(fail_fast=True, max_length=MOST_LEVELS)]
Role: TypeAlias = Literal["identifying", "quasi-identifying", "sensitive", "insensitive"]

AGE: dict[str, Any] = {
    "attribute_name": "age",
    "attribute_type": "quasi-identifying",
    "metadata": {"datatype": "int", "min": 0, "max": 100},
}
GENDER: dict[str, Any] = {
    "attribute_name": "gender",
    "attribute_type": "quasi-identifying",
    "metadata": {"datatype": "str", "cardinality": 2},
}
PRIVACY: dict[str, Any] = {
    "model_name": "epsilon-delta-differential_privacy",
    "model_params": {"epsilon": 2, "delta": 1e-15},
}
RISK_EXAMPLE: dict[str, Any] = {
    "attributes": [
        {
            "attribute_name": "zip_code",
            "attribute_type": "quasi-identifying",
            "attribute_hierarchy": [["476", "47*", "4**", "***"], ["477", "47*", "4**", "***"]],
        },
        {"attribute_name": "disease", "attribute_type": "sensitive"},
    ],
    "privacy_models": [
        {"model_name": "k-anonymity", "model_params": {"k": 5}},
        {"model_name": "l-diversity_distinct", "attribute_name": "disease", "model_params": {"l": 2}},
    ],
    "suppression_limit": 0.2,
}


class Metadata(Body):
    """Public knowledge about a column; bounds never come from the data."""

    datatype: Literal["int", "float", "str", "text", "bool"]
    min: Amount | None = None
    max: Amount | None = None
    step: Amount | None = Field(default=None, description="Numbers are rounded to multiples of it.")
    values: Annotated[list[PublicKey], Field(fail_fast=True, max_length=MOST_ENTRIES)] | None = Field(
        default=None, description="Public keys: GROUP BY then spends no delta."
    )
    cardinality: Annotated[int, Field(strict=True, ge=1, le=2**53)] | None = None


class AttributeConfig(Body):
    """A column: its role, its hierarchy, and the metadata for queries."""

    attribute_name: ColumnName
    attribute_type: Role
    attribute_hierarchy: Annotated[list[HierarchyRow], Field(fail_fast=True, max_length=MOST_ROWS)] | None = Field(
        default=None,
        description="One row per value: the value, then its labels. Default: the stored hierarchy.",
    )
    hierarchy: JsonObject | None = Field(
        default=None, description="A hierarchy as plans write it.", examples=[{"redaction": {"length": 5}}]
    )
    metadata: Metadata | None = None
    pseudonym: Annotated[str, StringConstraints(min_length=1, max_length=63)] | None = Field(
        default=None, description="Identifying: the column stays, with pseudonyms of this domain."
    )


class ModelConfig(Body):
    """A privacy model with its parameters."""

    model_name: Annotated[str, StringConstraints(max_length=100)]
    attribute_name: ColumnName | None = None
    model_params: JsonObject = Field(default_factory=dict)


class ConsentConfig(Body):
    """To which purpose people must have agreed, by the patient list of the service."""

    purpose: Annotated[str, StringConstraints(min_length=1, max_length=63)]
    column: ColumnName = Field(default="pid", description="The column of PIDs.")
    categories: dict[ColumnName, Annotated[list[ColumnName], Field(fail_fast=True, max_length=MOST_ENTRIES)]] = Field(
        default_factory=dict, max_length=100, description="The columns of each kind of data that people can agree to."
    )


class Config(Body):
    """How a table is protected: by privacy models, or by differential privacy for queries."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"attributes": [AGE, GENDER], "privacy_models": [PRIVACY]}]}
    )
    attributes: Annotated[list[AttributeConfig], Field(fail_fast=True, max_length=MOST_ENTRIES)] | None = None
    privacy_models: Annotated[list[ModelConfig], Field(fail_fast=True, max_length=100)] | None = None
    suppression_limit: Annotated[StrictInt | StrictFloat, Field(ge=0, le=1)] | None = None
    metric: Annotated[str, StringConstraints(max_length=100)] | JsonObject | None = None
    search: JsonObject | None = None
    missing: Literal["category", "suppress", "refuse"] | None = None
    missing_values: Annotated[list[PublicKey], Field(fail_fast=True, max_length=100)] | None = Field(
        default=None, description="Texts that count as an empty cell, such as NA."
    )
    table_name: Annotated[str, StringConstraints(min_length=1, max_length=100)] | None = None
    person: ColumnName | Annotated[list[ColumnName], Field(fail_fast=True, max_length=100)] | JsonObject | None = Field(
        default=None,
        description="The columns that say whom a row is about; 'none' states that every row is another person.",
        examples=["patient", ["clinic", "patient"], {"column": "patient", "attacker_knows": "all_rows"}, "none"],
    )
    linked_by: ColumnName | None = Field(
        default=None, description="A column that stays in the release and ties the rows of one person together."
    )
    title: Line | None = Field(default=None, description="The name of the data set, for certificate and report.")
    purpose: Line | None = Field(default=None, description="What the release is for.")
    recipient: Line | None = Field(default=None, description="Who gets the release.")
    consent: ConsentConfig | None = Field(
        default=None, description="For releases: only rows of people who agreed to this purpose."
    )
    private_id: ColumnName | None = Field(
        default=None, description="The column that identifies the person of a row; for queries the same as person."
    )
    max_contributions: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] | None = None
    person_because: Line | None = Field(
        default=None,
        description="Why people are counted rightly although the table contradicts the person.",
    )
    plan: JsonObject | None = Field(default=None, description="A whole plan instead of all other fields.")

    def plain(self) -> dict[str, Any]:
        """Return the given fields as plain data."""
        return self.model_dump(exclude_none=True)


class RiskConfig(Config):
    """The config under which the risk is assessed."""

    model_config = ConfigDict(json_schema_extra={"examples": [RISK_EXAMPLE]})


class ProjectBody(Body):
    """A project to create."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "Heart Diseases",
                    "description": "Heart diseases among German residents",
                    "dataset_id": 1,
                    "researcher_id": 3,
                    "config": {"attributes": [AGE, GENDER], "privacy_models": [PRIVACY]},
                }
            ]
        },
    )
    name: Name
    description: Description = ""
    dataset_id: Id
    researcher_id: Id
    config: Config


class ProjectChange(Body):
    """The changes; omitted fields stay as they are."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Heart diseases, second part"}]})
    name: Name | None = None
    description: Description | None = None


class Question(Body):
    """One SELECT with aggregates, and its cost; epsilon and delta default to those of the project."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "SELECT married, AVG(age) FROM PRIORI GROUP BY married"}]},
    )
    query: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_QUERY)]
    epsilon: Amount | None = None
    delta: Amount | None = None


class ProjectAnswer(BaseModel):
    """A project."""

    attributes: list[dict[str, Any]] = Field(examples=[[AGE, GENDER]])
    budget: dict[str, Any] | None
    created_at: str
    creator: UserAnswer
    dataset_id: int
    description: str
    interactive: bool
    name: str
    privacy_models: list[dict[str, Any]] = Field(examples=[[PRIVACY]])
    problem: dict[str, Any] | None = None
    project_id: int
    researcher: UserAnswer
    state: Literal["preparing", "ready", "failed", "withdrawn"]
    suppression_limit: float | None
    table_name: str | None = None
    person: str | list[str] | dict[str, Any] | None = None
    linked_by: str | None = None
    title: str | None = None
    purpose: str | None = None
    recipient: str | None = None
    private_id: str | None = None
    max_contributions: int | None = None
    person_because: str | None = None
    consent: dict[str, Any] | None = None
    job: dict[str, Any] | None = None
    warnings: list[str] | None = Field(default=None, description="Points to consider; only for a new project.")


class ProjectsAnswer(BaseModel):
    """A page of projects."""

    projects: list[ProjectAnswer]
    limit: int
    page: int
    total: int


class QueryAnswer(BaseModel):
    """An answer with noise: for each column its values by row number."""

    query_result: dict[str, dict[str, Any]] = Field(
        examples=[{"Col1": {"0": 39.04, "1": 46.14}, "married": {"0": False, "1": True}}]
    )
    columns: list[dict[str, Any]]
    confidence: float
    composition: str
    cost: dict[str, float]
    remaining: dict[str, float]
    from_record: bool
    notes: list[str]


class EstimateAnswer(BaseModel):
    """What a query would cost, and the expected error of its answer."""

    columns: list[dict[str, Any]]
    confidence: float
    composition: str
    cost: dict[str, float]
    remaining: dict[str, float]
    affordable: bool
    groups: int | None
    notes: list[str]


class BudgetAnswer(BaseModel):
    """What an account may spend, has spent, and has left."""

    epsilon: float
    delta: float
    composition: str
    query_epsilon: float
    query_delta: float
    user_id: int
    spent: dict[str, float]
    remaining: dict[str, float]
    questions: int


class QuestionAnswer(BaseModel):
    """A paid query."""

    question_id: int
    at: str
    user_id: int
    sql: str
    cost: dict[str, float]
    answered: bool


class QuestionsAnswer(BaseModel):
    """A page of paid queries, the newest first."""

    questions: list[QuestionAnswer]
    limit: int
    page: int
    total: int


class DatasetBudget(BaseModel):
    """What was spent on a dataset: by account, by user over all projects, and by all users together."""

    dataset_id: int
    accounts: list[dict[str, Any]]
    users: list[dict[str, Any]]
    everybody: dict[str, float]
    counted: Annotated[
        dict[str, float], Field(description="What counts towards the limit: a `zcdp` account with its whole budget")
    ]
    limit: Annotated[
        dict[str, float | None], Field(description="The rules `dataset_epsilon` and `dataset_delta`; null: no limit")
    ]
