"""Bodies that are wrong all over are refused soon, in few words."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from kohorte.service.web.models.datasets import DatasetChange, DatasetTexts, HierarchyRows
from kohorte.service.web.models.projects import Config, ProjectBody, ProjectChange, Question, RiskConfig
from kohorte.service.web.models.requests import MOST_UNKNOWN, Body
from kohorte.service.web.models.transformations import REQUESTS, IntervalRequest, OrderRequest
from kohorte.service.web.routes.accounts import Credentials, FirstSteward, RefreshRequest
from kohorte.service.web.routes.users import NewUser, UserChange

MANY = 300_000
NOTHING: list[Any] = [[]] * MANY
WRONG: dict[str, tuple[type[BaseModel], Any]] = {
    "attributes": (Config, {"attributes": NOTHING}),
    "rows": (Config, {"attributes": [{"attribute_hierarchy": [*NOTHING[:1], [{}] * MANY]}]}),
    "cells": (Config, {"attributes": [{"attribute_hierarchy": [[{}] * MANY]}]}),
    "public keys": (Config, {"attributes": [{"metadata": {"values": NOTHING}}]}),
    "public keys of all": (Config, {"attributes": [{"metadata": {"values": NOTHING[:1000]}}] * 300}),
    "models": (Config, {"privacy_models": NOTHING}),
    "stored rows": (HierarchyRows, {"hierarchy": [[1]] * MANY}),
    "stored cells": (HierarchyRows, {"hierarchy": [[1] * MANY]}),
    "intervals": (IntervalRequest, {"intervals": NOTHING}),
    "order": (OrderRequest, {"values": NOTHING, "fanouts": NOTHING}),
    "unknown members": (Config, dict.fromkeys(map(str, range(MANY)), 1)),
    "unknown members of all": (Config, {"attributes": [dict.fromkeys(map(str, range(1000)), 1)] * 300}),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_a_thousand_times_is_said_a_few_times(name: str) -> None:
    model, body = WRONG[name]
    tracemalloc.start()
    with pytest.raises(ValidationError) as caught:
        model.model_validate(body)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.error_count() <= 2 * MOST_UNKNOWN
    assert memory < 20 << 20


def bodies() -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = [Body]
    for body in found:
        found.extend(kind for kind in body.__subclasses__() if kind not in found)
    return found


def test_every_list_in_a_body_has_a_greatest_length_and_ends_with_the_first_error() -> None:
    known = bodies()
    for used in (
        Credentials, RefreshRequest, FirstSteward, NewUser, UserChange, DatasetTexts, DatasetChange, HierarchyRows,
        ProjectBody, ProjectChange, Question, RiskConfig, *REQUESTS,
    ):  # fmt: skip
        assert used in known
    for body in known:
        for schema in lists(body.__pydantic_core_schema__):
            assert schema.get("fail_fast") is True, body
            assert schema.get("max_length"), body


def lists(schema: Any) -> list[dict[str, Any]]:
    """All lists of a core schema but those of anything at all, which are not looked into."""
    if isinstance(schema, list | tuple):
        return [one for part in schema for one in lists(part)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("type") == "list" and schema["items_schema"]["type"] != "any" else []
    return own + [one for key, part in schema.items() if key != "metadata" for one in lists(part)]


def test_unknown_members_are_refused_by_name_and_known_ones_still_looked_at() -> None:
    unknown = {f"x{number}": 1 for number in range(1000)}
    with pytest.raises(ValidationError) as caught:
        Question.model_validate({**unknown, "query": 7})
    places = [error["loc"][0] for error in caught.value.errors()]
    assert places == ["query", *list(unknown)[:MOST_UNKNOWN]]
    with pytest.raises(ValidationError):
        Question.model_validate({"query": "SELECT 1", **unknown})
