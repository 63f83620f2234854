"""The pages of the reproduction say what results.json holds, and results.json holds what is claimed of the searches."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kohorte.recoding import RECODERS
from kohorte.search import SEARCHES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "benchmarks"

sys.path.insert(0, str(ROOT))  # benchmarks are no part of the package
from benchmarks.reproduction import command, page_checks, page_table_3_1  # noqa: E402
from benchmarks.reproduction.cases import LIMITS, NUE, SWEEP  # noqa: E402
from benchmarks.reproduction.compute import ALL as EVALUATED  # noqa: E402
from benchmarks.reproduction.published import TABLES  # noqa: E402
from benchmarks.reproduction.results import Results, pairs, read_results  # noqa: E402

PAGES = ("table-3-1.md", "checks.md", "run-times.md")
ALGORITHMS = "algorithms.md"
SERVICE = "service.md"


@pytest.fixture(scope="module")
def results() -> Results:
    return read_results(FOLDER / "results.json")


def test_every_page_is_linked_from_the_map() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [name for name in (*PAGES, ALGORITHMS, SERVICE) if f"(benchmarks/{name})" not in text] == []


def test_the_pages_are_what_the_results_say(results: Results) -> None:
    rendered = command.pages(results)
    assert tuple(rendered) == PAGES
    for name, text in rendered.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, f"{name}: run make reproduce ARGS=--render-only"
    assert (FOLDER / "results.json").read_text(encoding="utf-8") == results.to_json()


def test_every_plot_of_a_page_is_there_and_no_other() -> None:
    texts = [(FOLDER / name).read_text("utf-8") for name in (*PAGES, ALGORITHMS, SERVICE)]
    shown = {part.split(")")[0] for text in texts for part in text.split("](")[1:]}
    assert {name for name in shown if name.endswith(".svg")} == {path.name for path in FOLDER.glob("*.svg")}


def test_every_algorithm_is_on_the_page_that_compares_them() -> None:
    text = (FOLDER / ALGORITHMS).read_text(encoding="utf-8")
    missing = [member.name for member in (*SEARCHES, *RECODERS) if f"| {member.name} |" not in text]
    missing = [name for name in missing if f"- `{name}` " not in text]
    assert missing == [], "run python -m benchmarks compare"


def test_no_case_was_left_out_and_every_search_was_measured(results: Results) -> None:
    for table in TABLES:
        for limit in LIMITS:
            for part in ("sweep", "loss"):
                found = results.of(part, table=table, limit=limit)
                assert [entry.models for entry in found] == [f"k={k}" for k in SWEEP]
    assert len(results.of("reference")) == 64
    measured = {run.algorithm for entry in results.entries for run in entry.runs}
    assert measured == set(EVALUATED)


def test_table_3_1_is_reproduced_but_for_three_explained_numbers(results: Results) -> None:
    differing = {
        (cell.metric, cell.models, cell.table)
        for cell in page_table_3_1.main_cells(results)
        if not cell.random and not cell.agrees
    }
    assert differing == set(page_table_3_1.NOTES)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("part", "metric"), [("sweep", NUE), ("loss", "loss")])
def test_optimal_needs_at_most_half_of_the_checks_of_two_phase_flash(
    results: Results, table: str, part: str, metric: str
) -> None:
    assert {entry.metric for entry in results.of(part)} == {metric}
    assert page_checks.mean_ratio(results, part, table, 0.05) <= 0.5


def test_optimal_never_needs_more_checks_than_two_phase_flash(results: Results) -> None:
    assert len(list(pairs(results.entries))) >= 200
    more = {pair.entry.title: (pair.optimal.checks, pair.two_phase.checks) for pair in page_checks.more_checks(results)}
    assert more == {}
