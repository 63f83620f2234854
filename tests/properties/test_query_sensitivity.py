"""One person changes no measurement by more than is declared: the noise is made for that."""

from __future__ import annotations

import math

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from kohorte.dp.noise.exact import ExactTable
from kohorte.dp.noise.measurements import (
    Kind,
    Measurement,
    euclidean_sensitivity,
    measurements_of,
    parts_of,
    sensitivity,
)
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.dp.schema.typed import typed_table
from kohorte.dp.sql.parse import parse_query
from kohorte.dp.sql.plan import QueryPlan
from support.examples import examples
from support.questions import AGGREGATES, metadata

ROWS = st.fixed_dictionaries(
    {
        "age": st.none() | st.sampled_from(["-50", "0", "1", "60", "61", "120", "9999", "x", "NaN", "inf"]),
        "weight": st.none() | st.floats(-1e9, 1e9),
        "lab": st.none() | st.floats(0, 5),
        "married": st.none() | st.booleans(),
        "sex": st.none() | st.sampled_from(["f", "m", "d"]),
        "diagnosis": st.none() | st.sampled_from(["a", "b"]),
    }
)
PEOPLE = st.lists(st.lists(ROWS, max_size=5), max_size=4)
SCHEMA = {
    "pid": pl.String,
    "age": pl.String,
    "weight": pl.Float64,
    "lab": pl.Float64,
    "married": pl.Boolean,
    "sex": pl.String,
    "diagnosis": pl.String,
}


def table(people: list[list[dict[str, object]]]) -> pl.DataFrame:
    rows = [{"pid": f"p{number}", **row} for number, person in enumerate(people) for row in person]
    return pl.DataFrame(rows, schema=SCHEMA)


def vectors(frame: pl.DataFrame, plan: QueryPlan, told: QueryMetadata) -> dict[Measurement, dict[object, int]]:
    parts = [part for part in measurements_of(plan, thresholded=False) if part.kind is not Kind.QUANTILE]
    return ExactTable(typed_table(frame, told), plan, told).measure(parts)


@examples(25)
@given(
    others=PEOPLE,
    person=st.lists(ROWS, min_size=1, max_size=6),
    most=st.integers(1, 3),
    keys=st.sampled_from(["", "sex", "sex, diagnosis"]),
    where=st.sampled_from(["", "WHERE age > 0", "WHERE sex = 'f' OR weight IS NULL"]),
)
def test_one_person_changes_every_measurement_by_at_most_its_sensitivity(
    others: list[list[dict[str, object]]], person: list[dict[str, object]], most: int, keys: str, where: str
) -> None:
    told = metadata(max_contributions=most)
    group = f"GROUP BY {keys}" if keys else ""
    sums = [*AGGREGATES[:7], "VARIANCE(weight)", "SUM(weight)"]
    plan = parse_query(f"SELECT {', '.join(sums)} FROM PRIORI {where} {group}", told)
    without, with_person = (vectors(table(people), plan, told) for people in (others, [*others, person]))
    for part, after in with_person.items():
        before = without[part]
        changes = [abs(after.get(key, 0) - before.get(key, 0)) for key in {*before, *after}]
        assert sum(changes) <= sensitivity(part, told, grouped=bool(keys))
        assert math.hypot(*changes) <= euclidean_sensitivity(part, told, grouped=bool(keys)) + 1e-9


@examples(15)
@given(others=PEOPLE, person=st.lists(ROWS, min_size=1, max_size=6), most=st.integers(1, 3))
def test_one_person_changes_the_values_of_a_quantile_by_at_most_so_many_rows(
    others: list[list[dict[str, object]]], person: list[dict[str, object]], most: int
) -> None:
    told = metadata(max_contributions=most)
    plan = parse_query("SELECT sex, MEDIAN(age) FROM PRIORI GROUP BY sex", told)
    [part] = parts_of(plan.aggregates[0])
    found = []
    for people in (others, [*others, person]):
        values = ExactTable(typed_table(table(people), told), plan, told).values(part.column)
        found.append({(key, *pair) for key, column in values.items() for pair in _numbered(column.tolist())})
    assert found[0] <= found[1]
    assert len(found[1] - found[0]) <= most


def _numbered(values: list[int]) -> list[tuple[int, int]]:
    return [(value, values[:place].count(value)) for place, value in enumerate(values)]
