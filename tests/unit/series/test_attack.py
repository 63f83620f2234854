"""Linking all releases of a series by a tag that tells the same row, counted in plain Python from what is shown."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from support.examples import examples

K = 3
PEOPLE = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=12, max_size=60
)
Shown = dict[str, tuple[str | None, ...]]


def plan() -> ko.Plan:
    return ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {
                "age": {"role": "quasi-identifying"},
                "ward": {"role": "quasi-identifying", "hierarchy": {"tree": {"A": ["a", "b"], "C": ["c", "d"]}}},
                "diagnosis": {"role": "sensitive"},
                "tag": {"role": "insensitive"},
            },
            "models": [{"model": "k-anonymity", "k": K}],
            "suppression_limit": 1.0,
        }
    )


def releases(people: list[tuple[int, str, str]], growth: list[int], arrivals: str) -> tuple[list[Shown], bool]:
    """What each release shows of every tag; and whether the series passes its own verification."""
    columns = ("age", "ward", "diagnosis")
    table = pl.DataFrame(
        [(*row, f"t{number}") for number, row in enumerate(people)], schema=[*columns, "tag"], orient="row"
    )
    found: list[Shown] = []
    with tempfile.TemporaryDirectory() as folder:
        domains = {"regions": {"age": {"lower": 0, "upper": 40}}, "arrivals": arrivals}
        series = ko.Series.start(Path(folder) / "series", plan(), domains)
        for rows in growth:
            try:
                data = series.release(table[:rows]).data
            except ko.NoSolution:
                continue
            found.append({tag: cells for *cells, _, tag in data.rows()})  # type: ignore[misc]
        return found, series.verify(table).satisfied


def candidates(shown: list[Shown], *, person: str, same_arrival: bool) -> int:
    """The tags of the last release that fit what is known of the person wherever both are shown."""

    def arrival(tag: str) -> int:
        return next(number for number, release in enumerate(shown) if tag in release)

    return sum(
        all(release[tag] == release[person] for release in shown if tag in release and person in release)
        for tag in shown[-1]
        if not same_arrival or arrival(tag) == arrival(person)
    )


@pytest.mark.slow
@pytest.mark.parametrize("arrivals", ["unknown", "known"])
@examples(25)
@given(people=PEOPLE, steps=st.lists(st.integers(1, 25), min_size=1, max_size=4))
def test_whoever_recognises_rows_finds_at_least_k_for_everybody(
    arrivals: str, people: list[tuple[int, str, str]], steps: list[int]
) -> None:
    growth = sorted({min(len(people), 6 + sum(steps[: number + 1])) for number in range(len(steps))})
    shown, satisfied = releases(people, growth, arrivals)
    assert satisfied
    for last in range(1, len(shown) + 1):
        so_far = shown[:last]
        assert set(so_far[-1]) >= set().union(*so_far)  # who was shown once is shown again
        for person in so_far[-1]:
            assert candidates(so_far, person=person, same_arrival=arrivals == "known") >= K
