"""Whole commands, cold, with their memory: against a process that only reads and writes the same file with Polars."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Line
from kohorte.cohorts import hierarchy_files, plan_text
from testbed import tables

REPETITIONS = 5
KOHORTE = [sys.executable, "-m", "kohorte.cli.main"]


def measure(command: Sequence[str]) -> tuple[float, float, str]:
    """Run a command; return its seconds, its peak memory in MB and what it printed."""
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        output.seek(0)
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit code {child.returncode}")
        return seconds, usage.ru_maxrss / 1024, output.read()


def _adult_plan(folder: str, metric: str) -> Path:
    plan = Path(folder) / "plan.yaml"
    text = tables.plan("adult", k=5, limit=0.05, metric=metric).to_yaml()
    plan.write_text(text.replace("csv: hierarchies/", f"csv: {tables.DATA}/hierarchies/"), encoding="utf-8")
    return plan


def lattice() -> list[Line]:
    """All 12,960 nodes of ADULT, classified and drawn: under 2 s for the whole command."""
    lines = []
    for metric, best in (("non_uniform_entropy", [0, 0, 1, 1, 2, 2, 2, 1, 1]), ("loss", [0, 3, 0, 0, 2, 1, 1, 2, 0])):
        with tempfile.TemporaryDirectory() as folder:
            plan, picture = _adult_plan(folder, metric), Path(folder) / "lattice.html"
            command = [*KOHORTE, "lattice", str(tables.DATA / "adult.csv"), "--plan", str(plan), "--json"]
            facts = json.loads(measure(command)[2])
            command = [*command[:-1], "--picture", str(picture), "--force"]
            seconds = min(measure(command)[0] for _ in range(3))
            right = facts["best"] == best and len(facts["nodes"]) == 12_960 and picture.stat().st_size < 2e6
        lines.append(Line(f"kohorte lattice adult.csv, {metric}, with picture", right, seconds, target=2.0))
    return lines


def adult() -> list[Line]:
    """The whole command on ADULT: at most four times the time of Polars alone, at most 250 MB."""
    data = tables.DATA / "adult.csv"
    with tempfile.TemporaryDirectory() as folder:
        plan = _adult_plan(folder, "non_uniform_entropy")
        output = Path(folder) / "release.csv"
        copy = f"import polars; polars.read_csv({str(data)!r}, separator=';').write_csv({str(output)!r}, separator=';')"
        command = [*KOHORTE, "anonymize", str(data), "--plan", str(plan), "--output", str(output), "--force", "--json"]
        polars_seconds, runs = [], []
        for _ in range(REPETITIONS):
            polars_seconds.append(measure([sys.executable, "-c", copy])[0])
            runs.append(measure(command))
        facts = json.loads(runs[0][2])
        right = list(facts["levels"].values()) == [0, 0, 1, 1, 2, 2, 2, 1, 1] and facts["suppressed"] == 1285
    return [
        Line(
            "kohorte anonymize adult.csv, whole command, cold",
            right=right,
            seconds=min(run[0] for run in runs),
            target=4 * min(polars_seconds),
            megabytes=max(run[1] for run in runs),
            megabytes_target=250,
            note=f"Polars alone {min(polars_seconds) * 1e3:.0f} ms",
        )
    ]


def million() -> list[Line]:
    """One million generated rows, nine quasi-identifiers, k=5, 5 %: under 10 s and 1.5 GB."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        for name, text in {"plan.yaml": plan_text(wide=True), **hierarchy_files(wide=True)}.items():
            (base / name).write_text(text, encoding="utf-8")
        make = "import kohorte as ko; ko.write_table(ko.cohort(1_000_000, wide=True), {!r}, like=None, force=False)"
        measure([sys.executable, "-c", make.format(str(base / "cohort.csv"))])
        release = base / "release.csv"
        command = [*KOHORTE, "anonymize", str(base / "cohort.csv"), "--plan", str(base / "plan.yaml"), "--json"]
        seconds, megabytes, output = measure([*command, "--output", str(release)])
        facts = json.loads(output)
        verdict = json.loads(
            measure([*KOHORTE, "verify", str(release), "--plan", str(base / "plan.yaml"), "--json"])[2]
        )
        right = (
            facts["optimal"] and facts["rows"] == 1_000_000 and verdict["satisfied"] and facts["smallest_class"] >= 5
        )
    note = ", ".join(f"{name} {value:.2f} s" for name, value in facts["seconds"].items())
    return [
        Line(
            "kohorte anonymize, 1,000,000 rows x 9 quasi-identifiers",
            right=right,
            seconds=seconds,
            target=10.0,
            megabytes=megabytes,
            megabytes_target=1500,
            note=f"{facts['checked']} of {facts['lattice']} checked; {note}",
        )
    ]


def start_up() -> list[Line]:
    """`kohorte --help` under 0.1 s."""
    runs = [measure([*KOHORTE, "--help"]) for _ in range(REPETITIONS)]
    return [Line("kohorte --help", right="anonymize" in runs[0][2], seconds=min(run[0] for run in runs), target=0.1)]
