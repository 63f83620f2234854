"""`kohorte hierarchy`: build, check and show hierarchies."""

from __future__ import annotations

import argparse
from pathlib import Path

from kohorte.cli.output import add_table_options, print_json, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.cli.show_values import add_show_values, show_unknown_values
from kohorte.in_words import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from kohorte.hierarchies import Builder

EPILOG = """\
examples:
  kohorte hierarchy check patients.csv --plan plan.yaml               all quasi-identifiers of the plan
  kohorte hierarchy show  patients.csv --plan plan.yaml --attribute zip
  kohorte hierarchy build patients.csv --plan plan.yaml --attribute zip --output zip.csv

What is shown and built is exactly what `anonymize` applies to this table. `build` writes the format of ARX:
value;level 1;...;* without a header, for {csv: zip.csv} in a plan."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the three actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = _action(actions, "check", "count values that are not covered; check levels and labels")
    check.add_argument("--attribute", metavar="A", help="only this column")
    check.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    add_show_values(check)
    show = _action(actions, "show", "print the levels of every value")
    show.add_argument("--attribute", metavar="A", required=True, help="the column")
    show.add_argument("--limit", type=int, metavar="N", help="show at most N values")
    build = _action(actions, "build", "write the levels of every value to a CSV file")
    build.add_argument("--attribute", metavar="A", required=True, help="the column")
    build.add_argument("--output", metavar="OUT", required=True, help="CSV file in the format of ARX")
    build.add_argument("--force", action="store_true", help="replace an existing file")
    check.set_defaults(run=run_check)
    show.set_defaults(run=run_show)
    build.set_defaults(run=run_build)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text, description=text, epilog=EPILOG)
    add_table_options(parser, json=False)
    return parser


def run_check(options: argparse.Namespace) -> int:
    """Check the hierarchies of all quasi-identifiers, or of one column."""
    from kohorte.hierarchies import check_hierarchy

    columns = _columns(options, options.attribute)
    checks = [check_hierarchy(builder, text, attribute=text.name) for text, builder in columns]
    if options.json:
        print_json({"ok": all(check.ok for check in checks), "attributes": [check.to_dict() for check in checks]})
    else:
        for check in checks:
            print(check.text())
    if options.show_values and any(check.missed_values for check in checks):
        show_unknown_values(columns)
    return 0 if all(check.ok for check in checks) else 1


def run_show(options: argparse.Namespace) -> int:
    """Print a hierarchy."""
    from kohorte.hierarchies import show

    [(text, builder)] = _columns(options, options.attribute)
    print(show(builder.build(_values(text), attribute=text.name), limit=options.limit))
    return 0


def run_build(options: argparse.Namespace) -> int:
    """Write a hierarchy to a file."""
    from kohorte.data import atomic_write, refuse_same_file
    from kohorte.hierarchies import to_csv

    output = Path(options.output)
    for source in (options.data, options.plan):
        refuse_same_file(source, output)
    [(text, builder)] = _columns(options, options.attribute)
    hierarchy = builder.build(_values(text), attribute=text.name)
    with atomic_write(output, force=options.force) as temporary:
        temporary.write_text(to_csv(hierarchy), encoding="utf-8")
    print(f"{count(len(hierarchy.values), 'value')} on {hierarchy.top + 1} levels: {output}")
    return 0


def _values(text: pl.Series) -> list[str]:
    return text.drop_nulls().unique().sort().to_list()


def _columns(options: argparse.Namespace, wanted: str | None) -> list[tuple[pl.Series, Builder]]:
    """The columns of the table that have a hierarchy in the plan, as text."""
    from kohorte.data import as_text, without_marks
    from kohorte.errors import InputError, nearest
    from kohorte.plans import Plan
    from kohorte.plans.columns import check_columns
    from kohorte.plans.hierarchies import hierarchies

    plan = Plan.from_yaml(options.plan)
    with TerminalProgress.of(options) as progress:
        table = read_data(options, progress)
    check_columns(table.frame.columns, plan)
    builders = dict(hierarchies(plan))
    builders |= {name: item.hierarchy for name, item in plan.attributes.items() if item.hierarchy is not None}
    if wanted is not None and wanted not in builders:
        raise InputError(
            f"the plan has no hierarchy for {wanted!r}{nearest(wanted, builders)}", code="hierarchy-attribute"
        )
    names = list(builders) if wanted is None else [wanted]
    frame = without_marks(table.frame.select(names), plan.missing_values)
    return [(as_text(frame[name]), builders[name]) for name in names]
