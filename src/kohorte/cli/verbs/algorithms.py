"""`kohorte algorithms`: compare all algorithms on one table, by time, cost and usefulness of their releases."""

from __future__ import annotations

import argparse
from pathlib import Path

from kohorte.cli.output import add_table_options, print_json, print_table, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.in_words import NONE, count, seconds
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.comparison import Comparison, Outcome

EPILOG = """\
examples:
  kohorte algorithms patients.csv --plan plan.yaml                                all of them
  kohorte algorithms patients.csv --plan plan.yaml --only optimal,mondrian --time-limit 10
  kohorte algorithms patients.csv --plan plan.yaml --task diagnosis               with the accuracy of a classifier
  kohorte algorithms patients.csv --plan plan.yaml --page comparison.html         with plots

All algorithms get the same plan; the algorithm that it names is ignored. No release is written: to get one, name its
algorithm in the plan, or use kohorte anonymize --algorithm."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    add_table_options(parser)
    parser.add_argument("--only", metavar="A,B", help="compare only these algorithms")
    parser.add_argument("--task", metavar="COLUMN", help="column that a classifier learns to predict from each release")
    parser.add_argument("--queries", type=int, default=1000, metavar="N", help="random count queries (default 1000)")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="random seed of queries and test rows (default 0)"
    )
    parser.add_argument(
        "--time-limit", type=float, metavar="S", help="seconds for each algorithm (default: the plan's, or 60)"
    )
    parser.add_argument("--page", metavar="OUT", help="write table and plots as one page (.html)")
    parser.add_argument("--force", action="store_true", help="replace an existing page")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, run all algorithms, print and write."""
    page = Path(options.page) if options.page is not None else None
    with TerminalProgress.of(options) as progress:
        comparison = _compared(options, page, progress)
    if options.json:
        print_json(comparison.to_dict())
    else:
        _print(comparison)
        if page is not None:
            print(f"page: {page}")
    return 0 if comparison.released else 1


def _compared(options: argparse.Namespace, page: Path | None, progress: TerminalProgress) -> Comparison:
    progress.stage(Stage.CHECKING, "the plan")
    from kohorte.comparison import compare_algorithms, refuse_page, write_page
    from kohorte.plans import Plan

    plan = Plan.from_yaml(options.plan)
    if page is not None:
        refuse_page(page, needed=(options.data, options.plan, *plan.files()), force=options.force)
    comparison = compare_algorithms(
        read_data(options, progress).frame,
        plan,
        algorithms=None if options.only is None else [name.strip() for name in options.only.split(",")],
        task=options.task,
        queries=options.queries,
        seed=options.seed,
        time_limit=options.time_limit,
        progress=progress,
    )
    if page is not None:
        progress.stage(Stage.WRITING, page.name)
        write_page(comparison, page, force=options.force)
    return comparison


def _print(comparison: Comparison) -> None:
    from kohorte.comparison import words

    print(
        f"{count(comparison.rows, 'row')}, {count(len(comparison.outcomes), 'algorithm')}, at most "
        f"{seconds(comparison.time_limit)} each; {count(comparison.queries, 'count query', 'count queries')}"
    )
    if comparison.people is not None:
        print(words.counted(comparison))
    if comparison.released:
        lines = [_line(comparison, outcome) for outcome in comparison.released]
        print_table(list(lines[0]), [list(line.values()) for line in lines])
    for name, status, reason in words.reasons(comparison):
        print(f"{name} {status}: {reason}")
    for finding in words.findings(comparison):
        print(finding)
    for note in comparison.notes:
        print(f"note: {note}")


def _line(comparison: Comparison, outcome: Outcome) -> dict[str, object]:
    """The figures of a release, by column name."""
    from kohorte.comparison import words

    metric = comparison.plan.metric.name
    line: dict[str, object] = {
        "algorithm": outcome.algorithm,
        "seconds": _rounded(outcome.seconds, 3),
        "loss": _rounded(outcome.costs.get("loss"), 6),
        metric: _rounded(outcome.cost, 6),
        "classes": outcome.classes,
        words.smallest(comparison): NONE if outcome.smallest_class is None else outcome.smallest_class,
        "suppressed": outcome.suppressed,
    }
    if comparison.people is not None:
        line[words.LOSING] = outcome.people_losing_all_rows
    if outcome.query_error is not None:
        line["query error %"] = round(100 * outcome.query_error.median, 1)
    if outcome.accuracy is not None:
        line["accuracy %"] = round(100 * outcome.accuracy.value, 1)
    return line | {"verdict": outcome.verdict}


def _rounded(value: float | None, digits: int) -> float | str:
    return "" if value is None else float(f"{value:.{digits}g}")
