"""What the documentation claims of the reproduction, checked against results.json: `reproduce --check`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.reproduction import page_checks, page_run_times, page_table_3_1
from benchmarks.reproduction.cases import LIMITS, NUE, SWEEP
from benchmarks.reproduction.compute import ALL
from benchmarks.reproduction.published import TABLES
from benchmarks.reproduction.results import Results, pairs

RESULTS = "results.json"


def pages(results: Results) -> dict[str, str]:
    """The pages by their file names."""
    return {
        "table-3-1.md": page_table_3_1.render(results),
        "checks.md": page_checks.render(results),
        "run-times.md": page_run_times.render(results),
    }


def pages_are_rendered(results: Results, folder: Path) -> bool:
    """Every page and results.json are what these results give."""
    texts = {RESULTS: results.to_json(), **pages(results)}
    return all((folder / name).read_text(encoding="utf-8") == text for name, text in texts.items())


def all_cases_were_measured(results: Results, _: Path) -> bool:
    """No case was left out, and every search was measured."""
    swept = all(
        [entry.models for entry in results.of(part, table=table, limit=limit)] == [f"k={k}" for k in SWEEP]
        for table in TABLES
        for limit in LIMITS
        for part in ("sweep", "loss")
    )
    measured = {run.algorithm for entry in results.entries for run in entry.runs}
    return swept and len(results.of("reference")) == 64 and measured == set(ALL)


def table_3_1_is_reproduced(results: Results, _: Path) -> bool:
    """Table 3.1 is reproduced except for the numbers that its page explains."""
    differing = {
        (cell.metric, cell.models, cell.table)
        for cell in page_table_3_1.main_cells(results)
        if not cell.random and not cell.agrees
    }
    return differing == set(page_table_3_1.NOTES)


def optimal_halves_the_checks(results: Results, _: Path) -> bool:
    """With a suppression limit of 5 %, `optimal` needs at most half of the checks of `flash_two_phase`."""
    return all(
        {entry.metric for entry in results.of(part)} == {metric}
        and all(page_checks.mean_ratio(results, part, table, 0.05) <= 0.5 for table in TABLES)
        for part, metric in (("sweep", NUE), ("loss", "loss"))
    )


def optimal_never_checks_more(results: Results, _: Path) -> bool:
    """On no case does `optimal` need more checks than `flash_two_phase`."""
    return len(list(pairs(results.entries))) >= 200 and not list(page_checks.more_checks(results))


CLAIMS: Mapping[str, Callable[[Results, Path], bool]] = {
    claim.__name__: claim
    for claim in (
        pages_are_rendered,
        all_cases_were_measured,
        table_3_1_is_reproduced,
        optimal_halves_the_checks,
        optimal_never_checks_more,
    )
}


def check(results: Results, folder: Path) -> int:
    """Print a line for each claim; 1 when one does not hold, 0 otherwise."""
    holds = {name: claim(results, folder) for name, claim in CLAIMS.items()}
    for name, right in holds.items():
        print(f"{'ok' if right else 'WRONG':<6} {name}")
    return 0 if all(holds.values()) else 1
