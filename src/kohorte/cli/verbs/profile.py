"""`kohorte profile`: columns, types, distinct values, suspected identifiers, and a first plan."""

from __future__ import annotations

import argparse
import os
import re
import textwrap
from pathlib import Path

from kohorte.cli.output import add_table_options, print_json, print_table, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.in_words import count
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from kohorte.plans.plan import Plan
    from kohorte.plans.profile import ColumnProfile
    from kohorte.plans.proposal import Proposal

EPILOG = """\
examples:
  kohorte profile patients.csv                                prints the columns and a first plan
  kohorte profile patients.csv --write-plan plan.yaml         writes the plan to a file
  kohorte profile patients.csv --json
  zcat patients.csv.gz | kohorte profile -                    reads standard input
  kohorte profile patients.csv --safe-harbor --zip-populations zip3.csv --write-plan plan.yaml

The roles are guesses from names and contents. Only you know what others can know about your patients:
read the plan before you use it."""

HEAD = """\
# A first plan, guessed from names and contents. Go through every attribute:
#   identifying        names the person: removed from the release
#   quasi-identifying  others may know it: generalized along its hierarchy (without one: the value or *)
#   sensitive          what no one should learn about a person: kept as it is
#   insensitive        kept as it is
"""
SAFE_HARBOR_HEAD = """\
# A plan for HIPAA Safe Harbor (45 CFR 164.514(b)(2)), guessed from names and contents. Go through every attribute. If a
# column looks like an identifier but is not one, add it to the list `allow` of the model, as in
#   - {model: safe-harbor, allow: [center, visit_no]}
# Safe Harbor is a rule about columns: a person can still be unique in the release. To prevent that, add a model:
#   - {model: k-anonymity, k: 5}
# minimum_level: 1 keeps the raw value out of the release. Free text has to be removed, or read by people.
"""
UNSTATED = """\

# Whom a row is about is not stated yet: rows are counted, not people, and no verdict is better than amber. If you know
# that one of these lines is true, remove its '#':
# person: none               # every row is another person
# person: COLUMN             # this column says whom a row is about; several columns: [clinic, patient]
"""

