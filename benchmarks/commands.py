"""Whole commands, cold, with their memory: against a process that only reads and writes the same file with Polars."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.report import Line
from kohorte.cohorts import hierarchy_files, plan_text
from testbed import interviews, tables

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


def _copy(data: Path, separator: str, output: Path) -> list[str]:
    """The command that copies a file with Polars and does nothing else."""
    read = f"polars.read_csv({str(data)!r}, separator={separator!r})"
    return [sys.executable, "-c", f"import polars; {read}.write_csv({str(output)!r}, separator={separator!r})"]


def _plan(folder: str, table: str, metric: str) -> Path:
    plan = Path(folder) / f"{table}.yaml"
    text = tables.plan(table, k=5, limit=0.05, metric=metric).to_yaml()
    plan.write_text(text.replace("csv: hierarchies/", f"csv: {tables.DATA}/hierarchies/"), encoding="utf-8")
    return plan


def lattice() -> list[Line]:
    """All 12,960 nodes of ADULT, classified and drawn: at most twelve times the time of a copy by Polars."""
    lines = []
    for metric, best in (("non_uniform_entropy", [0, 0, 1, 1, 2, 2, 2, 1, 1]), ("loss", [0, 3, 0, 0, 2, 1, 1, 2, 0])):
        with tempfile.TemporaryDirectory() as folder:
            plan, picture = _plan(folder, "adult", metric), Path(folder) / "lattice.html"
            command = [*KOHORTE, "lattice", str(tables.DATA / "adult.csv"), "--plan", str(plan), "--json"]
            facts = json.loads(measure(command)[2])
            command = [*command[:-1], "--picture", str(picture), "--force"]
            copies, runs = [], []
            for _ in range(3):
                copies.append(measure(_copy(tables.DATA / "adult.csv", ";", Path(folder) / "copy.csv"))[0])
                runs.append(measure(command)[0])
            seconds, target = min(runs), 12 * min(copies)
            right = facts["best"] == best and len(facts["nodes"]) == 12_960 and picture.stat().st_size < 2e6
        lines.append(Line(f"kohorte lattice adult.csv, {metric}, with picture", right, seconds, target))
    return lines


@dataclass(frozen=True)
class Case:
    """A whole command, what it must answer, and how often the time of a bare copy, and how much memory, it may take."""

    what: str
    data: Path
    plan: Path
    separator: str
    times: float
    megabytes: float
    answer: dict[str, object]
    repetitions: int = REPETITIONS

    def line(self) -> Line:
        """Run the command and the copy in turn, so that a busy machine slows both; the fastest run of each counts."""
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "release.csv"
            copy = _copy(self.data, self.separator, output)
            given = ["anonymize", str(self.data), "--plan", str(self.plan), "--output", str(output), "--force"]
            copies, runs = [], []
            for _ in range(self.repetitions):
                copies.append(measure(copy)[0])
                runs.append(measure([*KOHORTE, *given, "--json"]))
        facts = json.loads(runs[0][2])
        found = {name: list(facts[name].values()) if name == "levels" else facts[name] for name in self.answer}
        seconds = min(run[0] for run in runs)
        spans = ", ".join(f"{name} {value:.2f} s" for name, value in facts["seconds"].items())
        return Line(
            self.what,
            right=found == self.answer and bool(facts["optimal"]),
            seconds=seconds,
            target=self.times * min(copies),
            megabytes=max(run[1] for run in runs),
            megabytes_target=self.megabytes,
            note=f"{seconds / min(copies):.2f} times a copy by Polars (at most {self.times:g}); {spans}",
        )


def public_tables() -> list[Line]:
    """The whole command on ADULT and CUP, against a process that copies the file with Polars."""
    with tempfile.TemporaryDirectory() as folder:
        adult = _plan(folder, "adult", "non_uniform_entropy")
        cup = _plan(folder, "cup", "non_uniform_entropy")
        cases = (
            Case(
                "kohorte anonymize adult.csv, whole command, cold",
                tables.DATA / "adult.csv",
                adult,
                separator=";",
                times=2.5,
                megabytes=250,
                answer={"levels": [0, 0, 1, 1, 2, 2, 2, 1, 1], "suppressed": 1285},
            ),
            Case(
                "kohorte anonymize cup.csv, whole command, cold",
                tables.DATA / "cup.csv",
                cup,
                separator=";",
                times=3.0,
                megabytes=350,
                answer={"levels": [2, 4, 1, 0, 0, 1, 3, 1], "suppressed": 3119},
            ),
        )
        return [case.line() for case in cases]


def survey() -> list[Line]:
    """1.19 million made-up interviews with nine quasi-identifiers, about 900,000 of them distinct."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        make = f"from testbed.interviews import write; from pathlib import Path; write(Path({folder!r}))"
        measure([sys.executable, "-c", make])
        what = "kohorte anonymize, 1,190,000 rows x 9, {}"
        options: Any = {"separator": ",", "answer": {"rows": interviews.ROWS}, "repetitions": 3}
        data = base / interviews.TABLE
        cases = (
            Case(what.format("no suppression"), data, base / "none.yaml", times=3.0, megabytes=700, **options),
            Case(what.format("5 %, loss"), data, base / "some.yaml", times=5.0, megabytes=900, **options),
        )
        return [case.line() for case in cases]


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
    """`kohorte --help` under 0.1 s; `anonymize` on ten rows in 2.5 times the time of loading Polars and NumPy alone."""
    runs = [measure([*KOHORTE, "--help"]) for _ in range(REPETITIONS)]
    lines = [Line("kohorte --help", right="anonymize" in runs[0][2], seconds=min(run[0] for run in runs), target=0.1)]
    with tempfile.TemporaryDirectory() as folder:
        base, imports = Path(folder), [sys.executable, "-c", "import polars, numpy"]
        interviews.write(base, rows=10)
        given = ["anonymize", str(base / interviews.TABLE), "--plan", str(base / "none.yaml"), "--force", "--json"]
        loads, ten = [], []
        for _ in range(REPETITIONS):
            loads.append(measure(imports)[0])
            ten.append(measure([*KOHORTE, *given, "--output", str(base / "release.csv")]))
    note = f"loading Polars and NumPy alone {min(loads) * 1e3:.0f} ms"
    right = json.loads(ten[0][2])["rows"] == 10
    what = "kohorte anonymize, ten rows"
    return [*lines, Line(what, right=right, seconds=min(run[0] for run in ten), target=2.5 * min(loads), note=note)]
