"""`python -m benchmarks compare`: all algorithms on ADULT, as a page of the documentation with its plots."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import replace

import kohorte as ko
from benchmarks.reproduction.markdown import page, picture, table
from kohorte.comparison import Comparison
from kohorte.comparison.drawing import plots
from kohorte.comparison.words import families, findings
from kohorte.data.roles import Role
from kohorte.in_words import compact, percent
from kohorte.progress import Progress
from testbed import tables

FOLDER = tables.ROOT / "docs" / "benchmarks"
NAME = "algorithms"
TASK = "salary-class"
SECONDS = 60.0


def main() -> int:
    """Compare, and write page and plots; exit code 1 where the table is not there."""
    if not tables.available():
        print("benchmarks: the public benchmark tables are not there", file=sys.stderr)
        return 1
    rows = ko.read_table(tables.DATA / "adult.csv").frame
    plan = adult_plan()
    some = ko.compare_algorithms(rows, plan, task=TASK, time_limit=SECONDS, progress=_tell)
    none = ko.compare_algorithms(rows, replace(plan, suppression_limit=0.0), time_limit=SECONDS, progress=_tell)
    drawings = plots(some)
    text = render(some, none)
    for old in FOLDER.glob(f"{NAME}-*.svg"):
        old.unlink()
    for drawing in drawings:
        (FOLDER / f"{NAME}-{drawing.name}.svg").write_text(drawing.file(), encoding="utf-8")
    (FOLDER / f"{NAME}.md").write_text(text, encoding="utf-8")
    print(f"wrote {NAME}.md and {len(drawings)} plots to {FOLDER.relative_to(tables.ROOT)}")
    return 0


def adult_plan() -> ko.Plan:
    """ADULT with eight quasi-identifiers; the salary class is what others want to learn from a release."""
    plan = tables.plan("adult", k=5, limit=0.05, metric="loss")
    return replace(plan, attributes={**plan.attributes, TASK: ko.Attribute(Role.INSENSITIVE)})


def _tell(progress: Progress) -> None:
    print(progress.in_words, flush=True)


def render(some: Comparison, none: Comparison) -> str:
    """The page: with suppression in all detail, without it as a table."""
    assert some.task is not None
    shown = [
        f"{picture(f'{NAME}-{drawing.name}', drawing.title)}\n\n{drawing.title}. {drawing.caption}"
        for drawing in plots(some)
    ]
    return page(
        "All algorithms on one table",
        f"ADULT, {some.rows:,} rows, eight quasi-identifiers, 5-anonymity, at most 5 % of the rows suppressed, metric "
        f"`loss`. Every algorithm got the same plan and at most {some.time_limit:g} seconds; every release was "
        "verified from its rows. [How to compare algorithms on your own table](../how-to/compare-algorithms.md).",
        _findings(some),
        some.to_markdown().rstrip(),
        "The *query error* is the median relative error of "
        f"{some.queries:,} random count queries about one to three quasi-identifiers. The *accuracy* is that of a "
        f"logistic regression that learns from the released rows of {some.task.training_rows:,} people and "
        f"predicts the salary class of {some.task.test_rows:,} others; learning from the original rows gives "
        f"{percent(some.task.original)}, guessing the most frequent class {percent(some.task.majority)}.",
        *shown,
        "## The cost in every metric",
        "Lower is better. The algorithms optimize different measures; this table gives the costs of their releases.",
        _costs(some),
        "## Without suppression",
        "Now `loss` is monotone, and the searches that need a monotone metric can take part.",
        _findings(none),
        none.to_markdown().rstrip(),
        "**How.** `python -m benchmarks compare` computes everything again and writes this page. Times are those of "
        f"the algorithm alone; below 0.1 s the fastest of three runs counts. Machine of this run: {_machine()}.",
    )


def _findings(comparison: Comparison) -> str:
    return "\n".join(f"- {finding}" for finding in findings(comparison))


def _costs(comparison: Comparison) -> str:
    metrics = list(comparison.released[0].costs)
    rows = [
        [", ".join(f"`{outcome.algorithm}`" for outcome in same), *(compact(same[0].costs[name]) for name in metrics)]
        for same in families(comparison.released)
    ]
    return table(["algorithm", *(f"`{name}`" for name in metrics)], rows)


def _machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
