"""Request bodies that build a hierarchy: redaction and intervals as in PRIORI, and more."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from fastapi import Body as BodyOf
from pydantic import Field, StringConstraints

from kohorte.hierarchies import Builder, Dates, Ordering, Redaction, Rows, Tree
from kohorte.service.datasets.transformations import Interval, labelled_intervals, stated_builder
from kohorte.service.web.models.requests import MOST_ROWS, Body

MOST_INTERVALS = 10_000
MOST_POPULATIONS = 2_000_000
Label = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Bound = Annotated[int | float, Field(allow_inf_nan=False)]


class _Transformation(Body):
    example: ClassVar[dict[str, Any]]
    attribute_name: str = Field(min_length=1, max_length=1000, description="The name of the column.")


class RedactionRequest(_Transformation):
    """Mask one more character at each level."""

    example: ClassVar[dict[str, Any]] = {
        "transformation_type": "redaction",
        "attribute_name": "zip_code",
        "redaction_order": "right_to_left",
    }
    transformation_type: Literal["redaction"]
    redaction_order: Literal["right_to_left", "left_to_right"] = "right_to_left"
    length: int | None = Field(default=None, ge=1, le=100, description="Defaults to the length of the longest value.")

    def builder(self) -> Builder:
        """Return the builder of the hierarchy."""
        return Redaction(order=self.redaction_order, length=self.length)


class IntervalEntry(Body):
    """A labelled interval; it includes `min` and excludes `max`."""

    label: Label
    min: Bound
    max: Bound


class IntervalRequest(_Transformation):
    """Adjacent labelled intervals."""

    example: ClassVar[dict[str, Any]] = {
        "attribute_name": "age",
        "transformation_type": "interval",
        "intervals": [
            {"label": "young", "min": 0, "max": 18},
            {"label": "adult", "min": 18, "max": 70},
            {"label": "elderly", "min": 70, "max": 100},
        ],
    }
    transformation_type: Literal["interval"]
    intervals: list[IntervalEntry] = Field(fail_fast=True, min_length=1, max_length=MOST_INTERVALS)
    decimal: Literal[".", ","] = "."

    def builder(self) -> Builder:
        """Return the builder of the hierarchy."""
        given = [Interval(entry.label, entry.min, entry.max) for entry in self.intervals]
        return labelled_intervals(given, decimal=self.decimal)


class DateRequest(_Transformation):
    """Calendar periods."""

    example: ClassVar[dict[str, Any]] = {
        "attribute_name": "admitted",
        "transformation_type": "date",
        "format": "%d.%m.%Y",
        "levels": ["month", "year"],
    }
    transformation_type: Literal["date"]
    format: str = Field(default="%Y-%m-%d", max_length=100, description="As for strptime.")
    levels: list[str] = Field(
        fail_fast=True, default=["month", "quarter", "year", "decade"], min_length=1, max_length=10
    )

    def builder(self) -> Builder:
        """Return the builder of the hierarchy."""
        return Dates(format=self.format, levels=self.levels)


class OrderRequest(_Transformation):
    """Groups of adjacent values in an order."""

    example: ClassVar[dict[str, Any]] = {
        "attribute_name": "stage",
        "transformation_type": "order",
        "values": ["I", "IIa", "IIb", "III"],
        "fanouts": [2, 2],
    }
    transformation_type: Literal["order"]
    by: Literal["text", "number", "given"] | None = None
    values: Annotated[list[Label], Field(fail_fast=True, max_length=MOST_ROWS)] | None = None
    fanouts: list[int] = Field(fail_fast=True, default=[], max_length=50)
    labels: Literal["first-last", "set"] = "first-last"

    def builder(self) -> Builder:
        """Return the builder of the hierarchy."""
        return Ordering(by=self.by, values=self.values, fanouts=self.fanouts, labels=self.labels)


class TreeRequest(_Transformation):
    """Categories that contain categories and values."""

    example: ClassVar[dict[str, Any]] = {
        "attribute_name": "disease",
        "transformation_type": "tree",
        "tree": {"Infectious": {"Viral": ["flu", "measles"], "Bacterial": ["tb"]}, "Metabolic": ["gout"]},
    }
    transformation_type: Literal["tree"]
    tree: dict[str, Any] | list[Any]

    def builder(self) -> Builder:
        """Return the builder of the hierarchy."""
        return Tree(self.tree)


class CsvRequest(_Transformation):
    """Rows in the format of ARX, without a header."""

    example: ClassVar[dict[str, Any]] = {
        "attribute_name": "country",
        "transformation_type": "csv",
        "csv": "Austria;EU;*\nNorway;EFTA;*\n",
    }
    transformation_type: Literal["csv"]
    csv: str = Field(min_length=1)
    separator: Literal[";", ",", "|", "\t"] = ";"

    def builder(self) -> Builder:
        """Return the builder of the hierarchy."""
        return Rows.from_csv(self.csv, separator=self.separator)


class BuilderRequest(_Transformation):
    """Any builder, as a plan writes it; it cannot refer to files."""

    example: ClassVar[dict[str, Any]] = {
        "attribute_name": "age",
        "transformation_type": "builder",
        "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [5, 10, 20], "integer": True}},
    }
    transformation_type: Literal["builder"]
    hierarchy: dict[str, Any] = Field(description="The name of the builder with its options.")
    populations: str | None = Field(
        default=None, max_length=MOST_POPULATIONS, description="Of safe_harbor: the text of the file of populations."
    )

    def builder(self) -> Builder:
        """Return the builder of the hierarchy."""
        return stated_builder(self.hierarchy, populations=self.populations)


REQUESTS = (RedactionRequest, IntervalRequest, DateRequest, OrderRequest, TreeRequest, CsvRequest, BuilderRequest)
Transformation = Annotated[
    RedactionRequest | IntervalRequest | DateRequest | OrderRequest | TreeRequest | CsvRequest | BuilderRequest,
    Field(discriminator="transformation_type"),
    BodyOf(
        openapi_examples={
            request.example["transformation_type"]: {"value": request.example, "summary": str(request.__doc__)}
            for request in REQUESTS
        }
    ),
]
