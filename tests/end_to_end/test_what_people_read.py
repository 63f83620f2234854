"""Command, verification, certificate and report say the same about a release, and name a loss."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.minority import minority, plan_for

Run = Callable[..., Any]
BASE = ("anonymize", "in.csv", "--plan", "plan.yaml")
STATED = ("--title", "Registry of gout", "--purpose", "study 7", "--recipient", "University of Kiel")


@pytest.fixture
def registry(folder: Path) -> Path:
    minority().write_csv(folder / "in.csv")
    (folder / "plan.yaml").write_text(plan_for().to_yaml())
    return folder


def test_the_command_counts_lost_values_and_names_levels_and_the_verdict(registry: Path, run: Run) -> None:
    out = run(*BASE, "--output", "out.csv").out
    assert "lost: sex: 1 value no longer appears (9 rows)\n" in out
    assert "lost: diagnosis: 1 value appears in suppressed rows only (9 rows)\n" in out
    assert "diverse" not in out
    assert "porphyria" not in out
    assert "  sex                      as it is (0 of 1)\n" in out
    assert "note: only 9 suppressed rows" in out
    assert "verdict: amber; the release satisfies the plan, but 2 points are open\n" in out
    assert "diverse" not in (registry / "out.certificate.txt").read_text()
    assert "diverse" not in (registry / "out.certificate.json").read_text()


@pytest.mark.parametrize("terminal", [True, False])
def test_lost_values_are_named_on_a_terminal_if_asked_for(
    registry: Path, run: Run, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr("kohorte.cli.show_values.sys.stderr.isatty", lambda: terminal)
    ran = run(*BASE, "--dry-run", "--show-values")
    assert "diverse" not in ran.out
    assert ("lost: sex: 1 value no longer appears: diverse (9 rows)\n" in ran.err) is terminal
    assert ("shows values on a terminal only" in ran.err) is not terminal


def test_command_verify_certificate_and_report_have_the_same_verdict(registry: Path, run: Run) -> None:
    made = run(*BASE, "--output", "out.csv", "--report", "report.html", "--json").json
    verified = run("verify", "out.csv", "--plan", "plan.yaml", "--json").json
    certificate = json.loads((registry / "out.certificate.json").read_text())
    assert made["verdict"] == verified["verdict"] == certificate["verdict"]
    assert made["verdict"]["standing"] == "amber"
    assert '<div class="verdict fair">' in (registry / "report.html").read_text()
    tried = run(*BASE, "--dry-run", "--json").json
    assert tried["verdict"] == made["verdict"]


def test_verify_says_what_is_open(registry: Path, run: Run) -> None:
    assert run(*BASE, "--output", "out.csv").code == 0
    ran = run("verify", "out.csv", "--plan", "plan.yaml")
    assert ran.code == 0
    assert "note: 'diagnosis' is sensitive, but no model of the plan protects it" in ran.out
    assert ran.out.endswith("verdict: amber; the table satisfies the plan, but 2 points are open\n")


def test_a_certificate_is_recognised_whatever_its_file_is_called(registry: Path, run: Run) -> None:
    run(*BASE, "--output", "out.csv")
    (registry / "out.certificate.json").rename(registry / "project-1.json")
    verified = run("verify", "out.csv", "--plan", "project-1.json", "--json")
    assert verified.code == 0
    assert verified.json["satisfied"]


def test_purpose_and_recipient_stand_in_certificate_and_report_with_the_hash_of_the_certificate(
    registry: Path, run: Run
) -> None:
    assert run(*BASE, "--output", "out.csv", "--report", "report.html", *STATED).code == 0
    digest = hashlib.sha256((registry / "out.certificate.json").read_bytes()).hexdigest()
    for name in ("out.certificate.json", "out.certificate.txt", "report.html"):
        text = (registry / name).read_text()
        assert all(said in text for said in STATED[1::2])
    assert digest in (registry / "report.html").read_text()
    arguments = ("risk", "in.csv", "--plan", "plan.yaml", "--compare", "out.csv", "--report")
    assert run(*arguments, "later.html", *STATED).code == 0
    assert digest in (registry / "later.html").read_text()
    (registry / "out.csv").write_text((registry / "out.csv").read_text() + "30,f,flu,ward 1\n")
    assert run(*arguments, "changed.html").code == 0
    assert digest not in (registry / "changed.html").read_text()


def test_options_take_precedence_over_what_the_plan_states(registry: Path, run: Run) -> None:
    with (registry / "plan.yaml").open("a") as plan:
        plan.write("purpose: study 3\nrecipient: University of Jena\n")
    assert run(*BASE, "--output", "out.csv", "--report", "report.html", "--purpose", "study 7").code == 0
    assert run("risk", "in.csv", "--plan", "plan.yaml", "--report", "risk.html", "--purpose", "study 7").code == 0
    for name in ("out.certificate.txt", "report.html", "risk.html"):
        text = (registry / name).read_text()
        assert "study 7" in text
        assert "University of Jena" in text
        assert "study 3" not in text


@pytest.mark.parametrize("arguments", [("risk", "in.csv", "--plan", "plan.yaml"), (*BASE, "--dry-run")])
def test_a_purpose_that_nothing_would_state_is_refused(registry: Path, run: Run, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments, "--purpose", "study 7")
    assert ran.code == 2
    assert "[report-about]" in ran.err
    assert "[about-text]" in run(*BASE, "--output", "out.csv", "--purpose", "").err


def test_attackers_that_cannot_be_told_apart_are_one_line(registry: Path, run: Run) -> None:
    alone = run("risk", "in.csv", "--plan", "plan.yaml").out
    assert "prosecutor, journalist or marketer" in alone
    assert "the three cannot be told apart" in alone
    apart = run("risk", "in.csv", "--plan", "plan.yaml", "--population-size", "80000").out
    assert "\njournalist " in apart
