"""The distribution of the values of an attribute, without values of small groups.

A value is named only if at least `least` rows have it, in every table that is drawn. All others are one part, which has
at least `least` rows and at least two values: the least frequent named value joins it until that is so.
Numbers and dates are put into ranges whose ends are round and whose outer ends are open; ranges that are too small are
joined with their neighbours. Where people are known, each part also has at least `least` different people: each person
is counted with one value only, so that the people of several values can be added and are never overstated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

import polars as pl

from kohorte.data import as_text
from kohorte.hierarchies import SUPPRESSED
from kohorte.pages.charts.axis import Axis, date_ticks

MOST_PARTS = 12
MISSING = "(missing)"
ROW_SUPPRESSED = "* (row suppressed)"
REMOVED = "* (removed, row not suppressed)"
EITHER = "* (removed, or row suppressed)"
STARRED = "* (cell suppressed)"
OUTER = 0.02
"""The outermost borders leave about this share of the rows outside on each side."""

VALUE = "value"
SAMPLE = 1_000
LEADING = re.compile(r"\d+", re.ASCII)
DATES = ("%Y-%m-%d", "%d.%m.%Y")


@dataclass(frozen=True)
class Part:
    """A value, a range of values, or all others, with its rows in each table."""

    label: str
    rows: tuple[int, ...]
    is_value: bool = False
    """Whether the label is a value of the data, which no language changes."""


@dataclass(frozen=True)
class Distribution:
    """The parts of an attribute, the same for all tables; empty if all groups are too small."""

    attribute: str
    parts: tuple[Part, ...]


def distribution(
    columns: Sequence[pl.Series],
    *,
    least: int,
    suppressed: Sequence[pl.Series] | None = None,
    people: Sequence[pl.Series] = (),
) -> Distribution:
    """Divide the values of an attribute into parts, in one table or in several.

    `suppressed` tells for each table which rows are suppressed; without it a `*` is that of a single cell. `people` has
    one value of each person (`one_value_each`), for tables whose people are known.
    """
    name, tables = columns[0].name, len(columns)
    texts = [as_text(column) for column in columns]
    shown = [text.filter(~text.eq_missing(SUPPRESSED)) for text in (*texts, *people)]
    numbers = _as_numbers(shown)
    if numbers is not None and numbers[0].n_unique() > MOST_PARTS:
        parts = _ranges(numbers, tables, least)
    else:
        parts = _categories(shown, tables, least)
    stars = _stars(texts, suppressed, least)
    nothing_hidden = parts or not any(map(len, shown))
    parts = tuple(replace(part, rows=part.rows[:tables]) for part in parts)
    return Distribution(name, (*parts, *stars) if nothing_hidden else ())


def one_value_each(values: pl.Series, persons: pl.Series) -> pl.Series:
    """One value of each person, the one that the fewest rows have; a `*` only if the person has nothing else."""
    rows = pl.DataFrame([as_text(values).alias(VALUE), persons.alias("person")])
    starred = pl.col(VALUE).eq_missing(pl.lit(SUPPRESSED))
    ordered = rows.with_columns(pl.len().over(VALUE).alias("rows")).sort(starred, "rows", VALUE)
    return ordered.unique("person", keep="first", maintain_order=True)[VALUE]


def _stars(texts: Sequence[pl.Series], suppressed: Sequence[pl.Series] | None, least: int) -> tuple[Part, ...]:
    """The cells that show `*`: because the row is suppressed, or because the value is removed; as one if few."""
    starred = [text.eq_missing(SUPPRESSED) for text in texts]
    whole = tuple(int(stars.sum()) for stars in starred)
    if suppressed is None:
        return (Part(STARRED, whole),) if any(whole) else ()
    rows = tuple(int((stars & gone).sum()) for stars, gone in zip(starred, suppressed, strict=True))
    removed = tuple(stars - gone for stars, gone in zip(whole, rows, strict=True))
    if any(0 < cells < least for cells in removed):
        return (Part(EITHER, whole),)
    parts = ((REMOVED, removed), (ROW_SUPPRESSED, rows))
    return tuple(Part(label, cells) for label, cells in parts if any(cells))


def comparable(before: pl.Series, after: pl.Series) -> bool:
    """Whether both contain values of the same kind, so that one chart can show both."""
    text = as_text(after)
    shown = text.filter(~text.eq_missing(SUPPRESSED)).drop_nulls().unique()
    if not len(shown) or _both_numbers(before, shown):
        return bool(len(shown))
    return bool(shown.is_in(as_text(before).unique().implode()).all())


def _both_numbers(before: pl.Series, shown: pl.Series) -> bool:
    text = as_text(before)
    return _as_numbers([text.filter(~text.eq_missing(SUPPRESSED)), shown]) is not None


# Values by name


def _categories(shown: Sequence[pl.Series], drawn: int, least: int) -> tuple[Part, ...]:
    counts = _counts(shown)
    tables = [name for name in counts.columns if name != VALUE]
    large = counts.filter(pl.min_horizontal(tables) >= least).sort(
        *tables, VALUE, descending=[True] * len(tables) + [False]
    )
    all_named = large.height == counts.height <= MOST_PARTS + 1
    named = [(label, tuple(rows)) for label, *rows in large.head(MOST_PARTS + all_named).iter_rows()]
    whole = tuple(int(counts[name].sum()) for name in tables)
    while named and _tells(counts.height - len(named), _rest(whole, named), drawn, least):
        named.pop()
    if all(LEADING.match(label or "") for label, _ in named):
        named.sort(key=lambda part: _by_leading_number(part[0] or ""))
    others = counts.height - len(named)
    rest = (Part(f"{others:,} other values", _rest(whole, named)),) if others and named else ()
    parts = (Part(MISSING, rows) if label is None else Part(label, rows, is_value=True) for label, rows in named)
    return (*parts, *rest)


def _by_leading_number(label: str) -> tuple[int, str, str]:
    """A sort key by the number at the beginning of a label, of any length."""
    digits = LEADING.findall(label)[0].lstrip("0")
    return len(digits), digits, label


def _tells(others: int, rest: tuple[int, ...], drawn: int, least: int) -> bool:
    """Whether the remaining part would reveal a single value or a small group."""
    return others == 1 or any(0 < rows < least for rows in rest) or (others > 0 and _few(rest, drawn, least))


def _few(part: tuple[int, ...], drawn: int, least: int) -> bool:
    """Whether a part has too few people; after the rows of the tables that are drawn come the people who are known."""
    return any(people < least for people in part[drawn:])


def _rest(whole: tuple[int, ...], named: Sequence[tuple[str | None, tuple[int, ...]]]) -> tuple[int, ...]:
    return tuple(rows - sum(some[place] for _, some in named) for place, rows in enumerate(whole))


def _counts(shown: Sequence[pl.Series]) -> pl.DataFrame:
    """The rows of every value in every table."""
    names = [f"rows{place}" for place in range(len(shown))]
    kinds = [
        text.alias(VALUE).to_frame().group_by(VALUE).len(name=name) for text, name in zip(shown, names, strict=True)
    ]
    return pl.concat(kinds, how="diagonal").group_by(VALUE).agg(pl.col(name).sum() for name in names)


# Ranges of numbers and dates


def _as_numbers(shown: Sequence[pl.Series]) -> list[pl.Series] | None:
    """The values as numbers, dates as days; None if they are neither, or differ between tables."""
    readings: tuple[Callable[[pl.Series], pl.Series], ...] = (_numbers, *(partial(_days, form=form) for form in DATES))
    for read in readings:
        if read(shown[0].head(SAMPLE)).null_count() > shown[0].head(SAMPLE).null_count():
            continue
        numbers = [read(text) for text in shown]
        if all(number.null_count() == text.null_count() for number, text in zip(numbers, shown, strict=True)):
            return numbers
    return None


def _numbers(text: pl.Series) -> pl.Series:
    """The values as numbers; a code such as 01067 is not a number."""
    numbers = text.cast(pl.Float64, strict=False).alias("number")
    return numbers.set(text.str.contains(r"^-?0\d").fill_null(value=False), None)


def _days(text: pl.Series, *, form: str) -> pl.Series:
    days = text.str.slice(0, 10).str.to_date(form, strict=False)
    return days.cast(pl.Int32).cast(pl.Float64).alias("date")


def _ranges(numbers: Sequence[pl.Series], drawn: int, least: int) -> tuple[Part, ...]:
    ends, words = _ends(numbers[0])
    counts = [_in_ranges(column, ends) for column in numbers]
    missing = tuple(column.null_count() for column in numbers)
    borders = _joined([tuple(rows) for rows in zip(*counts, strict=True)], drawn, least)
    parts = []
    for first, stop in borders:
        label = _range(words[first - 1] if first else None, words[stop - 1] if stop <= len(words) else None)
        parts.append(Part(label, tuple(sum(rows[first:stop]) for rows in counts)))
    if len(parts) == 1 and any(rows < least for rows in parts[0].rows):
        return ()
    return _with_missing(parts, missing, least)


def _ends(numbers: pl.Series) -> tuple[list[float], list[str]]:
    """Round borders between ranges, and their labels."""
    low, high = (numbers.quantile(share, "nearest") for share in (OUTER, 1 - OUTER))
    if low is None or high is None or not -math.inf < low < high < math.inf:
        return [], []
    if numbers.name == "date":
        start = date(1970, 1, 1).toordinal()
        ticks = date_ticks(Axis(low + start, high + start, 0, 1), MOST_PARTS - 1)
        return [place - start for place, _ in ticks], [label for _, label in ticks]
    ends = Axis(low, high, 0, 1).ticks(MOST_PARTS - 1)
    return ends, [f"{end:,.0f}" if abs(end) >= 10_000 else f"{end:.6g}" for end in ends]


def _in_ranges(numbers: pl.Series, ends: Sequence[float]) -> list[int]:
    """The rows below the first end, from each to the next, and from the last on."""
    known = numbers.drop_nulls()
    below = [int((known < end).sum()) for end in ends]
    steps = zip([0, *below], [*below, len(known)], strict=True)
    return [stop - start for start, stop in steps]


def _joined(rows: Sequence[tuple[int, ...]], drawn: int, least: int) -> list[tuple[int, int]]:
    """Join neighbours until each has enough rows of the first table, and enough or no rows of the others."""
    found: list[tuple[int, int]] = []
    start = 0
    for stop in range(1, len(rows) + 1):
        if _enough(rows[start:stop], drawn, least):
            found.append((start, stop))
            start = stop
    while found and found[-1][1] < len(rows):  # what is left joins the last ones
        start = found.pop()[0]
        if _enough(rows[start:], drawn, least) or not found:
            found.append((start, len(rows)))
    return found or [(0, len(rows))]


def _enough(rows: Sequence[tuple[int, ...]], drawn: int, least: int) -> bool:
    together = tuple(map(sum, zip(*rows, strict=True)))
    some_rows = together[0] >= least and all(not 0 < some < least for some in together[:drawn])
    return some_rows and not _few(together, drawn, least)


def _range(low: str | None, high: str | None) -> str:
    if low is None or high is None:
        return f"below {high}" if high is not None else f"{low} and above" if low is not None else "all values"
    return f"{low} to below {high}"


def _with_missing(parts: list[Part], missing: tuple[int, ...], least: int) -> tuple[Part, ...]:
    """Missing values as a separate part if there are many; otherwise they are added to the last range.

    If that leaves a small group in one of the tables, nothing is shown.
    """
    if not any(missing):
        return tuple(parts)
    if all(rows >= least for rows in missing):
        return (*parts, Part(MISSING, missing))
    last = parts[-1]
    both = tuple(map(sum, zip(last.rows, missing, strict=True)))
    if any(0 < rows < least for rows in both):
        return ()
    return (*parts[:-1], Part(f"{last.label}, or missing", both))
