"""Recodings: what must hold for their answers, and how long they take, from the table to the verified release."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import polars as pl

import kohorte as ko
from benchmarks.report import Line
from testbed import tables

REPETITIONS = 5
K_OPTIMIZE = {1000: 46_071_298, 500: 28_910_194, 250: 17_030_826, 100: 12_812_556}
"""The least discernibility of ADULT, age in steps of five years, nothing suppressed."""


def run() -> list[Line]:
    """Mondrian, local recoding and k-Optimize on ADULT."""
    adult = ko.read_table(tables.DATA / "adult.csv").frame
    best = ko.anonymize(adult, tables.plan("adult", k=5, limit=0.0, metric="loss"))
    lines = [
        _line(adult, tables.plan("adult", k=5, limit=0.0, metric="loss", algorithm=algorithm), target=target)
        for algorithm, target in (("mondrian", 0.5), ("mondrian_relaxed", 0.5))
    ]
    local = tables.plan("adult", k=5, limit=1.0, metric="loss", algorithm="local_recoding")
    return [*lines, _line(adult, local, target=2.0, most=best.cost / 2), *_k_optimize(adult)]


def million() -> list[Line]:
    """Mondrian on one million generated rows with nine quasi-identifiers."""
    with tables.generated(1_000_000) as (frame, plan):
        return [
            _line(frame, replace(plan, search=ko.SearchOptions(algorithm=algorithm)), target=5.0, repetitions=2)
            for algorithm in ("mondrian", "mondrian_relaxed")
        ]


def _line(
    frame: pl.DataFrame, plan: ko.Plan, *, target: float, most: float = 1.0, repetitions: int = REPETITIONS
) -> Line:
    seconds, release = float("inf"), None
    for _ in range(repetitions):
        started = perf_counter()
        release = ko.anonymize(frame, plan)
        seconds = min(seconds, perf_counter() - started)
    assert release is not None
    regions = release.to_dict()["algorithm_facts"].get("rows_per_region_and_k")  # type: ignore[attr-defined]
    right = ko.verify(release.data, plan).satisfied and release.cost <= most
    if plan.search.algorithm == "mondrian_relaxed":
        right = right and regions <= 2
    bound = "" if regions is None else f", {regions:.2f} k rows per region"
    return Line(
        f"{plan.search.algorithm}, {release.rows:,} rows, k=5, with verification",
        right=right,
        seconds=seconds,
        target=target,
        note=f"loss {release.cost:.4f}{'' if most == 1.0 else f' (at most {most:.4f})'}{bound}",
    )


def _k_optimize(adult: pl.DataFrame) -> list[Line]:
    lines = []
    for k, optimum in K_OPTIMIZE.items():
        plan = tables.plan("adult", k=k, limit=0.0, metric="discernibility", algorithm="k_optimize")
        steps = {**plan.attributes, "age": replace(plan.attributes["age"], minimum_level=1)}
        started = perf_counter()
        release = ko.anonymize(adult, replace(plan, attributes=steps))
        lines.append(
            Line(
                f"k_optimize, ADULT with age in 15 steps, k={k}",
                right=release.optimal and release.cost == optimum,
                seconds=perf_counter() - started,
                target=300.0,
                note=f"discernibility {release.cost:,.0f}, proven, {release.checked:,} sets visited",
            )
        )
    return lines
