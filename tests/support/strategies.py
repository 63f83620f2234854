"""Random small tables for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from kohorte.engines import Missing
from support.tables import Levels, SmallTable

WEIGHTS = st.sampled_from([1.0, 0.5, 0.3, 2.0, 0.0])


@st.composite
def levels(draw: st.DrawFn, *, most_values: int = 5, most_levels: int = 4) -> Levels:
    """Monotone levels over 2 or more values; a level may merge much, little or nothing."""
    count = draw(st.integers(2, most_values))
    columns = [tuple("abcdefgh"[:count])]
    groups = list(range(count))
    for level in range(1, draw(st.integers(1, most_levels - 1))):
        merged = draw(st.lists(st.integers(0, 2), min_size=max(groups) + 1, max_size=max(groups) + 1))
        groups = [merged[group] for group in groups]
        columns.append(tuple(f"{level}-{group}" for group in groups))
    return (*columns, ("*",) * count)


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    most_rows: int = 12,
    most_attributes: int = 3,
    missing: tuple[Missing, ...] = (Missing.CATEGORY, Missing.SUPPRESS),
    weighted: bool = True,
) -> SmallTable:
    """Tables of a few rows, with missing values in some."""
    domains = draw(st.lists(levels(), min_size=1, max_size=most_attributes))
    may_miss = missing and draw(st.booleans())
    values = [st.sampled_from((*own[0], None) if may_miss else own[0]) for own in domains]
    rows = draw(st.lists(st.tuples(*values), min_size=1, max_size=most_rows))
    weights = draw(st.tuples(*[WEIGHTS] * len(domains))) if weighted and draw(st.booleans()) else ()
    return SmallTable(
        levels=tuple(domains),
        rows=tuple(rows),
        missing=draw(st.sampled_from(missing)) if may_miss else Missing.CATEGORY,
        weights=weights if sum(weights) > 0 else (),
    )


@st.composite
def limits(draw: st.DrawFn, table: SmallTable) -> int:
    """How many rows may be suppressed: none, some or all."""
    return draw(st.one_of(st.just(0), st.integers(0, len(table.rows))))


@st.composite
def questions(draw: st.DrawFn, **options: int) -> tuple[SmallTable, int, int]:
    """A table, k and the most rows that may be suppressed."""
    table = draw(tables(**options))
    return table, draw(st.integers(1, 4)), draw(limits(table))
