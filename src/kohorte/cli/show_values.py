"""The option --show-values: the values that a hierarchy does not know, on the terminal of the user and nowhere else."""

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

MOST_SHOWN = 20


def add_show_values(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--show-values",
        action="store_true",
        help="show values that a hierarchy does not know, on the terminal only (they are data of patients)",
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
    """Print the values that the hierarchies do not know; a stream that is not a terminal could be a log."""
    if not sys.stderr.isatty():
        print("note: --show-values shows values on a terminal only; here is none", file=sys.stderr)
        return
    for text, builder in columns:
        values = text.drop_nulls().unique().sort()
        positions = builder.build(values.to_list(), attribute=text.name).encode(values)
        unknown = [value for value, position in zip(values, positions, strict=True) if position < 0]
        if unknown:
            more = f" and {len(unknown) - MOST_SHOWN:,} more" if len(unknown) > MOST_SHOWN else ""
            print(f"{text.name}: {', '.join(map(repr, unknown[:MOST_SHOWN]))}{more}", file=sys.stderr)
