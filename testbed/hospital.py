"""A made-up hospital that other institutions send requests to: its table, what it says about it, and requests."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from kohorte.exchange.holding import Holding
from kohorte.exchange.policies import CheckPolicy
from kohorte.exchange.request import Request
from kohorte.plans import Plan

OCCUPATIONS = ("teacher", "nurse", "farmer", "retired", "student", "clerical support workers")
DIAGNOSES = ("I10", "E11", "J45", "F32", "M54")
STATISTICS = {
    "age": "age",
    "sex": "sex",
    "occupation": "occupation",
    "diagnosis": "disease",
    "drug": "medication",
}
PLAN: dict[str, Any] = {
    "kohorte": 1,
    "attributes": {
        "name": {"role": "identifying"},
        "age": {
            "role": "quasi-identifying",
            "hierarchy": {"intervals": {"lower": 0, "upper": 120, "widths": [5, 10, 20], "integer": True}},
        },
        "sex": {"role": "quasi-identifying"},
        "occupation": {"role": "quasi-identifying"},
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
        "diagnosis": {"role": "sensitive"},
        "drug": {"role": "sensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 5}],
    "person": "patient",
}


def patients(rows: int, *, people: int, treated: int, seed: int = 18) -> pl.DataFrame:
    """A table with several rows for most people; the first `treated` people get methadone, all others ibuprofen."""
    chance = np.random.default_rng(seed)
    person = np.concatenate([np.arange(people), chance.integers(0, people, rows - people)])
    of_person = np.random.default_rng(seed + 1)
    age, work = of_person.integers(20, 80, people), of_person.integers(0, len(OCCUPATIONS), people)
    return pl.DataFrame(
        {
            "patient": [f"P{number:07}" for number in person],
            "name": [f"Patient {number}" for number in person],
            "age": age[person],
            "sex": np.where(person % 2 == 0, "female", "male"),
            "occupation": np.array(OCCUPATIONS)[work[person]],
            "zip": 10000 + of_person.integers(0, 900, people)[person],
            "diagnosis": np.array(DIAGNOSES)[chance.integers(0, len(DIAGNOSES), rows)],
            "drug": np.where(person < treated, "methadone", "ibuprofen"),
        }
    ).cast(pl.String)


def holding(**policy: object) -> Holding:
    """The hospital under the default policy, with other thresholds where given."""
    data = CheckPolicy.named("default").to_dict() | policy
    return Holding("Hospital B", Plan.from_dict(PLAN), CheckPolicy.from_dict(data), 500_000, STATISTICS, "AT")


def request(
    condition: dict[str, Any] | None = None,
    attributes: tuple[str, ...] = ("age", "sex", "occupation", "diagnosis"),
    *,
    institution: str = "Institute A",
    name: str = "Dr. Xaver Neumann",
    until: str = "2026-12-31",
) -> Request:
    """A request for the people who get methadone, or who satisfy another condition."""
    return Request.from_dict(
        {
            "kohorte": 1,
            "requester": {"name": name, "institution": institution},
            "purpose": "Effect of the drug by age and occupation",
            "attributes": list(attributes),
            "condition": condition or {"attribute": "drug", "is": "methadone"},
            "until": until,
        }
    )
