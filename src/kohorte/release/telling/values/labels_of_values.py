"""Labels and intervals of a release that are made of values of the data, and therefore disclose some of them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from kohorte.data import as_text
from kohorte.hierarchies import Builder, Ordering
from kohorte.recoding import Cells

GROUP = r"^\{| – "
"""What a label of an ordering has: a brace, or a dash between its first and its last value."""

INTERVAL = r"^\[.+[-–].+\]( or missing)?$"
"""A cell of a recoder that ends at values of the data: `[31-38]`."""


def made_of_values(name: str) -> str:
    """Say that the labels of a column disclose values."""
    return f"the labels of {name!r} are made of values that occur in the data, so that they disclose some of them"


def ends_at_values(name: str) -> str:
    """Say that the intervals of a column disclose values."""
    return f"the intervals of {name!r} end at values that occur in the data, so that they disclose some of them"


def lists_values(name: str) -> str:
    """Say that the sets of a column disclose the values of a class."""
    return f"the sets of {name!r} list exactly the values that occur in a class, so that each belongs to somebody in it"


def cell_points(cells: Sequence[Cells]) -> list[str]:
    """What the cells of a recoded table disclose, or leave unclear."""
    names = {column.line.column.name: column for column in cells}
    return [
        *(ends_at_values(name) for name, column in names.items() if column.shows_ends),
        *(lists_values(name) for name, column in names.items() if column.lists_values),
        *(
            f"a label of {name!r} has different meanings in different rows: its hierarchy has the same text at "
            "different levels"
            for name, column in names.items()
            if column.ambiguous
        ),
    ]


def shows_values(builder: Builder | None) -> bool:
    """Whether the labels of a hierarchy are made of values of the data."""
    return isinstance(builder, Ordering) and builder.values is None


def has_cell(column: pl.Series, pattern: str) -> bool:
    """Whether a cell of a column fits a pattern."""
    found = as_text(column).unique().str.contains(pattern)
    return bool(found.fill_null(value=False).any())
