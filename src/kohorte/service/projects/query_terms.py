"""Configs of projects that answer queries, as metadata with a budget for each researcher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from kohorte.data import Role
from kohorte.dp import Budget, Column, QueryMetadata
from kohorte.dp.budget.budget import LEAST_EPSILON, checked_delta, checked_epsilon
from kohorte.errors import InputError, nearest
from kohorte.plans.person import NONE, as_person

DIFFERENTIAL_PRIVACY = "epsilon-delta-differential_privacy"
TABLE_NAME = "PRIORI"
METADATA_KEYS = ("datatype", "min", "max", "step", "values", "cardinality")
PARAMETERS = ("epsilon", "delta", "composition", "query_epsilon", "query_delta")
QUERIES_IN_A_BUDGET = 10
"""A query that names no epsilon costs one tenth of the budget."""
LEAST_DELTA = 2.5e-16
"""Below it OpenDP finds no threshold for one row per person, because it computes in double precision."""


@dataclass(frozen=True)
class QueryTerms:
    """What may be queried, and the cost of a query that does not state its own."""

    metadata: QueryMetadata
    epsilon: float
    delta: float
    person_because: str = ""
    """Why people are counted rightly although the table contradicts the person."""

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon, what="query_epsilon", code="project-config")
        checked_delta(self.delta, what="query_delta", code="project-config")

    @property
    def budget(self) -> Budget:
        """What each researcher may spend in all."""
        return self.metadata.budget

    def refuse_doubted(self, doubts: Sequence[str]) -> tuple[str, ...]:
        """Refuse a person whom the table contradicts, unless the config says why it is right; return what to warn of.

        That every row is another person is a statement of its own.
        """
        if not self.metadata.rows_are_people and not self.person_because:
            refuse_doubted(doubts)
        return tuple(doubts)

    def of_project(self, project_id: int) -> QueryMetadata:
        """Return the metadata under the name of a project."""
        return replace(self.metadata, project=f"project {project_id}")

    def budget_to_dict(self) -> dict[str, Any]:
        """Return the budget and the default cost of a query as plain data."""
        return {**self.budget.to_dict(), "query_epsilon": self.epsilon, "query_delta": self.delta}


def person_because(config: Mapping[str, Any]) -> str:
    """Return why people are counted rightly although the table contradicts the person; empty if it is not said."""
    because = config.get("person_because", "")
    if not isinstance(because, str):
        raise _wrong("config.person_because", "is a text")
    return because.strip()


def refuse_doubted(doubts: Sequence[str]) -> None:
    """Refuse a person whom the table contradicts, for queries and for releases."""
    if doubts:
        raise InputError(
            f"config.person: {doubts[0]}; or say in config.person_because why people are counted rightly",
            code="person-doubted",
            field="config.person",
        )


def to_query_terms(
    given: Mapping[str, Any],
    attributes: Sequence[Mapping[str, Any]],
    model: Mapping[str, Any],
    columns: Sequence[str],
) -> QueryTerms:
    """Return the terms of a config with differential privacy."""
    _refuse_hierarchies(attributes)
    if "attribute_name" in model:
        raise _wrong("config.privacy_models[0].attribute_name", "differential privacy protects all attributes")
    if given.get("private_id") is not None and given["private_id"] not in (*columns, NONE):
        raise _wrong("config.private_id", "the dataset has no such column")
    asked = {str(entry["attribute_name"]): column for entry, column in _columns(attributes) if column is not None}
    if not asked:
        raise _wrong("config.attributes", "at least one that is not identifying needs metadata with its datatype")
    parameters = _parameters(model["model_params"])
    metadata = _metadata(given, asked, _budget(parameters), _identifying(attributes))
    if any(name not in columns for name in metadata.person_columns):
        raise _wrong("config.person", "the dataset has no such column")
    return replace(_priced(metadata, parameters), person_because=person_because(given))


def _metadata(
    given: Mapping[str, Any], asked: Mapping[str, Column], budget: Budget, identifying: Sequence[str]
) -> QueryMetadata:
    try:
        bare = QueryMetadata(
            table=given.get("table_name", TABLE_NAME),
            columns=asked,
            budget=budget,
            private_id=given.get("private_id"),
            identifying=identifying,
            missing_values=given.get("missing_values", ()),
        )
        return replace(bare.about(as_person(given.get("person"))), max_contributions=given.get("max_contributions", 1))
    except InputError as error:
        raise _wrong("config", error.message) from None


def _columns(attributes: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], Column | None]]:
    """The column of each attribute for queries; None for attributes without metadata."""
    return [(entry, _column(entry, f"config.attributes[{number}]")) for number, entry in enumerate(attributes)]


def _column(entry: Mapping[str, Any], place: str) -> Column | None:
    if "metadata" not in entry:
        return None
    if entry["attribute_type"] == Role.IDENTIFYING:
        raise _wrong(f"{place}.metadata", "an identifying attribute cannot be queried; leave the metadata out")
    given = entry["metadata"]
    if not isinstance(given, Mapping):
        raise _wrong(f"{place}.metadata", "is written as keys with values")
    for key in given:
        if key not in METADATA_KEYS:
            known = ", ".join(METADATA_KEYS)
            raise _wrong(
                f"{place}.metadata", f"has an unknown key{nearest(str(key), METADATA_KEYS)}; known are {known}"
            )
    if given.get("datatype") is None:
        raise _wrong(f"{place}.metadata.datatype", "is missing")
    try:
        return Column(**given)
    except InputError as error:
        raise _wrong(f"{place}.metadata.{error.field}", error.message) from None


def _identifying(attributes: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(entry["attribute_name"]) for entry in attributes if entry["attribute_type"] == Role.IDENTIFYING]


def _refuse_hierarchies(attributes: Sequence[Mapping[str, Any]]) -> None:
    for number, entry in enumerate(attributes):
        for key in ("attribute_hierarchy", "hierarchy"):
            if key in entry:
                raise _wrong(f"config.attributes[{number}].{key}", "is not supported for queries")


def _parameters(given: Mapping[str, Any]) -> Mapping[str, Any]:
    place = "config.privacy_models[0].model_params"
    for key in given:
        if key not in PARAMETERS:
            raise _wrong(place, f"has an unknown key{nearest(key, PARAMETERS)}; known are {', '.join(PARAMETERS)}")
    if given.get("epsilon") is None:
        raise _wrong(f"{place}.epsilon", "is missing")
    return {key: value for key, value in given.items() if value is not None}


def _budget(parameters: Mapping[str, Any]) -> Budget:
    try:
        return Budget(**{key: parameters[key] for key in ("epsilon", "delta", "composition") if key in parameters})
    except InputError as error:
        raise _wrong("config.privacy_models[0].model_params", error.message) from None


def _priced(metadata: QueryMetadata, parameters: Mapping[str, Any]) -> QueryTerms:
    limit = metadata.budget.limit
    epsilon = max(float(Fraction(str(metadata.budget.epsilon)) / QUERIES_IN_A_BUDGET), LEAST_EPSILON)
    least = LEAST_DELTA * metadata.max_contributions
    delta = min(max(float(limit.delta / QUERIES_IN_A_BUDGET), least), float(limit.delta))
    try:
        return QueryTerms(metadata, parameters.get("query_epsilon", epsilon), parameters.get("query_delta", delta))
    except InputError as error:
        raise _wrong("config.privacy_models[0].model_params", error.message) from None


def _wrong(place: str, reason: str) -> InputError:
    return InputError(f"{place}: {reason}", code="project-config", field=place)