NOTHING = "no column looks quasi-identifying, so there is no plan to propose"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    add_table_options(parser, plan=False)
    parser.add_argument("--write-plan", metavar="PLAN", help="write the first plan to this file")
    parser.add_argument("--force", action="store_true", help="replace an existing plan file")
    parser.add_argument("--safe-harbor", action="store_true", help="propose a plan for HIPAA Safe Harbor")
    parser.add_argument(
        "--zip-populations", metavar="FILE", help="with --safe-harbor: CSV file with ZIP codes and their populations"
    )
    parser.add_argument(
        "--as-of", metavar="DATE", help="with --safe-harbor: the date on which no birth year may reveal an age over 89"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Profile the table and propose a plan."""
    _refuse_stray_options(options)
    with TerminalProgress.of(options) as progress:
        progress.stage(Stage.CHECKING, "the options")
        from kohorte.data import atomic_write, refuse_same_file

        if options.write_plan is not None:
            for source in filter(None, (options.data, options.zip_populations)):
                refuse_same_file(source, options.write_plan)
        table = read_data(options, progress)
        progress.stage(Stage.COUNTING, "the values of each column")
        columns, plan, proposal = _look(table.frame, options)
    text = None
    if plan is not None and (options.write_plan is not None or not options.json):
        text = _head(proposal) + _with_reasons(plan.to_yaml(), columns) + ("" if plan.unit.is_stated else UNSTATED)
    if options.write_plan is not None and text:
        with atomic_write(Path(options.write_plan), force=options.force) as temporary:
            temporary.write_text(text, encoding="utf-8")
    if options.json:
        facts = {"rows": table.frame.height, "columns": [column.to_dict() for column in columns]}
        reasons = [] if proposal is None else list(proposal.reasons)
        why_not = [] if plan else [_why_no_plan(columns, proposal)]
        print_json(facts | {"plan": plan.to_dict() if plan else None, "reasons": reasons + why_not})
        return _code(options, plan)
    print(f"{count(table.frame.height, 'row')}, {count(len(columns), 'column')}")
    rows = [(c.name, c.kind, c.distinct, c.missing, str(c.role), c.hierarchy_in_words, c.why) for c in columns]
    print_table(["column", "type", "distinct", "missing", "suspected role", "hierarchy", "why"], rows)
    if text is None:
        print("\n" + _why_no_plan(columns, proposal))
    elif options.write_plan:
        print(f"\nfirst plan: {options.write_plan}; read it before you use it")
    else:
        print("\n" + text)
    return _code(options, plan)


def _why_no_plan(columns: tuple[ColumnProfile, ...], proposal: Proposal | None) -> str:
    from kohorte.plans.profile import why_stars

    return why_stars(columns) or NOTHING if proposal is None else proposal.why_no_plan


def _code(options: argparse.Namespace, plan: Plan | None) -> int:
    """The exit code: 1 if a plan was to be written and there is none, since an older file may have that name."""
    return 1 if plan is None and options.write_plan is not None else 0


def _look(
    frame: pl.DataFrame, options: argparse.Namespace
) -> tuple[tuple[ColumnProfile, ...], Plan | None, Proposal | None]:
    """The profile of the columns and a plan, None if there is nothing to generalize; for Safe Harbor no proposal."""
    from kohorte.data import Role
    from kohorte.plans.profile import why_stars
    from kohorte.plans.proposal import propose
    from kohorte.plans.safe_harbor_proposal import plan_of, safe_harbor_profile

    if not options.safe_harbor:
        proposal = propose(frame)
        return proposal.columns, proposal.plan, proposal
    folder = Path(options.write_plan or "").parent
    populations = _relative(options.zip_populations, folder)
    columns = safe_harbor_profile(frame, zip_populations=populations, as_of=options.as_of, folder=folder)
    some = any(column.role is Role.QUASI_IDENTIFYING for column in columns) and not why_stars(columns)
    return columns, plan_of(columns) if some else None, None


def _head(proposal: Proposal | None) -> str:
    """The comment at the top of a plan: how to read it, and why it is as it is."""
    if proposal is None:
        return SAFE_HARBOR_HEAD
    wrapped = [
        textwrap.fill(reason, 118, initial_indent="# - ", subsequent_indent="#   ") for reason in proposal.reasons
    ]
    return HEAD + "\n".join(["#", "# Why it is as it is:", *wrapped]) + "\n"


def _relative(file: str | None, folder: Path) -> str | None:
    """The path of a file, relative to the folder of the plan."""
    return file if file is None or Path(file).is_absolute() else Path(os.path.relpath(file, folder)).as_posix()


def _refuse_stray_options(options: argparse.Namespace) -> None:
    from kohorte.errors import InputError

    for option in ("zip_populations", "as_of"):
        if getattr(options, option) is not None and not options.safe_harbor:
            raise InputError(
                f"--{option.replace('_', '-')} can only be used with --safe-harbor", code="safe-harbor-option"
            )


def _with_reasons(text: str, columns: tuple[ColumnProfile, ...]) -> str:
    """Add the reasons for its role and its hierarchy to each attribute of a plan, as comments."""
    entries = {line: column for column in columns if (line := _first_line(column.name))}
    found = []
    for line in text.splitlines():
        column = entries.get(line)
        found.append(line if column is None else f"{line}    # {_one_line(column.why)}")
        if column is not None and column.why_hierarchy:
            found.append(f"    # {column.hierarchy_in_words}: {_one_line(column.why_hierarchy)}")
    return "\n".join(found) + "\n"


def _first_line(name: str) -> str | None:
    """The line that begins the entry of an attribute; None if YAML needs several lines for its name."""
    from kohorte.data import strict_yaml

    if re.fullmatch(r"[A-Za-z_]\w{0,60}", name, re.ASCII) and name.lower() not in ("true", "false", "null"):
        return f"  {name}:"
    lines = strict_yaml.dump({"attributes": {name: {}}}).splitlines()
    return lines[1].removesuffix(" {}") if len(lines) == 2 else None


def _one_line(text: str) -> str:
    return " ".join(text.split())
