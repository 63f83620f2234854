"""A value that everybody in a class has is an open point, also where the models hold."""

from __future__ import annotations

from collections import defaultdict

import polars as pl
import pytest

from kohorte.plans import Plan
from kohorte.release import anonymize, verify, warnings
from kohorte.release.telling.values.common_values import EVERYBODY

CLOSE = {"model": "t-closeness_equal", "attribute": "diagnosis", "t": 0.6}
DIVERSE = {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2}
OTHERS = ("flu", "gout", "acne", "gastritis")


def plan(*models: dict[str, object], person: str = "none") -> Plan:
    roles = {"patient": "identifying", "age": "quasi-identifying", "diagnosis": "sensitive"}
    attributes = {name: {"role": role} for name, role in roles.items()}
    return Plan(attributes, [{"model": "k-anonymity", "k": 2}, *models], person=person)  # type: ignore[arg-type,list-item]


def table(*, shared: bool, rows_each: int = 1) -> pl.DataFrame:
    """Twenty people aged 20 and twenty aged 60; if `shared`, all of those aged 20 have the flu."""
    people = [(person, row) for person in range(40) for row in range(rows_each)]
    ill = ["flu" if shared and person < 20 and not row else OTHERS[(person + row) % 4] for person, row in people]
    return pl.DataFrame(
        {
            "patient": [f"p{person}" for person, _ in people],
            "age": ["20" if person < 20 else "60" for person, _ in people],
            "diagnosis": ill,
        }
    )


def everybody_has_one(frame: pl.DataFrame, whom: str) -> bool:
    """Count by hand: is there an age at which everybody has the same diagnosis?"""
    people, having = defaultdict(set), defaultdict(set)
    for number, (patient, age, diagnosis) in enumerate(frame.rows()):
        person = patient if whom == "patient" else number
        people[age].add(person)
        having[age, diagnosis].add(person)
    return any(having[age, diagnosis] == people[age] for age, diagnosis in having)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("rows_each", "person"), [(1, "none"), (3, "patient")])
def test_a_value_that_everybody_in_a_class_has_is_said_in_certificate_and_verification(
    shared: bool, rows_each: int, person: str
) -> None:
    frame, chosen = table(shared=shared, rows_each=rows_each), plan(CLOSE, person=person)
    assert everybody_has_one(frame, person) is shared
    release = anonymize(frame, chosen)
    assert release.levels == {"age": 0}
    found = verify(release.data, chosen, population=frame if person == "patient" else None)
    for points in (warnings(release), found.open_points):
        assert any(point.startswith(f"{EVERYBODY} 'diagnosis'") for point in points) is shared
        assert not any("flu" in point for point in points)


def test_diversity_leaves_nothing_to_say() -> None:
    release = anonymize(table(shared=True), plan(CLOSE, DIVERSE))
    assert release.levels == {"age": 1}
    assert not any(point.startswith(EVERYBODY) for point in warnings(release))
