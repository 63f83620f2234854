"""The pages of the reproduction say what results.json holds, and results.json holds what is claimed of the searches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from kohorte.recoding import RECODERS
from kohorte.search import SEARCHES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "benchmarks"

PAGES = ("table-3-1.md", "checks.md", "run-times.md")
ALGORITHMS = "algorithms.md"
SERVICE = "service.md"
SURVEY = "survey.md"
LINKAGE = "linkage.md"
PARTIES = "parties.md"
OTHERS = (ALGORITHMS, SERVICE, SURVEY, LINKAGE, PARTIES)


CLAIMS = {
    "pages_are_rendered",
    "all_cases_were_measured",
    "table_3_1_is_reproduced",
    "optimal_halves_the_checks",
    "optimal_never_checks_more",
}


def test_every_page_is_linked_from_the_map() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [name for name in (*PAGES, *OTHERS) if f"(benchmarks/{name})" not in text] == []


def test_the_pages_and_the_results_hold_what_is_claimed_of_them() -> None:
    """On a wrong page: `make reproduce ARGS=--render-only`."""
    command = [sys.executable, "-m", "benchmarks", "reproduce", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert {tuple(line.split()) for line in done.stdout.splitlines()} == {("ok", claim) for claim in CLAIMS}
    assert done.returncode == 0, done.stderr


def test_the_page_about_surveys_and_its_plots_are_rendered_from_their_results() -> None:
    """On a wrong page: `python -m benchmarks survey --render-only`."""
    command = [sys.executable, "-m", "benchmarks", "survey", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout.split()[0]) == (0, "ok"), done.stdout + done.stderr


def test_the_page_about_linkage_says_what_was_measured_and_that_meets_the_requirement() -> None:
    """On a wrong page: `python -m benchmarks linkage --render-only`."""
    command = [sys.executable, "-m", "benchmarks", "linkage", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout.split()) == (0, ["ok"]), done.stdout + done.stderr


def test_the_page_about_parties_is_rendered_from_its_results() -> None:
    """On a wrong page: `python -m benchmarks parties --render-only`."""
    command = [sys.executable, "-m", "benchmarks", "parties", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout.split()[0]) == (0, "ok"), done.stdout + done.stderr


def test_every_plot_of_a_page_is_there_and_no_other() -> None:
    texts = [(FOLDER / name).read_text("utf-8") for name in (*PAGES, ALGORITHMS, SERVICE, SURVEY)]
    shown = {part.split(")")[0] for text in texts for part in text.split("](")[1:]}
    assert {name for name in shown if name.endswith(".svg")} == {path.name for path in FOLDER.glob("*.svg")}


def test_every_algorithm_is_on_the_page_that_compares_them() -> None:
    text = (FOLDER / ALGORITHMS).read_text(encoding="utf-8")
    missing = [member.name for member in (*SEARCHES, *RECODERS) if f"| {member.name} |" not in text]
    missing = [name for name in missing if f"- `{name}` " not in text]
    assert missing == [], "run python -m benchmarks compare"
