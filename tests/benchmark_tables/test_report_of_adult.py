"""The report of ADULT is small (how quick it is, `make bench` says), and names nobody's rare value."""

from __future__ import annotations

from pathlib import Path

import pytest

import kohorte as ko
from kohorte.models import KAnonymity


@pytest.mark.parametrize("view", ["public", "internal"])
def test_the_report_of_adult_is_small_and_names_nobody(benchmark_folder: Path, tmp_path: Path, view: str) -> None:
    frame = ko.read_table(benchmark_folder / "adult.csv").frame
    attributes = {name: {"role": "quasi-identifying"} for name in frame.columns}
    plan = ko.Plan(attributes=attributes, models=[KAnonymity(5)])
    ko.write_report(tmp_path / "report.html", frame, plan, view=view, population_size=300_000_000)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 2_000_000
    assert "Holand-Netherlands" not in page  # one person of the table
