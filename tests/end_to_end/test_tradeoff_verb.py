"""`kohorte tradeoff`: what other settings cost, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kohorte as ko
from kohorte.cohorts import hierarchy_files, plan_text

Run = Callable[..., Any]
BASE = ("tradeoff", "patients.csv", "--plan", "plan.yaml", "--k", "2,5", "--limits", "0,5", "--epsilons", "1")


@pytest.fixture
def cohort(folder: Path) -> Path:
    """A folder with a few made-up patients and their plan."""
    ko.write_table(ko.cohort(300), folder / "patients.csv", like=None, force=False)
    for name, text in {"plan.yaml": plan_text(), **hierarchy_files()}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_tradeoff_lists_every_value_and_writes_a_page(cohort: Path, run: Run) -> None:
    result = run(*BASE, "--picture", "curves.html")
    assert result.code == 0, result.err
    assert "Every row looks like at least 1 other row." in result.out
    assert "At most 15 of 300 rows may be suppressed. This is the setting of the plan." in result.out
    page = (cohort / "curves.html").read_text(encoding="utf-8")
    assert "What k costs" in page
    assert page.count("<svg") == 5


def test_tradeoff_with_json_agrees_with_a_dry_run(cohort: Path, run: Run) -> None:
    told = json.loads(run(*BASE, "--json").out)
    dry = json.loads(run("anonymize", "patients.csv", "--plan", "plan.yaml", "--dry-run", "--json").out)
    own = [one for curve in told["curves"] for one in curve["settings"] if one["own"]]
    assert [one["value"] for one in own] == [5, 0.05]
    assert all((one["cost"], one["suppressed"]) == (dry["cost"], dry["suppressed"]) for one in own)


@pytest.mark.parametrize("wrong", [("--k", "2,x"), ("--limits", "150"), ("--epsilons", "-1")])
def test_a_wrong_list_of_values_is_refused_before_the_search(cohort: Path, run: Run, wrong: tuple[str, str]) -> None:
    result = run(*BASE[:4], *wrong)
    assert result.code == 2
    assert "[tradeoff-setting]" in result.err


def test_a_page_is_not_replaced_without_force(cohort: Path, run: Run) -> None:
    (cohort / "curves.html").write_text("mine")
    assert run(*BASE, "--picture", "curves.html").code == 2
    assert (cohort / "curves.html").read_text() == "mine"
