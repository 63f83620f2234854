"""`make bench`: all benchmarks, each with its expected answer; `make bench` fails on a wrong answer.

`make reproduce` (`python -m benchmarks reproduce`): published evaluations repeated, as pages of the documentation.
`python -m benchmarks compare`: all algorithms on one table, as a page of the documentation.
`python -m benchmarks survey`: the estimators of a survey against the published tables (about two minutes).
`python -m benchmarks parties`: what joint releases of several parties save and cost (some 20 minutes).
`python -m benchmarks service`: the research service over HTTP, as a page of the documentation.
`python -m benchmarks load`: many clients at once, on SQLite and PostgreSQL (some 5 minutes).
`python -m benchmarks shapes`: what the shape of its cells and its choice of splits cost a series (some seconds).
`python -m benchmarks series`: a growing cohort released fifty times, with all attribute sets (some 15 minutes).
"""

from __future__ import annotations

import sys

from benchmarks import (
    commands,
    comparison,
    kernels,
    models,
    optima,
    people,
    recodings,
    risk,
    series_over_time,
    series_shapes,
)
from benchmarks.parties import page as parties_page
from benchmarks.parties import runs as parties_runs
from benchmarks.reproduction import command
from benchmarks.service import figures, load, page
from benchmarks.survey import page as survey_page
from kohorte.release import versions
from testbed import tables


def main() -> int:
    """Run all benchmarks and print a line each; exit code 1 when an answer is wrong, 0 otherwise."""
    print("  ".join(f"{name} {value}" for name, value in versions().items()))
    # Commands first: the peak memory of a child counts what this process had when it was started.
    benchmarks = [commands.start_up, commands.million, kernels.run, models.two_threads, recodings.million, risk.million]
    benchmarks.append(people.million)
    benchmarks += [series_over_time.simulation, figures.lines]
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
        ]
        benchmarks = [commands.adult, commands.lattice, *benchmarks, *on_tables]
    else:
        print("the public benchmark tables are not there: ADULT and CUP are left out")
    wrong = False
    for benchmark in benchmarks:
        for line in benchmark():
            print(line.text(), flush=True)
            wrong = wrong or not line.right
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["compare"]:
        sys.exit(comparison.main())
    if sys.argv[1:2] == ["service"]:
        sys.exit(page.main())
    if sys.argv[1:2] == ["survey"]:
        sys.exit(survey_page.main(sys.argv[2:]))
    if sys.argv[1:2] == ["parties"]:
        sys.exit(parties_page.main(sys.argv[2:]))
    if sys.argv[1:2] == ["load"]:
        sys.exit(load.main())
    if sys.argv[1:2] == ["shapes"]:
        sys.exit(series_shapes.main())
    if sys.argv[1:2] == ["series"]:
        sys.exit(series_over_time.main())
    sys.exit(command.main(sys.argv[2:]) if sys.argv[1:2] == ["reproduce"] else main())
