"""`kohorte attack`: run attacks on a table and count the people, or rows, whom they hurt."""

from __future__ import annotations

import argparse
from dataclasses import replace
from textwrap import fill

from kohorte.cli.output import add_table_options, print_json, print_table, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.in_words import NONE, count
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.attacks import Attack, Attacks

EPILOG = """\
examples:
  kohorte attack release.csv --plan plan.yaml                                   what the release alone tells
  kohorte attack release.csv --plan plan.yaml --register voters.csv             linkage with a table that has names
  kohorte attack release.csv --plan plan.yaml --release earlier.csv             two releases of the same rows
  kohorte attack release.csv --plan plan.yaml --original patients.csv           people are counted, not rows
  kohorte attack release.csv --plan plan.yaml --only background-knowledge --knowledge knowledge.yaml

Attacks: linkage, homogeneity, background-knowledge, skewness, similarity, unsorted-matching, complementary-release,
rows-of-one-person. Nothing that is printed is a value of a table."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    add_table_options(parser)
    parser.add_argument("--only", metavar="A,B", help="these attacks instead of all that can be run")
    parser.add_argument("--register", metavar="FILE", help="a second table, with names, for the linkage attack")
    parser.add_argument("--release", metavar="FILE", help="another release of the same rows, for attacks on both")
    parser.add_argument("--original", metavar="FILE", help="the original table, with the column that names the person")
    parser.add_argument("--knowledge", metavar="FILE", help="what the attacker knows of sensitive values (YAML)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read all tables, attack, print."""
    with TerminalProgress.of(options) as progress:
        attacks = _attacked(options, progress)
    if options.json:
        print_json(attacks.to_dict())
    else:
        _print(attacks)
    return 0


def _attacked(options: argparse.Namespace, progress: TerminalProgress) -> Attacks:
    progress.stage(Stage.CHECKING, "the plan")
    from kohorte.attacks import read_knowledge, run_attacks
    from kohorte.data import Formulas, read_table, without_quotes
    from kohorte.plans import Plan
    from kohorte.release.write import certified_points, only_certified

    def read(path: str | None, formulas: Formulas) -> object:
        if path is None:
            return None
        progress.reading(path)
        file = read_table(path, separator=options.separator, encoding=options.encoding)
        return without_quotes(file, formulas)[0].frame

    plan = Plan.from_yaml(options.plan)
    file = read_data(options, progress)
    attacks = run_attacks(
        without_quotes(file, plan.formulas)[0].frame,
        plan,
        only=None if options.only is None else [name.strip() for name in options.only.split(",")],
        register=read(options.register, Formulas.AS_IS),
        other_release=read(options.release, plan.formulas),
        original=read(options.original, Formulas.AS_IS),
        knowledge=None if options.knowledge is None else read_knowledge(options.knowledge),
        progress=progress,
    )
    if options.original is not None:
        return attacks
    hidden = only_certified(certified_points(file, plan), attacks.open_points)
    return replace(attacks, open_points=(*attacks.open_points, *hidden))


def _print(attacks: Attacks) -> None:
    units = {attack.unit for attack in attacks}
    people = any(attack.people_tried is not None for attack in attacks)
    if attacks.run:
        hurt = f"{units.pop()} hurt" if len(units) == 1 else "hurt"
        print_table(
            ["attack", hurt, *(["people tried"] if people else []), "rows tried"],
            [(attack.name, _hurt(attack, named=hurt == "hurt"), *_tried(attack, people=people)) for attack in attacks],
        )
    else:
        print("no attack could be run")
    for point in attacks.open_points:
        print(f"open: {point}")
    for attack in attacks:
        print(f"\n{fill(f'{attack.name}: {attack.how}.', width=110, subsequent_indent='  ')}")
        for line in (f"prevented by {attack.prevented_by}", *(f"note: {note}" for note in attack.notes)):
            print(fill(line, width=110, initial_indent="  ", subsequent_indent="  "))
    if attacks.skipped:
        print("\nnot run")
    for skipped in attacks.skipped:
        line = f"{skipped.name}: {skipped.reason}; give {skipped.give}"
        print(fill(line, width=110, initial_indent="  ", subsequent_indent="    "))


def _tried(attack: Attack, *, people: bool) -> list[int | str]:
    """The number of people attacked, if some attacks know it, and of rows."""
    whom: int | str = NONE if attack.people_tried is None else attack.people_tried
    return [*([whom] if people else []), attack.rows_tried]


def _hurt(attack: Attack, *, named: bool) -> int | str:
    """The number of people or rows harmed, a range if the table leaves it open; with the unit if it is `named`."""
    at_most = attack.facts.get("at_most", attack.hurt)
    hurt = attack.hurt if at_most == attack.hurt else f"{count(attack.hurt)} to {at_most:,}"
    return f"{hurt} {attack.unit}" if named else hurt
