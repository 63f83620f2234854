"""`make bench`: all benchmarks, each with its expected answer; `make bench` fails on a wrong answer.

`python -m benchmarks --help` lists the others, which write pages of the documentation.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence

from benchmarks import (
    commands,
    comparison,
    disclosures,
    exchange,
    kernels,
    models,
    optima,
    people,
    pseudonyms,
    recodings,
    risk,
    series_over_time,
    series_shapes,
)
from benchmarks.linkage import page as linkage_page
from benchmarks.linkage import speed as linkage_speed
from benchmarks.parties import page as parties_page
from benchmarks.parties import runs as parties_runs
from benchmarks.recodings_compared import page as groupings_page
from benchmarks.report import Line
from benchmarks.reproduction import command
from benchmarks.service import figures, load, pages, previews, timing
from benchmarks.service import page as service_page
from benchmarks.survey import page as survey_page
from kohorte.release import versions
from testbed import tables

Main = Callable[[Sequence[str]], int]

OTHERS: dict[str, tuple[Main, str]] = {
    "reproduce": (command.main, "published evaluations repeated, as pages of the documentation (`make reproduce`)"),
    "compare": (lambda _: comparison.main(), "all algorithms on one table, as a page of the documentation"),
    "groupings": (groupings_page.main, "ways to group rows, compared with least_loss (some 20 minutes)"),
    "survey": (survey_page.main, "the estimators of a survey against the published tables (about two minutes)"),
    "parties": (parties_page.main, "what joint releases of several parties save and cost (some 20 minutes)"),
    "linkage": (linkage_page.main, "record linkage of generated patients, beside Splink (some 10 minutes)"),
    "service": (lambda _: service_page.main(), "the research service over HTTP, as a page of the documentation"),
    "load": (load.main, "many clients at once, on SQLite and PostgreSQL (some 5 minutes)"),
    "timing": (timing.main, "whether the time of an answer tells who is in a list, over HTTP (some 8 minutes)"),
    "pseudonyms": (lambda _: pseudonyms.main(), "pseudonyms a second, and lists of ten million (some 10 minutes)"),
    "shapes": (lambda _: series_shapes.main(), "what shape of cells and choice of splits cost a series (some seconds)"),
    "series": (lambda _: series_over_time.main(), "a growing cohort released fifty times (some 15 minutes)"),
}


def run(only: str = "") -> int:
    """Run all benchmarks, or those whose name contains a text; exit code 1 if an answer is wrong, 0 otherwise."""
    print("  ".join(f"{name} {value}" for name, value in versions().items()))
    # Commands first: the peak memory of a child counts what this process had when it was started.
    benchmarks: list[Callable[[], Iterable[Line]]] = [
        commands.start_up,
        commands.million,
        commands.survey,
        people.million,
        kernels.run,
        models.two_threads,
        recodings.million,
        risk.million,
        exchange.million,
        disclosures.million,
        series_over_time.simulation,
        linkage_speed.registrations,
        figures.lines,
        pages.lines,
        pseudonyms.lines,
    ]
    if tables.available():
        on_tables = [
            optima.run,
            optima.exhaustive,
            models.run,
            models.fewer_checks,
            recodings.run,
            risk.adult,
            people.adult,
            parties_runs.lines,
            previews.lines,
        ]
        benchmarks = [commands.public_tables, commands.lattice, *benchmarks, *on_tables]
    else:
        print("the public benchmark tables are not there: ADULT and CUP are left out")
    wrong = False
    for benchmark in benchmarks:
        if only not in f"{benchmark.__module__.removeprefix('benchmarks.')}.{benchmark.__name__}":
            continue
        for line in benchmark():
            print(line.text(), flush=True)
            wrong = wrong or not line.right
    return 1 if wrong else 0


def main(arguments: Sequence[str]) -> int:
    """Run all benchmarks, or the one that is named first.

    Programs are measured as they are installed, with compiled modules, also where the environment forbids to keep them.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if arguments and arguments[0] in OTHERS:
        return OTHERS[arguments[0]][0](arguments[1:])
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Run all benchmarks, each with its expected answer; fails on a wrong answer.",
        epilog="other benchmarks:\n" + "\n".join(f"  {name:<11}{what}" for name, (_, what) in OTHERS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only those whose name contains the text: people.million"
    )
    return run(parser.parse_args(arguments).only)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
