"""`kohorte lattice`: evaluate all combinations of levels, each with its verdict and cost."""

from __future__ import annotations

import argparse
from pathlib import Path

from kohorte.cli.output import add_table_options, print_json, print_table, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.cli.sources.large_tables import add_engine_options, outside_table
from kohorte.in_words import NONE, count
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.space import SolutionSpace

EPILOG = """\
examples:
  kohorte lattice patients.csv --plan plan.yaml             the twenty best solutions
  kohorte lattice patients.csv --plan plan.yaml --show 100
  kohorte lattice patients.csv --plan plan.yaml --json > lattice.json      all of them
  kohorte lattice patients.csv --plan plan.yaml --picture lattice.html     all of them, drawn (or .svg)
  kohorte lattice postgresql://anna@db/clinic/visits --plan plan.yaml      a table in a database"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    add_table_options(parser)
    parser.add_argument("--show", type=int, default=20, metavar="N", help="how many solutions to list (default 20)")
    parser.add_argument("--picture", metavar="OUT", help="draw all combinations (.html or .svg)")
    parser.add_argument("--force", action="store_true", help="replace an existing picture")
    add_engine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read and evaluate all nodes."""
    picture = Path(options.picture) if options.picture is not None else None
    with TerminalProgress.of(options) as progress:
        space = _space(options, picture, progress)
    if options.json:
        print_json(space.to_dict())
    else:
        _print_best(space, show=options.show)
        if picture is not None:
            print(f"picture: {picture}")
    return 0 if space.best else 1


def _space(options: argparse.Namespace, picture: Path | None, progress: TerminalProgress) -> SolutionSpace:
    progress.stage(Stage.CHECKING, "the plan")
    from kohorte.plans import Plan
    from kohorte.space import refuse_picture, solution_space, write_picture

    plan = Plan.from_yaml(options.plan)
    if picture is not None:
        refuse_picture(picture, needed=(options.data, options.plan, *plan.files()), force=options.force)
    outside = outside_table(options, plan, progress)
    table = read_data(options, progress).frame if outside is None else outside
    space = solution_space(table, plan, progress=progress)
    if picture is not None:
        progress.stage(Stage.WRITING, picture.name)
        write_picture(space, picture, force=options.force)
    return space


def _print_best(space: SolutionSpace, *, show: int) -> None:
    solutions = space.solutions()
    print(f"{count(len(space.nodes), 'combination')} of levels, {count(len(solutions))} of them satisfy the plan")
    if space.people is not None:
        print(f"the models count people, not rows: {space.unit.count(space.people)} in {count(space.rows, 'row')}")
    if solutions:
        smallest = f"smallest ({space.unit.many})"
        header = [*space.attributes, space.plan.metric.name, "suppressed", "classes", smallest]
        shown = solutions[: max(0, show)]
        rows = [
            (*space.levels(node.node), node.cost, node.suppressed, node.classes, node.smallest_class or NONE)
            for node in shown
        ]
        print_table(header, rows)
    if space.best is not None:
        print("the optimum shows")
        for name, words, level in zip(space.attributes, space.meanings, space.best.node, strict=True):
            print(f"  {name:<24} {words[level]}")
    for note in space.notes:
        print(f"note: {note}")
