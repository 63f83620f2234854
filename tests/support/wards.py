"""A small table of patients in wards with diagnoses, several rows of one patient, and its plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

import kohorte as ko
from kohorte.hierarchies import Tree
from kohorte.models import KAnonymity

KINDS = {"flu": "lung", "asthma": "lung", "ulcer": "gut", "colic": "gut"}
TREE = Tree({"lung": ["flu", "asthma"], "gut": ["ulcer", "colic"]})


def plan(k: int = 2, person: str | None = "patient", **more: Any) -> ko.Plan:
    return ko.Plan(
        attributes={
            "patient": {"role": "identifying"},
            "ward": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
            "sex": {"role": "quasi-identifying"},
            "diagnosis": ko.Attribute("sensitive", TREE),
        }
        | more.pop("attributes", {}),
        models=[KAnonymity(k)],
        person=person,
        suppression_limit=1.0,
        **more,
    )


def frame(rows: Sequence[tuple[str | None, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(["patient", "ward", "sex", "diagnosis"], pl.String), orient="row")
