"""The evaluation as a page of the documentation, with its pictures."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.service.figures import KS, MIDDLE, RUNS, SIZES, Evaluation, Measured, judged
from kohorte.pages.charts.lines import Line, line_chart
from kohorte.pages.charts.svg import Drawing, Heading
from kohorte.release import versions
from testbed import patients, story
from testbed.running import UNLIMITED, running

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
NAME = "service"
TEXT = """\
# The research service, measured over HTTP

Written by `python -m benchmarks service` ({used}; two cores, server, worker and client on one machine, SQLite).

This page repeats the evaluation of the prototype PRIORI, whose interface the service keeps (Leitner,
*Datenschutzgerechte Forschungsschnittstelle für medizinische Daten*, bachelor's thesis, Karlsruher Institut für
Technologie, 2020, figures 5.1 to 5.4). The tables are synthetic: social security number, postal code, age, sex and
blood group. *A project* is the time to create a project with 5-anonymity and distinct 2-diversity of the blood group,
until the answer 201, with the release verified and stored. *A query* is the time of `SELECT blood_type, AVG(age) FROM
PRIORI GROUP BY blood_type` with epsilon 3 and delta 1e-12, the first of its project. A single row cannot be
5-anonymous; for one row it is the time of the refusal. The times are means of {runs} tables; every release is
downloaded and verified again, and the answers are compared with the truth.

| rows | a project | a query |
|---|---|---|
{rows}

{pictures}
"""


def main() -> int:
    """Measure everything, judge it, and write the page; exit code 1 when an answer is wrong or a target is missed."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "service", rules=UNLIMITED) as service:
        evaluation = Evaluation(service)
        measured = [_measured(evaluation, rows) for rows in SIZES]
        number = story.dataset(evaluation.steward, patients.csv(MIDDLE))
        by_k = [(k, [evaluation.anonymization(number, k=k, rows=MIDDLE) for _ in range(RUNS)]) for k in KS]
        counts = evaluation.counts(number)
    lines = list(judged(measured))
    for line in lines:
        print(line.text())
    drawings = (*_times(measured), _ks(by_k), _epsilons(counts))
    for drawing in drawings:
        (FOLDER / f"{NAME}-{drawing.name}.svg").write_text(drawing.file(), encoding="utf-8")
    (FOLDER / f"{NAME}.md").write_text(_page(measured, drawings), encoding="utf-8")
    return 0 if all(line.right and line.within for line in lines) else 1


def _measured(evaluation: Evaluation, rows: int) -> Measured:
    found = evaluation.measure(rows)
    print(f"{rows:>9,} rows: {_figures(found)}", flush=True)
    return found


def _figures(found: Measured) -> str:
    return " | ".join(
        f"{min(times):.3f} {statistics.fmean(times):.3f} {max(times):.3f}"
        for times in (found.anonymization, found.question)
    )


def _times(measured: Sequence[Measured]) -> tuple[Drawing, Drawing]:
    large = [one for one in measured if one.rows >= 25_000]
    sizes = Heading(
        "sizes", "How long a project and a query take (figure 5.1)", "Means over HTTP; rows as powers of ten."
    )
    growth = Heading("growth", "The same for large tables (figure 5.2)", "Means; the time grows with the rows.")
    return (
        line_chart(sizes, _lines(measured, math.log10), axes=("rows, as a power of ten", "seconds")),
        line_chart(growth, _lines(large, float), axes=("rows", "seconds")),
    )


def _lines(measured: Sequence[Measured], place: object) -> list[Line]:
    assert callable(place)
    return [
        Line(label, tuple((place(one.rows), statistics.fmean(getattr(one, what))) for one in measured))
        for label, what in (("a project", "anonymization"), ("a query", "question"))
    ]


def _ks(by_k: Sequence[tuple[int, Sequence[float]]]) -> Drawing:
    heading = Heading("k", f"A project of {MIDDLE:,} rows for several k (figure 5.3)", "Means over HTTP.")
    points = tuple((float(k), statistics.fmean(times)) for k, times in by_k)
    return line_chart(heading, [Line("a project", points)], axes=("k", "seconds"))


def _epsilons(counts: Sequence[tuple[float, Sequence[float]]]) -> Drawing:
    heading = Heading(
        "epsilon",
        f"COUNT(*) of {MIDDLE:,} rows: how far answers are off (figure 5.4)",
        "The smallest and the largest of five answers.",
    )
    lines = [
        Line(label, tuple((math.log10(epsilon), pick(answers) - MIDDLE) for epsilon, answers in counts))
        for label, pick in (("largest", max), ("smallest", min))
    ]
    return line_chart(heading, lines, axes=("epsilon, as a power of ten", "answer less the truth"))


def _page(measured: Sequence[Measured], drawings: Sequence[Drawing]) -> str:
    rows = "\n".join(
        "| "
        + " | ".join(
            [f"{one.rows:,}", *(f"{statistics.fmean(times):.3f} s" for times in (one.anonymization, one.question))]
        )
        + " |"
        for one in measured
    )
    pictures = "\n\n".join(
        f"## {drawing.title}\n\n![{drawing.title}]({NAME}-{drawing.name}.svg)\n\n{drawing.caption}"
        for drawing in drawings
    )
    used = ", ".join(f"{name} {value}" for name, value in versions().items())
    return TEXT.format(used=used, runs=RUNS, rows=rows, pictures=pictures)
