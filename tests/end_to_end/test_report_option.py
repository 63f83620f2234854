"""`--report` of `kohorte risk` and `kohorte anonymize`, as a user gives it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
RISK = ("risk", "patients.csv", "--plan", "plan.yaml")
ANONYMIZE = ("anonymize", "patients.csv", "--plan", "plan.yaml")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_risk_writes_a_report_and_says_where(hospital: Path, run: Run) -> None:
    ran = run(*RISK, "--report", "report.html")
    assert ran.code == 0
    assert ran.out.endswith("report: report.html\n")
    page = (hospital / "report.html").read_text(encoding="utf-8")
    assert "Does not meet the plan" in page
    assert "INTERNAL" not in page


def test_with_json_nothing_else_is_printed(hospital: Path, run: Run) -> None:
    assert run(*RISK, "--report", "report.html", "--json").json == run(*RISK, "--json").json
    assert (hospital / "report.html").exists()


def test_the_internal_view_lists_as_many_rows_as_are_asked_for(hospital: Path, run: Run) -> None:
    run(*RISK, "--report", "report.html", "--report-view", "internal", "--rows", "2")
    page = (hospital / "report.html").read_text(encoding="utf-8")
    rows = page.split(">Rows at the highest risk</h2>")[1].split("</table>")[0]
    assert rows.count('<th scope="row">') == 2


def test_before_and_after_are_in_one_report(hospital: Path, run: Run) -> None:
    assert run(*ANONYMIZE, "--output", "release.csv").code == 0
    run(*RISK, "--compare", "release.csv", "--report", "report.html")
    page = (hospital / "report.html").read_text(encoding="utf-8")
    assert "Risk of a table before and after anonymization" in page
    assert "The release satisfies" in page
    assert "release.csv" in page


def test_anonymize_writes_release_certificate_and_report(hospital: Path, run: Run) -> None:
    before = names(hospital)
    ran = run(*ANONYMIZE, "--output", "release.csv", "--report", "report.html")
    assert ran.code == 0
    assert ran.out.endswith("report: report.html\n")
    written = {"release.csv", "release.certificate.json", "release.certificate.txt", "report.html"}
    assert names(hospital) - before == written


def test_a_dry_run_writes_the_report_alone(hospital: Path, run: Run) -> None:
    before = names(hospital)
    ran = run(*ANONYMIZE, "--dry-run", "--report", "report.html", "--report-view", "internal")
    assert ran.code == 0
    assert "dry run: no release was written\nreport: report.html\n" in ran.out
    assert names(hospital) - before == {"report.html"}


@pytest.mark.parametrize("verb", [RISK, (*ANONYMIZE, "--output", "release.csv")])
@pytest.mark.parametrize(
    ("report", "code"),
    [
        ("report.txt", "page-format"),
        ("plan.yaml", "page-format"),
        ("there.html", "output-exists"),
        ("no/report.html", "output-folder-missing"),
        ("linked.html", "output-is-input"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_the_work(
    hospital: Path, run: Run, verb: tuple[str, ...], report: str, code: str
) -> None:
    (hospital / "there.html").write_text("there")
    (hospital / "linked.html").symlink_to("patients.csv")
    before = names(hospital)
    ran = run(*verb, "--report", report)
    assert ran.code == 2
    assert f"[{code}]" in ran.err
    assert names(hospital) == before
    assert (hospital / "there.html").read_text() == "there"


def test_force_replaces_a_report(hospital: Path, run: Run) -> None:
    (hospital / "there.html").write_text("there")
    assert run(*RISK, "--report", "there.html", "--force").code == 0
    assert "Risk of a table" in (hospital / "there.html").read_text(encoding="utf-8")


def test_a_report_that_fails_in_the_end_does_not_hide_that_the_release_is_there(
    hospital: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kohorte.errors import EngineError

    def full(path: Path, text: str, *, force: bool) -> None:
        raise EngineError(f"{path}: no space left to write the file; nothing was written", code="disk-full")

    monkeypatch.setattr("kohorte.pages.write_text", full)
    ran = run(*ANONYMIZE, "--output", "release.csv", "--report", "report.html", "--json")
    assert (ran.code, ran.json["error"]) == (3, "report-not-written")
    assert "nothing was written" not in ran.err
    assert "disk-full" in ran.err
    assert "release.csv and its certificate were written" in ran.err
    assert {"release.csv", "release.certificate.json"} <= names(hospital)
    ran = run(*ANONYMIZE, "--dry-run", "--report", "report.html", "--json")
    assert ran.json["error"] == "disk-full"


@pytest.mark.parametrize("verb", [RISK, (*ANONYMIZE, "--output", "release.csv")])
def test_a_view_without_a_report_is_refused(hospital: Path, run: Run, verb: tuple[str, ...]) -> None:
    before = names(hospital)
    ran = run(*verb, "--report-view", "internal")
    assert (ran.code, "[report-view]" in ran.err) == (2, True)
    assert names(hospital) == before


def test_views_are_listed_in_plain_words(hospital: Path, run: Run) -> None:
    assert "View." not in run(*RISK, "--report", "report.html", "--report-view", "secret").err
    assert "{public,internal}" in run("risk", "--help").out


def test_an_unknown_view_is_refused(hospital: Path, run: Run) -> None:
    ran = run(*RISK, "--report", "report.html", "--report-view", "secret")
    assert ran.code == 2
    assert not (hospital / "report.html").exists()


def test_no_release_and_no_report_where_the_plan_cannot_be_satisfied(hospital: Path, run: Run) -> None:
    plan = hospital / "plan.yaml"
    plan.write_text(plan.read_text().replace("k: 2", "k: 99"))
    assert run(*ANONYMIZE, "--output", "release.csv", "--report", "report.html").code == 2
    assert not {"release.csv", "report.html"} & names(hospital)


def test_report_and_certificate_are_written_in_the_language_of_the_reader(hospital: Path, run: Run) -> None:
    assert run(*ANONYMIZE, "--output", "release.csv", "--report", "report.html", "--language", "de").code == 0
    assert "Erfüllt den Plan" in (hospital / "report.html").read_text(encoding="utf-8")
    assert (hospital / "release.certificate.txt").read_text(encoding="utf-8").startswith("ZERTIFIKAT")
    assert '"warnings"' in (hospital / "release.certificate.json").read_text(encoding="utf-8")
    run(*RISK, "--report", "risk.html", "--language", "de")
    assert "Erfüllt den Plan nicht" in (hospital / "risk.html").read_text(encoding="utf-8")


def test_a_language_without_a_report_or_certificate_is_refused(hospital: Path, run: Run) -> None:
    assert "report-language" in run(*RISK, "--language", "de").err
    assert "report-language" in run(*ANONYMIZE, "--dry-run", "--language", "de").err
