"""`make bench`: all benchmarks, each with its expected answer; `make bench` fails on a wrong answer."""

from __future__ import annotations

import sys

from benchmarks import commands, kernels, optima, tables
from kohorte.release import versions


def main() -> int:
    """Run all benchmarks and print a line each; exit code 1 when an answer is wrong, 0 otherwise."""
    print("  ".join(f"{name} {value}" for name, value in versions().items()))
    # Commands first: the peak memory of a child counts what this process had when it was started.
    benchmarks = [commands.start_up, commands.million, kernels.run]
    if tables.available():
        benchmarks = [commands.adult, *benchmarks, optima.run, optima.exhaustive]
    else:
        print("the public benchmark tables are not there: ADULT and CUP are left out")
    wrong = False
    for benchmark in benchmarks:
        for line in benchmark():
            print(line.text(), flush=True)
            wrong = wrong or not line.right
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
