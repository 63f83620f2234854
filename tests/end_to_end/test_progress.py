"""What a terminal shows while a command runs: every long command names its stages, and nothing of it remains."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kohorte as ko
from kohorte.algorithm_names import ALGORITHM_NAMES
from kohorte.cohorts import hierarchy_files, plan_text
from support.growing import SETTINGS, patients, plan

Run = Callable[..., Any]
TABLE = ("patients.csv", "--plan", "plan.yaml")
RELEASE = ("reading patients.csv", "checking", "encoding 300 rows", "searching", "writing out.csv", "verifying out.csv")
SURVEY = """\
people: 60
questions:
  sex: {categories: {female: 0.5, male: 0.5}}
  school: {categories: [primary, secondary, tertiary]}
  age: {categories: {young: 0.4, middle: 0.3, older: 0.2, old: 0.1}}
"""
COMMANDS = {
    "anonymize": (("anonymize", *TABLE, "--output", "out.csv"), RELEASE),
    "a report": (
        ("anonymize", *TABLE, "--output", "out.csv", "--report", "report.html"),
        (*RELEASE[:4], "estimating the risk", "writing out.csv", "writing the report"),
    ),
    "lattice": (("lattice", *TABLE), ("reading", "encoding", "searching")),
    "algorithms": (("algorithms", *TABLE, "--only", "optimal,mondrian"), ("reading", "comparing optimal, algorithm 1")),
    "risk": (("risk", *TABLE), ("reading", "counting classes", "counting attribute sets: ", "estimating")),
    "attack": (("attack", *TABLE), ("reading", "attacking by homogeneity, attack 1 of ")),
    "verify": (("verify", *TABLE), ("reading", "verifying 300 rows")),
    "profile": (("profile", "patients.csv"), ("reading", "counting the values")),
    "survey estimate": (("survey", "estimate", "survey.yaml"), ("estimating for 60 people", "searching for the worst")),
    "survey plan": (
        ("survey", "plan", "survey.yaml", "--percent", "1"),
        ("searching a number of people", "searching merges of categories"),
    ),
    "series release": (
        ("series", "release", "s", "table.csv", "--output", "released.csv"),
        ("reading", "encoding 150 rows", "searching for regions", "writing released.csv", "verifying released.csv"),
    ),
    "series verify": (("series", "verify", "s", "table.csv"), ("reading", "verifying 0 releases")),
}


@pytest.fixture
def work(folder: Path, run: Run) -> Path:
    """A folder with a table, a plan, a survey and a series."""
    for name, text in {"plan.yaml": plan_text(), **hierarchy_files()}.items():
        (folder / name).write_text(text, encoding="utf-8")
    ko.write_table(ko.cohort(300, seed=3), folder / "patients.csv", like=None, force=False)
    (folder / "survey.yaml").write_text(SURVEY)
    (folder / "series-plan.yaml").write_text(plan().to_yaml())
    (folder / "series.yaml").write_text(ko.SeriesSettings.from_dict({"kohorte": 1, **SETTINGS}).to_yaml())
    ko.write_table(patients(150), folder / "table.csv", like=None, force=False)
    assert run("series", "start", "s", "--plan", "series-plan.yaml", "--settings", "series.yaml").code == 0
    return folder


def shown(text: str) -> list[str]:
    """The lines that a terminal showed one after another, without those that only remove another."""
    return [line.rstrip() for line in text.split("\r") if line.strip()]


def in_order(lines: list[str], wanted: tuple[str, ...]) -> bool:
    left = iter(lines)
    return all(any(line.startswith(stage) for line in left) for stage in wanted)


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_long_command_names_its_stages_on_a_terminal(
    name: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, stages = COMMANDS[name]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    ran = run(*command)
    lines = shown(ran.err)
    assert ran.code in (0, 1)
    assert in_order(lines, stages), lines
    assert ran.err.endswith("\r")
    assert not any(re.search(r"\binf|\bnan\b|no bound|-\d", line) for line in lines if "csv" not in line), lines


FIRST_LINE = """\
import os, sys
from kohorte.cli.progress import TerminalProgress
from kohorte.cli.main import main

def shown(*_):
    print(sorted({"numpy", "polars", "yaml", "pandas", "sqlalchemy"} & set(sys.modules)), flush=True)
    os._exit(0)

TerminalProgress._show = shown
sys.stderr.isatty = lambda: True
main(sys.argv[1:])
"""


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_line_is_shown_before_any_heavy_library_is_loaded(name: str) -> None:
    """So it is there within half a second of the start, however long the libraries take."""
    command = [sys.executable, "-c", FIRST_LINE, *COMMANDS[name][0]]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_a_quiet_command_shows_nothing_but_its_result(
    name: str, option: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    ran = run(*COMMANDS[name][0], option)
    assert ran.code in (0, 1)
    assert (ran.err, bool(ran.out)) == ("", True)


def test_without_a_terminal_nothing_is_shown(work: Path, run: Run) -> None:
    assert run(*COMMANDS["anonymize"][0]).err == ""
    assert (work / "out.csv").exists()


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("algorithm", ALGORITHM_NAMES)
def test_every_algorithm_says_that_it_searches(algorithm: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    ran = run(*COMMANDS["anonymize"][0], "--algorithm", algorithm, "--time-limit", "0.2")
    lines = shown(ran.err)
    assert in_order(lines, ("reading", "checking", "encoding", f"searching with {algorithm}")), lines
    if ran.code == 0:
        assert in_order(lines, ("searching", "generalizing 300 rows", "writing", "verifying")), lines


def test_an_error_stands_alone_in_its_line(work: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    (work / "patients.csv").write_text("zip;zip\n1;2\n")
    ran = run(*COMMANDS["anonymize"][0])
    assert ran.code == 2
    assert ran.err.split("\r")[-1].startswith("kohorte: ")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals here")
def test_a_real_terminal_shows_the_stages_and_standard_output_has_only_the_result(work: Path) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "kohorte.cli.main", *COMMANDS["anonymize"][0], "--json"]
    for arguments, seen in ((command, False), ([*command[:-1], "--force"], True)):
        done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=theirs, cwd=work, check=True)
        os.set_blocking(ours, False)
        try:
            text = os.read(ours, 100_000).decode()
        except BlockingIOError:
            text = ""
        assert in_order(shown(text), RELEASE) == seen
        assert b"reading" not in done.stdout
    os.close(ours)
    os.close(theirs)
