"""`kohorte algorithms`: all algorithms on one table, as a user runs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.cohorts import hierarchy_files, plan_text

Run = Callable[..., Any]
Snapshot = Callable[..., Any]
BASE = ("algorithms", "patients.csv", "--plan", "plan.yaml")
FEW = ("--only", "optimal, mondrian,flash", "--queries", "50")


@pytest.fixture
def cohort(folder: Path) -> Path:
    """A folder with six hundred made-up patients and their plan."""
    ko.write_table(ko.cohort(600), folder / "patients.csv", like=None, force=False)
    for name, text in {"plan.yaml": plan_text(), **hierarchy_files()}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_the_table_names_releases_and_refusals_and_writes_nothing(cohort: Path, run: Run, snapshot: Snapshot) -> None:
    before = snapshot(cohort)
    ran = run(*BASE, *FEW, "--task", "blood_group")
    assert (ran.code, ran.err) == (0, "")
    head, names, first, second, refused, *findings = ran.out.splitlines()
    assert head == "600 rows, 3 algorithms, at most 1 min each; 50 count queries"
    figures = ["seconds", "loss", "classes", "smallest (rows)", "suppressed", "query error %", "accuracy %"]
    assert re.split("  +", names) == ["algorithm", *figures, "verdict"]
    assert first.startswith("mondrian ")
    assert first.endswith(" heuristic")
    assert second.startswith("optimal ")
    assert refused == "flash cannot solve this plan: it needs a metric that is monotone under this suppression limit"
    assert findings[0].startswith("mondrian keeps most: loss 0.")
    assert snapshot(cohort) == before


def test_another_metric_stands_beside_loss(cohort: Path, run: Run) -> None:
    text = (cohort / "plan.yaml").read_text(encoding="utf-8").replace("{metric: loss}", "{metric: discernibility}")
    (cohort / "plan.yaml").write_text(text, encoding="utf-8")
    ran = run(*BASE, "--only", "optimal", "--queries", "0")
    assert ran.out.splitlines()[1].split() == (
        ["algorithm", "seconds", "loss", "discernibility", "classes", "smallest", "(rows)", "suppressed", "verdict"]
    )


def test_the_json_answer_has_the_figures(cohort: Path, run: Run) -> None:
    answer = run(*BASE, *FEW, "--task", "diagnosis", "--seed", "3", "--time-limit", "5", "--json").json
    assert (answer["rows"], answer["metric"], answer["best"], answer["seed"]) == (600, "loss", "mondrian", 3)
    assert (answer["time_limit"], answer["queries"]) == (5, 50)
    assert set(answer["task"]) == {"column", "classes", "training_rows", "test_rows", "majority", "original"}
    optimal, flash, mondrian = sorted(answer["algorithms"], key=lambda entry: "ofm".index(entry["algorithm"][0]))
    assert optimal["status"] == mondrian["status"] == "released"
    assert optimal["verified"]
    assert optimal["optimal"]
    assert optimal["cost"] == optimal["costs"]["loss"]
    assert not optimal["recodes"]
    assert mondrian["recodes"]
    assert set(optimal["query_error"]) == {"median", "ninetieth"}
    assert 0 <= optimal["accuracy"] <= 1
    assert (flash["status"], flash["cost"], flash["costs"]) == ("refused", None, {})
    assert "monotone" in flash["reason"]
    again = run(*BASE, *FEW, "--task", "diagnosis", "--seed", "3", "--time-limit", "5", "--json").json
    assert [entry["query_error"] for entry in again["algorithms"]] == [
        entry["query_error"] for entry in answer["algorithms"]
    ]
    assert [entry["accuracy"] for entry in again["algorithms"]] == [entry["accuracy"] for entry in answer["algorithms"]]


def test_the_page_is_one_file_without_values(cohort: Path, run: Run) -> None:
    ran = run(*BASE, *FEW, "--task", "blood_group", "--page", "comparison.html")
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "page: comparison.html"
    text = (cohort / "comparison.html").read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    assert not re.search(r"https?:|//\w|@import|url\(|<link|<img|src=", text)
    assert text.count("<svg") == 4
    assert "mondrian keeps most" in text
    assert "cannot solve this plan: it needs a metric" in text
    assert "Strict Mondrian: every region is cut in two" in text
    assert "prefers-color-scheme:dark" in text
    assert "@media print" in text
    patients = pl.read_csv(cohort / "patients.csv", infer_schema=False)
    words = set(re.findall(r"[\w.+-]+", re.sub(r"<style>.*?</style>|<script>.*?</script>", "", text, flags=re.DOTALL)))
    for name in ("ssn", "name", "birth_date", "admission_date", "diagnosis", "blood_group", "occupation"):
        assert not words & set(patients[name].drop_nulls().to_list()), name


def test_names_of_columns_are_escaped(folder: Path, run: Run) -> None:
    (folder / "t.csv").write_text("<i>&amp;,<b>\n1,2\n1,2\n2,3\n2,3\n")
    (folder / "plan.yaml").write_text(
        "kohorte: 1\nattributes:\n  '<i>&amp;': {role: quasi-identifying}\n  '<b>': {role: insensitive}\n"
        "models: [{model: k-anonymity, k: 2}]\n"
    )
    arguments = ("--plan", "plan.yaml", "--only", "optimal", "--task", "<b>", "--page", "out.html")
    assert run("algorithms", "t.csv", *arguments).code == 0
    text = (folder / "out.html").read_text(encoding="utf-8")
    assert "<i>" not in text
    assert "<b>" not in text
    assert "&lt;i&gt;&amp;amp;" in text


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (("--only", "optimum"), "algorithm-unknown", "'optimal'"),
        (("--only", ""), "algorithm-unknown", "known are"),
        (("--task", "zip"), "task-column", "'zip'"),
        (("--task", "name"), "task-column", "'name'"),
        (("--queries", "-1"), "comparison-number", "queries"),
        (("--time-limit", "0"), "plan-time-limit", "time_limit"),
        (("--page", "page.svg"), "page-format", "page.svg"),
        (("--page", "patients.csv"), "page-format", "patients.csv"),
        (("--page", "nowhere/page.html"), "output-folder-missing", "nowhere"),
    ],
)
def test_wrong_use_is_refused_and_nothing_is_written(
    cohort: Path, run: Run, snapshot: Snapshot, arguments: tuple[str, ...], code: str, named: str
) -> None:
    before = snapshot(cohort)
    ran = run(*BASE, *arguments)
    assert ran.code == 2
    assert f"[{code}]" in ran.err
    assert named in ran.err
    assert snapshot(cohort) == before


def test_an_existing_page_is_replaced_only_by_force(cohort: Path, run: Run) -> None:
    (cohort / "out.html").write_text("precious")
    ran = run("algorithms", "absent.csv", "--plan", "plan.yaml", "--page", "out.html")
    assert ran.code == 2
    assert "[output-exists]" in ran.err
    assert (cohort / "out.html").read_text() == "precious"
    assert run(*BASE, "--only", "optimal", "--page", "out.html", "--force").code == 0
    assert (cohort / "out.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_file_that_is_read_is_never_replaced(cohort: Path, run: Run, snapshot: Snapshot) -> None:
    (cohort / "data.html").symlink_to("patients.csv")
    before = snapshot(cohort)
    ran = run(*BASE, "--only", "optimal", "--page", "data.html", "--force")
    assert ran.code == 2
    assert "[output-is-input]" in ran.err
    assert snapshot(cohort) == before


def test_without_any_release_the_exit_code_is_1(folder: Path, run: Run) -> None:
    (folder / "t.csv").write_text("a,b\n,1\nx,2\ny,3\n")
    (folder / "plan.yaml").write_text(
        "kohorte: 1\nattributes: {a: {role: quasi-identifying}, b: {role: quasi-identifying}}\n"
        "models: [{model: k-anonymity, k: 3}]\nmissing: suppress\n"
    )
    ran = run("algorithms", "t.csv", "--plan", "plan.yaml", "--only", "optimal", "--page", "out.html")
    assert ran.code == 1
    assert "optimal found no release" in ran.out
    assert "No algorithm made a release" in (folder / "out.html").read_text(encoding="utf-8")


def test_an_interruption_leaves_no_page(
    cohort: Path, run: Run, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kohorte.comparison.run import Bench

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Bench, "run", interrupted)
    before = snapshot(cohort)
    ran = run(*BASE, "--page", "out.html")
    assert ran.code == 130
    assert "interrupted" in ran.err
    assert snapshot(cohort) == before


def test_a_terminal_sees_which_algorithm_is_running(cohort: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    ran = run(*BASE, *FEW)
    for number, name in enumerate(("optimal", "mondrian", "flash"), start=1):
        assert f"comparing {name}, algorithm {number} of 3" in ran.err
    assert ran.err.endswith("\r")
    assert "comparing" not in run(*BASE, *FEW, "--quiet").err
