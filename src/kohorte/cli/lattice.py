"""`kohorte lattice`: the whole solution space, each combination of levels with its verdict and cost."""

from __future__ import annotations

import argparse

from kohorte.cli.output import TerminalProgress, add_table_options, print_json, print_table, read_data

EPILOG = """\
examples:
  kohorte lattice patients.csv --plan plan.yaml             the twenty best solutions
  kohorte lattice patients.csv --plan plan.yaml --show 100
  kohorte lattice patients.csv --plan plan.yaml --json > lattice.json      all of them"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "lattice", help="evaluate every combination of levels", description=__doc__, epilog=EPILOG
    )
    add_table_options(parser)
    parser.add_argument("--show", type=int, default=20, metavar="N", help="how many solutions to list (default 20)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read and evaluate all nodes."""
    from kohorte.release import Plan, solution_space

    plan = Plan.from_yaml(options.plan)
    table = read_data(options)
    progress = TerminalProgress(quiet=options.json)
    try:
        space = solution_space(table.frame, plan, progress=progress)
    finally:
        progress.done()
    if options.json:
        print_json(space.to_dict())
        return 0 if space.best else 1
    solutions = space.solutions()
    print(f"{len(space.nodes):,} combinations of levels, {len(solutions):,} of them satisfy the plan")
    if solutions:
        header = [*space.attributes, plan.metric.name, "suppressed", "classes"]
        shown = solutions[: max(0, options.show)]
        rows = [(*node.node, float(f"{node.cost:.8g}"), node.suppressed, node.classes) for node in shown]
        print_table(header, rows)
    return 0 if solutions else 1
