"""Outside statistics about the rows to come: frequencies of single attributes, or a joint table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from kohorte.data import as_text, read_table
from kohorte.errors import InputError, nearest
from kohorte.in_words import count
from kohorte.kernels.arrays import Floats
from kohorte.plans.parts import Within
from kohorte.plans.search_options import is_number
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.measures import UNKNOWN
from kohorte.series.domain.regions import Positions
from kohorte.series.statistics.label_spans import shared, spans, unknown

COUNTED = ("count", "share")
SUM_TOLERANCE = 0.005
"""By how much the sum of published frequencies may differ from 1: shares rounded to whole percents stay within it."""


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How often combinations of some attributes occur: intervals of positions, each with its share of all rows."""

    axes: tuple[int, ...]
    lows: Positions = field(repr=False)
    highs: Positions = field(repr=False)
    shares: Floats = field(repr=False)


def read_frequencies(entry: Mapping[str, object], axes: Sequence[Axis], folder: Path) -> tuple[Frequencies, ...]:
    """The frequencies in `marginals` and `joint` of a target: together exactly once for every attribute."""
    tables = []
    if entry.get("joint") is not None:
        tables.append(_joint(str(entry["joint"]), axes, folder))
    if entry.get("marginals") is not None:
        with Within("target: marginals"):
            tables += _marginals(entry["marginals"], axes)
    known = [axis for table in tables for axis in table.axes]
    for number, axis in enumerate(axes):
        if known.count(number) != 1:
            how_often = "twice" if number in known else "nowhere"
            raise InputError(
                f"target: the frequencies of {axis.name!r} are given {how_often}: each quasi-identifier needs them "
                "once, in marginals or in the joint table",
                code="series-target",
            )
    return tuple(tables)


def _marginals(entry: object, axes: Sequence[Axis]) -> list[Frequencies]:
    if not isinstance(entry, Mapping) or not all(isinstance(given, Mapping) for given in entry.values()):
        raise InputError("must be written as {age: {0-39: 0.2, 40-59: 0.3, 60-119: 0.5}}", code="series-target")
    names = [axis.name for axis in axes]
    for name in entry:
        if name not in names:
            raise InputError(
                f"{str(name)!r} is not a quasi-identifying attribute of the plan{nearest(str(name), names)}",
                code="series-target",
            )
    return [_marginal(number, axis, entry[axis.name]) for number, axis in enumerate(axes) if axis.name in entry]


def _marginal(number: int, axis: Axis, given: Mapping[object, object]) -> Frequencies:
    with Within(axis.name):
        for position, share in enumerate(given.values(), start=1):
            if not is_number(share) or not 0 <= float(str(share)) <= 1:
                raise InputError(f"entry {position} is not a frequency from 0 to 1", code="series-statistics")
        shares = _normed(np.array([float(str(share)) for share in given.values()]), "frequencies")
        found = spans(axis, [str(label) for label in given])
        if (strange := found[:, 0] == UNKNOWN).any():
            raise unknown(axis, f"entry {int(strange.argmax()) + 1}")
        for one, other in shared(found):
            raise InputError(
                f"entries {one + 1} and {other + 1} share values, or a step of the axis; a range must begin and end "
                "where a step does",
                code="series-statistics",
            )
    return Frequencies((number,), found[:, :1], found[:, 1:], shares)


def _joint(name: str, axes: Sequence[Axis], folder: Path) -> Frequencies:
    frame = read_table(folder / name).frame
    with Within(f"target: joint: {name}"):
        column = _counted_column(frame)
        here = tuple(number for number, axis in enumerate(axes) if axis.name in frame.columns)
        strangers = set(frame.columns) - {column} - {axes[number].name for number in here}
        if strangers or not here:
            raise InputError(
                f"leave out {count(len(strangers), 'column')}: not quasi-identifying attributes of the plan",
                code="series-statistics",
            )
        shares = _normed(_counts(frame[column]), "shares" if column == "share" else None)
        found = [_column_spans(axes[number], as_text(frame[axes[number].name])) for number in here]
    lows, highs = (np.stack([one[:, side] for one in found], axis=1) for side in (0, 1))
    return Frequencies(here, lows, highs, shares)


def _counted_column(frame: pl.DataFrame) -> str:
    given = [name for name in COUNTED if name in frame.columns]
    if len(given) != 1:
        raise InputError("needs a column `count` or a column `share`, not both", code="series-statistics")
    return given[0]


def _counts(column: pl.Series) -> Floats:
    numbers = as_text(column).cast(pl.Float64, strict=False).fill_null(-1.0).to_numpy()
    wrong = ~(np.isfinite(numbers) & (numbers >= 0))
    if wrong.any():
        raise InputError(
            f"column {column.name!r}: row {int(wrong.argmax()) + 1:,} does not have a number of at least 0",
            code="series-statistics",
        )
    return np.asarray(numbers, dtype=np.float64)


def _normed(numbers: Floats, shares: str | None) -> Floats:
    """The numbers as shares of 1; numbers that are called shares must already sum to about 1."""
    total = float(numbers.sum())
    if shares is not None and abs(total - 1) > SUM_TOLERANCE:
        raise InputError(f"the {shares} sum to {total:.6g}, not to 1", code="series-statistics")
    if total <= 0:
        raise InputError("all counts are 0", code="series-statistics")
    return numbers / total


def _column_spans(axis: Axis, texts: pl.Series) -> Positions:
    """The span of each cell of a column; each distinct label is looked up once."""
    labels = texts.unique(maintain_order=True)
    known = pl.DataFrame({"text": labels, "number": np.arange(len(labels))})
    numbers = texts.to_frame("text").join(known, on="text", how="left", nulls_equal=True, maintain_order="left")
    found: Positions = spans(axis, labels.to_list())[numbers["number"].to_numpy()]
    if (strange := found[:, 0] == UNKNOWN).any():
        raise unknown(axis, f"row {int(strange.argmax()) + 1:,}")
    return found
