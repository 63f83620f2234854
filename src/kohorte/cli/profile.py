"""`kohorte profile`: columns, types, distinct values, suspected identifiers, and a first plan."""

from __future__ import annotations

import argparse
from pathlib import Path

from kohorte.cli.output import add_table_options, print_json, print_table, read_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.release.profile import ColumnProfile

EPILOG = """\
examples:
  kohorte profile patients.csv                                prints the columns and a first plan
  kohorte profile patients.csv --write-plan plan.yaml         writes the plan to a file
  kohorte profile patients.csv --json

The roles are guesses from names and contents. Only you know what others can know about your patients:
read the plan before you use it."""

HEAD = """\
# A first plan, guessed from names and contents. Go through every attribute:
#   identifying        names the person: removed from the release
#   quasi-identifying  others may know it: made vaguer along its hierarchy (without one: the value or *)
#   sensitive          what nobody shall learn about a person: kept as it is
#   insensitive        kept as it is
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "profile", help="look at a table and propose a first plan", description=__doc__, epilog=EPILOG
    )
    add_table_options(parser, plan=False)
    parser.add_argument("--write-plan", metavar="PLAN", help="write the first plan to this file")
    parser.add_argument("--force", action="store_true", help="replace an existing plan file")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read and look."""
    from kohorte.data import atomic_write, refuse_same_file
    from kohorte.errors import InputError
    from kohorte.release.profile import first_plan, profile

    if options.write_plan is not None:
        refuse_same_file(options.data, options.write_plan)
    table = read_data(options)
    columns = profile(table.frame)
    try:
        plan = first_plan(columns)
    except InputError:
        plan = None  # every column looks like an identifier: there is nothing to plan with
    text = HEAD + _with_reasons(plan.to_yaml(), columns) if plan else None
    if options.write_plan is not None and text:
        with atomic_write(Path(options.write_plan), force=options.force) as temporary:
            temporary.write_text(text, encoding="utf-8")
    if options.json:
        facts = {"rows": table.frame.height, "columns": [column.to_dict() for column in columns]}
        print_json(facts | {"plan": plan.to_dict() if plan else None})
        return 0
    print(f"{table.frame.height:,} rows, {len(columns)} columns")
    rows = [(c.name, c.kind, c.distinct, c.missing, str(c.role), c.why) for c in columns]
    print_table(["column", "type", "distinct", "missing", "suspected role", "why"], rows)
    if text is None:
        print("\nno column looks quasi-identifying, so there is no plan to propose")
    elif options.write_plan:
        print(f"\nfirst plan: {options.write_plan}; read it before you use it")
    else:
        print("\n" + text)
    return 0


def _with_reasons(text: str, columns: tuple[ColumnProfile, ...]) -> str:
    """Put the reason for its role behind each attribute of a plan's text."""
    reasons = {f"  {column.name}:": column.why for column in columns}
    lines = [f"{line}    # {reasons[line]}" if line in reasons else line for line in text.splitlines()]
    return "\n".join(lines) + "\n"
