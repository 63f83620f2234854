"""`kohorte tradeoff`: what other values of k, of the suppression limit and of epsilon would cost."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kohorte.cli.output import add_table_options, print_json, print_table, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.errors import InputError
from kohorte.in_words import NONE, percent
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.tradeoff import Curve, Tradeoff

Number = TypeVar("Number", int, float)
EPILOG = """\
examples:
  kohorte tradeoff patients.csv --plan plan.yaml                          tables of figures, a sentence for each value
  kohorte tradeoff patients.csv --plan plan.yaml --picture curves.html    with curves
  kohorte tradeoff patients.csv --plan plan.yaml --k 2,5,11 --limits 0,2.5,5
  kohorte tradeoff patients.csv --plan plan.yaml --json

Each figure is that of the release which kohorte anonymize would make with that value and the plan as it is otherwise.
Nothing is released, and no value is recommended."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    add_table_options(parser)
    parser.add_argument("--k", metavar="K,K", help="values of k (default: 2 to 100, and that of the plan)")
    parser.add_argument("--limits", metavar="P,P", help="suppression limits in %% (default: 0 to 50, and the plan's)")
    parser.add_argument("--epsilons", metavar="E,E", help="values of epsilon (default: 0.01 to 10)")
    parser.add_argument(
        "--time-limit", type=float, default=60.0, metavar="S", help="seconds for all searches together (default 60)"
    )
    parser.add_argument("--picture", metavar="OUT", help="write curves and tables as one page (.html)")
    parser.add_argument("--force", action="store_true", help="replace an existing page")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, try all values, print and write."""
    picture = Path(options.picture) if options.picture is not None else None
    with TerminalProgress.of(options) as progress:
        found = _found(options, picture, progress)
    if options.json:
        print_json(found.to_dict())
    else:
        _print(found)
        if picture is not None:
            print(f"page: {picture}")
    return 0 if any(curve.released for curve in found.curves) else 1


def _found(options: argparse.Namespace, picture: Path | None, progress: TerminalProgress) -> Tradeoff:
    progress.stage(Stage.CHECKING, "the plan")
    from kohorte.pages import refuse_page
    from kohorte.plans import Plan
    from kohorte.tradeoff import tradeoff, write_page

    limits = _numbers(options.limits, "--limits", float)
    plan = Plan.from_yaml(options.plan)
    if picture is not None:
        refuse_page(picture, needed=(options.data, options.plan, *plan.files()), force=options.force)
    found = tradeoff(
        read_data(options, progress).frame,
        plan,
        ks=_numbers(options.k, "--k", int),
        limits=None if limits is None else [limit / 100 for limit in limits],
        epsilons=_numbers(options.epsilons, "--epsilons", float),
        seconds=options.time_limit,
        progress=progress,
    )
    if picture is not None:
        progress.stage(Stage.WRITING, picture.name)
        write_page(found, picture, force=options.force)
    return found


def _numbers(text: str | None, option: str, kind: Callable[[str], Number]) -> list[Number] | None:
    if text is None:
        return None
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{option}: numbers with commas between them are expected", code="tradeoff-setting") from None


def _print(found: Tradeoff) -> None:
    for curve in found.curves:
        print("other values of k" if curve.name == "k" else "other suppression limits")
        if curve.added:
            print("the plan asks for no k-anonymity: the figures are those of the plan with k-anonymity added")
        _print_curve(found, curve)
        print()
    if found.noise is not None:
        groups = [f"of {group:,}" for group in found.noise.groups]
        print("if queries are answered with noise instead: error of a count in 19 of 20 answers, and as a share")
        lines = [
            (f"{one.epsilon:g}", round(one.error), *(percent(found.noise.relative(one, g)) for g in found.noise.groups))
            for one in found.noise.settings
        ]
        print_table(["epsilon", "error", *groups], lines)
    for note in found.notes:
        print(f"note: {note}")


def _print_curve(found: Tradeoff, curve: Curve) -> None:
    from kohorte.languages import ENGLISH
    from kohorte.tradeoff.drawing import value_in_words
    from kohorte.tradeoff.words import sentence

    header = ["value", found.plan.metric.name, "suppressed", f"smallest ({found.unit.many})", "highest risk", ""]
    lines = [
        (
            value_in_words(curve, one, ENGLISH).replace("\u00a0", " "),
            NONE if one.cost is None else one.cost,
            NONE if one.suppressed is None else one.suppressed,
            NONE if one.smallest_class is None else one.smallest_class,
            percent(one.highest_risk),
            sentence(found, curve, one, ENGLISH) + ("" if one.optimal or not one.released else " Not proven optimal."),
        )
        for one in curve.settings
    ]
    print_table(header, lines)
