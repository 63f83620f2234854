"""The option --show-values: values of the table, on the terminal of the user and nowhere else.

These are the values that a hierarchy does not know, and those that a release lost.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kohorte.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from kohorte.hierarchies import Builder
    from kohorte.plans import Plan
    from kohorte.release.telling.losses import ColumnLoss

MOST_SHOWN = 20


def add_show_values(parser: argparse.ArgumentParser, also: str = "") -> None:
    """Add the option; `also` says what it shows besides."""
    parser.add_argument(
        "--show-values",
        action="store_true",
        help=f"show values that a hierarchy does not know{also}, on the terminal only (they are data of patients)",
    )


@contextmanager
def showing_values(options: argparse.Namespace, frame: pl.DataFrame, plan: Plan) -> Iterator[None]:
    """Show the unknown values, if the user asked for them, when a table is refused because of them."""
    from kohorte.data import as_text, without_marks
    from kohorte.plans.hierarchies import hierarchies

    try:
        yield
    except InputError as error:
        if error.code == "value-not-in-hierarchy" and options.show_values:
            cleaned = without_marks(frame, plan.missing_values)
            show_unknown_values([(as_text(cleaned[name]), builder) for name, builder in hierarchies(plan).items()])
        raise


def show_unknown_values(columns: Sequence[tuple[pl.Series, Builder]]) -> None:
    """Print the values that the hierarchies do not know."""
    if not _at_a_terminal():
        return
    for text, builder in columns:
        values = text.drop_nulls().unique().sort()
        positions = builder.build(values.to_list(), attribute=text.name).encode(values)
        unknown = [value for value, position in zip(values, positions, strict=True) if position < 0]
        if unknown:
            more = f" and {len(unknown) - MOST_SHOWN:,} more" if len(unknown) > MOST_SHOWN else ""
            print(f"{text.name}: {', '.join(map(repr, unknown[:MOST_SHOWN]))}{more}", file=sys.stderr)


def show_lost_values(losses: Sequence[ColumnLoss]) -> None:
    """Print the values of which no kept row is left; those that few people have are not named."""
    from kohorte.release.telling.loss_words import lost_by_name

    if any(one.lost_values for one in losses) and _at_a_terminal():
        for lost in lost_by_name(losses):
            print(f"lost: {lost}", file=sys.stderr)


def _at_a_terminal() -> bool:
    """Whether values may be shown: a stream that is not a terminal could be a log."""
    if not sys.stderr.isatty():
        print("note: --show-values shows values on a terminal only; here is none", file=sys.stderr)
        return False
    return True
