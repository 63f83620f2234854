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
LEAST_LOSS = (
    ("adult", 5, "sets", 0.50),
    ("adult", 5, "intervals", 0.78),
    ("adult", 50, "sets", 0.57),
    ("cup", 5, "sets", 0.72),
    ("cup", 50, "sets", 0.82),
)
"""How much least_loss may lose, as a share of what relaxed Mondrian loses."""


def run() -> list[Line]:
    """Mondrian, local recoding and k-Optimize on ADULT."""
    adult = ko.read_table(tables.DATA / "adult.csv").frame
    best = ko.anonymize(adult, tables.plan("adult", k=5, limit=0.0, metric="loss"))
    lines = [
        _line(adult, tables.plan("adult", k=5, limit=0.0, metric="loss", algorithm=algorithm), target=target)
        for algorithm, target in (("mondrian", 0.5), ("mondrian_relaxed", 0.5))
    ]
    local = tables.plan("adult", k=5, limit=1.0, metric="loss", algorithm="local_recoding")
    lines += [*_least_loss(adult)]
    return [*lines, _line(adult, local, target=2.0, most=best.cost / 2), *_k_optimize(adult)]


def million() -> list[Line]:
    """Mondrian and least loss on one million generated rows with nine quasi-identifiers."""
    with tables.generated(1_000_000) as (frame, plan):
        return [
            _line(frame, replace(plan, search=ko.SearchOptions(algorithm=algorithm)), target=target, repetitions=times)
            for algorithm, target, times in (
                ("mondrian", 5.0, 2),
                ("mondrian_relaxed", 5.0, 2),
                ("least_loss", 120.0, 1),
            )
        ]


def _least_loss(adult: pl.DataFrame) -> list[Line]:
    """The loss of least_loss as a share of that of relaxed Mondrian, on both public tables."""
    frames = {"adult": adult, "cup": ko.read_table(tables.DATA / "cup.csv").frame}
    lines = []
    for name, k, cells, most in LEAST_LOSS:
        plan = tables.plan(name, k=k, limit=0.0, metric="loss", algorithm="mondrian_relaxed")
        mondrian = ko.anonymize(frames[name], plan)
        started = perf_counter()
        release = ko.anonymize(frames[name], replace(plan, search=ko.SearchOptions("least_loss", cells=cells)))
        seconds = perf_counter() - started
        share = release.cost / mondrian.cost
        right = ko.verify(release.data, plan).satisfied and release.suppressed == 0 and share <= most
        note = f"loss {release.cost:.4f}, {share:.2f} of relaxed Mondrian (at most {most})"
        lines.append(
            Line(f"least_loss, {name.upper()}, k={k}, {cells}", right=right, seconds=seconds, target=10.0, note=note)
        )
    return lines


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
