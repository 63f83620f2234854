"""Request and response bodies of datasets and hierarchies, with examples for the OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from kohorte.service.web.models.requests import MOST_LEVELS, MOST_ROWS, Body
from kohorte.service.web.models.responses import UserAnswer

JOHN: dict[str, Any] = {
    "email_address": "john@example.com",
    "institution": "Fraunhofer IOSB",
    "name": "John Doe",
    "privileged_status": True,
    "user_id": 2,
    "created_at": "2020-09-30T18:00:00.000000+00:00",
    "disabled": False,
}
TEXTS: dict[str, Any] = {"name": "Heart Diseases", "description": "Heart diseases among German residents"}
SHOWN: dict[str, Any] = {
    **TEXTS,
    "created_at": "2020-09-30T19:06:00.909045+00:00",
    "creator": JOHN,
    "dataset_id": 1,
    "state": "ready",
    "rows": 303,
    "columns": [{"name": "age", "datatype": "str", "distinct": 41}],
    "file_name": "heart.csv",
    "bytes": 11_300,
    "sha256": "0" * 64,
}
HIERARCHY: list[Any] = [
    ["81667", "8166*", "816**", "81***", "8****", "*****"],
    ["81668", "8166*", "816**", "81***", "8****", "*****"],
]

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    Field(description="The name of the dataset."),
]
Description = Annotated[str, StringConstraints(max_length=10_000), Field(description="What the dataset is about.")]

HierarchyRow = Annotated[list[str], Field(fail_fast=True, max_length=MOST_LEVELS)]


class Preview(BaseModel):
    """The first rows of a table, as text."""

    columns: list[str]
    rows: list[list[str]]


class DatasetTexts(Body):
    """Name and description of a dataset."""

    model_config = ConfigDict(json_schema_extra={"examples": [TEXTS]})
    name: Name
    description: Description = ""
    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    encoding: Annotated[str, Field(min_length=1, max_length=40)] | None = None

    @property
    def layout(self) -> dict[str, str]:
        """The layout of a CSV file as far as it was given; the rest is detected."""
        given = {"separator": self.separator, "encoding": self.encoding}
        return {name: value for name, value in given.items() if value is not None}


class DatasetChange(Body):
    """The changes; omitted fields stay as they are."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Heart Diseases 2020"}]})
    name: Name | None = None
    description: Description | None = None


class Column(BaseModel):
    """A column of a dataset."""

    name: str
    datatype: str
    distinct: int
    missing: int


class DatasetAnswer(BaseModel):
    """A dataset; `rows` and `columns` are known when it is ready."""

    model_config = ConfigDict(json_schema_extra={"examples": [SHOWN]})
    created_at: str
    creator: UserAnswer
    dataset_id: int
    description: str
    name: str
    state: str = Field(description="preparing, ready or failed")
    rows: int | None
    columns: list[Column] | None
    file_name: str
    bytes: int
    sha256: str = Field(description="The SHA-256 of the bytes that were uploaded.")


class DatasetsAnswer(BaseModel):
    """A page of datasets."""

    datasets: list[DatasetAnswer]
    limit: int = Field(examples=[20])
    page: int = Field(examples=[1])
    total: int = Field(examples=[1])


class HierarchyRows(Body):
    """A hierarchy: one row per value, `[value, level 1, ...]`."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"hierarchy": HIERARCHY}]})
    hierarchy: Annotated[list[HierarchyRow], Field(fail_fast=True, max_length=MOST_ROWS)]


class StoredHierarchy(BaseModel):
    """A stored hierarchy: the number of levels, including the value and `*`, and the number of values."""

    attribute_name: str
    levels: int
    values: int


class ListedHierarchy(BaseModel):
    """A column, and since when a hierarchy is stored for it."""

    attribute_name: str
    distinct: int
    stored_at: str | None


class ListedHierarchies(BaseModel):
    """The columns of a dataset in their order."""

    hierarchies: list[ListedHierarchy]


class HierarchyToExamine(HierarchyRows):
    """A hierarchy that may be broken: rows can have different lengths."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"attribute_name": "zip", "hierarchy": HIERARCHY}]})
    attribute_name: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    person: Annotated[str, StringConstraints(min_length=1, max_length=1000)] | None = Field(
        default=None, description="The column that says whom a row is about: labels then also count people."
    )


class ExaminedPlace(BaseModel):
    """A fault in a cell: the row and the level of the hierarchy, both from 0."""

    fault: str
    row: int
    level: int


class ExaminedLevel(BaseModel):
    """What the labels of a level cover, of those that occur in the table."""

    level: int
    labels: int
    fewest_rows: int
    most_rows: int
    fewest_people: int | None
    most_people: int | None


class ExaminedHierarchy(BaseModel):
    """What is broken in a hierarchy; `label-ambiguous` and `not-in-table` are notes."""

    attribute_name: str
    ok: bool = Field(description="Whether it can be stored.")
    faults: dict[str, int]
    places: list[ExaminedPlace]
    levels: list[ExaminedLevel]
    hierarchy: list[list[str]] = Field(description="The rows, filled up, with a row for each value that they lack.")


class ProposalAnswer(BaseModel):
    """A proposed configuration, the findings about each column, and reasons."""

    config: dict[str, Any]
    columns: list[dict[str, Any]]
    reasons: list[str]


UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file", "json"],
                    "properties": {
                        "file": {"type": "string", "format": "binary", "description": "A table: CSV or Parquet."},
                        "json": {
                            "type": "object",
                            "required": ["name"],
                            "additionalProperties": False,
                            "properties": {
                                "name": {"type": "string", "minLength": 1, "maxLength": 200, "example": TEXTS["name"]},
                                "description": {
                                    "type": "string",
                                    "maxLength": 10_000,
                                    "example": TEXTS["description"],
                                },
                                "separator": {"type": "string", "minLength": 1, "maxLength": 1},
                                "encoding": {"type": "string", "minLength": 1, "maxLength": 40},
                            },
                        },
                    },
                },
                "encoding": {
                    "file": {"contentType": "text/csv, application/octet-stream"},
                    "json": {"contentType": "application/json"},
                },
            }
        },
    }
}
STORED: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "text/csv": {
                "schema": {"type": "string", "minLength": 1},
                "example": "\n".join(";".join(row) for row in HIERARCHY),
            },
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["hierarchy"],
                    "additionalProperties": False,
                    "properties": {
                        "hierarchy": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": MOST_ROWS,
                            "items": {
                                "type": "array",
                                "minItems": 1,
                                "maxItems": MOST_LEVELS,
                                "items": {"type": "string"},
                            },
                        }
                    },
                },
                "example": {"hierarchy": HIERARCHY},
            },
        },
    }
}
LOCATION = {"Location": {"description": "The URL of the object.", "schema": {"type": "string"}}}
