"""Everything that the pages show, computed."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.reproduction.cases import (
    LIMITS,
    NUE,
    NUE_SUPPRESSION,
    PRESENCE_OF_FIGURES,
    PRESENCE_OF_TABLE,
    SWEEP,
    k_case,
    model_case,
    references,
)
from benchmarks.reproduction.measure import compare_cost, measure
from benchmarks.reproduction.published import SHARES, TABLES
from benchmarks.reproduction.results import Entry, Results
from kohorte.kernels import KERNELS
from kohorte.search import SEARCHES

TIMED = 5
"""Runs of whose times the median is taken."""
TWO = ("optimal", "flash_two_phase")
BESIDE = ("best_first", "incognito_cube", "datafly", "mingen")
"""The source does not evaluate them; docs/benchmarks/algorithms.md does."""
ALL = tuple(search.name for search in SEARCHES if search.name not in BESIDE)
SLOW = ("samarati", "breadth_first", "exhaustive")
"""They count so many nodes that CUP takes minutes."""
MARKED = (5, 100)
"""The values of k with published numbers; the slowest searches run only for these."""

OTHER_SEEDS = (1, 2, 3)
PRESENCE_ROWS = ("d", "k,d", "l,d", "t,d")

VARIANTS = {
    "entropy": (NUE_SUPPRESSION, NUE, "entropy"),
    "precision": ("precision", "precision_monotone"),
    "discernibility": ("discernibility", "discernibility_monotone"),
    "aecs": ("aecs",),
}
"""Possible readings of the metrics of table 3.1; the one that reproduces the published numbers comes first."""

CASES: tuple[tuple[str, str, float, tuple[str, ...]], ...] = (
    ("case 1", NUE, 0.0, ("k", "l", "t", "d", "k,d", "k,t", "k,l", "l,d", "t,d", "k,t,d", "k,l,d")),
    ("case 2", "precision", 0.05, ("k",)),
    ("case 3", NUE, 0.05, ("l", "k,d", "k,t", "l,d", "k,t,d", "k,l,d")),
    ("case 4", "precision", 0.05, ("l", "k,d", "k,t", "l,d", "k,t,d", "k,l,d")),
    ("case 5", NUE, 0.05, ("t", "d", "t,d")),
    ("case 6", "precision", 0.05, ("t", "d", "t,d")),
)
"""Figures 3.17 to 3.27: the case, its metric, its suppression limit and its models."""


def compute(*, full: bool) -> Results:
    """Run everything; every part is a generator, so that the command can tell how far it is."""
    entries: list[Entry] = []
    parts = (table_3_1(), subsets(), sweep(full=full), loss(), reference_cases(), six_cases(full=full))
    for part in parts:
        for entry in part:
            entries.append(entry)
            print(f"\r{len(entries):4d} cases  {entry.title:<90.90}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return Results(machine=machine(), full=full, entries=tuple(entries))


def machine() -> str:
    """The machine in one line."""
    kernels = "compiled" if KERNELS == "native" else "NumPy"
    return f"{os.cpu_count()} CPUs, Python {platform.python_version()}, {kernels} kernels"


def table_3_1() -> Iterator[Entry]:
    """Table 3.1, and its variants: other metrics, other quasi-identifiers, another distance."""
    for table in TABLES:
        for metric, variants in VARIANTS.items():
            for models in SHARES[metric]:
                tried = variants[:1] if "d" in models else variants
                for variant in tried:
                    for limit in LIMITS:
                        case = model_case(models, table, limit, variant, presence=PRESENCE_OF_TABLE)
                        yield measure("table 3.1", case, ("optimal",))
            for variant in variants:
                for limit in LIMITS:
                    all_columns = replace(k_case(table, 5, limit, variant), name="k")
                    yield measure("table 3.1, all columns", all_columns, ("optimal",))
            for limit in LIMITS:
                equal = replace(model_case("t equal", table, limit, variants[0]), name="t")
                yield measure("table 3.1, equal distance", equal, ("optimal",))


def subsets() -> Iterator[Entry]:
    """Rows of table 3.1 with delta-presence for other subsets, and for the bounds that section 3.9.4 names."""
    for presence in (PRESENCE_OF_TABLE, PRESENCE_OF_FIGURES):
        for seed in OTHER_SEEDS:
            for table in TABLES:
                for metric in ("entropy", "precision"):
                    for models in PRESENCE_ROWS:
                        for limit in LIMITS:
                            case = model_case(models, table, limit, VARIANTS[metric][0], presence=presence)
                            yield measure(subset_part(presence, seed), replace(case, seed=seed), ("optimal",))


def subset_part(presence: tuple[float, float], seed: int) -> str:
    """The name of a part of `subsets`."""
    return f"table 3.1, {presence}-presence, seed {seed}"


def sweep(*, full: bool) -> Iterator[Entry]:
    """Case 1 with k-anonymity over all quasi-identifiers: figures 3.12 to 3.16."""
    for table in TABLES:
        for limit in LIMITS:
            for k in SWEEP:
                marked = k in MARKED
                left_out = {"samarati"} | (set() if marked else {"exhaustive"})
                if table == "cup":
                    left_out |= set() if full and marked else set(SLOW)
                case = k_case(table, k, limit, NUE)
                yield measure("sweep", case, [name for name in ALL if name not in left_out], repetitions=TIMED)
                if table == "adult" or (full and marked):
                    yield measure("height", k_case(table, k, limit, "height"), ("optimal", "samarati"))


def loss() -> Iterator[Entry]:
    """`optimal` and two-phase Flash with the default metric."""
    for table in TABLES:
        for limit in LIMITS:
            for k in SWEEP:
                yield measure("loss", k_case(table, k, limit, "loss"), TWO)


def reference_cases() -> Iterator[Entry]:
    """The cases that ARX solved, with the same answer."""
    for reference in references():
        entry = measure("reference", reference.case, TWO, repetitions=TIMED)
        compare_cost(entry, reference.cost)
        yield replace(entry, arx_ms=reference.arx_ms, arx_checks=reference.arx_checks)


def six_cases(*, full: bool) -> Iterator[Entry]:
    """The other models, monotone, in part or not, with a metric that is or is not: figures 3.17 to 3.27."""
    for part, metric, limit, combinations in CASES:
        for table in TABLES:
            left_out = {"samarati", "exhaustive"} | (set() if full or table == "adult" else {"breadth_first"})
            algorithms = [name for name in ALL if name not in left_out]
            for models in combinations:
                yield measure(part, model_case(models, table, limit, metric), algorithms, repetitions=TIMED)
