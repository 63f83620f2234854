"""The command, run within the test's own process, in a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kohorte.cli.main import main
from support.browser import chromium

__all__ = ["chromium"]


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        assert self.out.count("\n") == 1, "more than one line"
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command with these arguments."""

    def run_it(*arguments: object) -> Ran:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:  # argparse ends like this
            code = int(str(ended.code))
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run_it


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


PLAN = """\
kohorte: 1
attributes:
  name: {role: identifying}
  zip: {role: quasi-identifying, hierarchy: {redaction: {}}}
  sex: {role: quasi-identifying}
  diagnosis: {role: sensitive}
models:
  - {model: k-anonymity, k: 2}
suppression_limit: 0.2
output: {order: input}
"""

ROWS = [
    ("Jörg", "81667", "m", "flu"),
    ("Zoë", "81667", "m", "Schnupfen, schwer"),
    ("Änne", "81671", "f", 'said "no"'),
    ("Uta", "81672", "f", "line 1\nline 2"),
    ("Ria", "10115", "d", "flu; cough"),
]
NAMES = ("name", "zip", "sex", "diagnosis")
RELEASED = [
    ("8166*", "m", "flu"),
    ("8166*", "m", "Schnupfen, schwer"),
    ("8167*", "f", 'said "no"'),
    ("8167*", "f", "line 1\nline 2"),
    ("*", "*", "flu; cough"),
]


@pytest.fixture
def hospital(folder: Path) -> Path:
    """A folder with a table of five patients and its plan."""
    import csv

    with (folder / "patients.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([NAMES, *ROWS])
    (folder / "plan.yaml").write_text(PLAN)
    return folder


@pytest.fixture
def released() -> list[tuple[str, ...]]:
    """The rows of the release of the five patients."""
    return RELEASED


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def snapshot() -> Callable[[Path], dict[str, bytes]]:
    """Take down all files of a folder."""
    return contents
