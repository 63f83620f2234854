"""Which people have a value that is conspicuous for their age or sex: it counts as identifying.

Age and sex are taken from the row if the request asks for them or the condition looks at them, in whatever form: `is
male`, `in [male]` and `not female` select the same people. What neither the answer nor the condition tells cannot be
compared by its reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.exchange.checking.global_look import GlobalLook
from kohorte.exchange.statistics.typical import ALIKE, Fit
from kohorte.kernels.arrays import Bools


def conspicuous_rows(frame: pl.DataFrame, name: str, look: GlobalLook) -> Bools:
    """Flag the rows whose value of an attribute is conspicuous for the age or sex that is told with it."""
    flags = np.zeros(frame.height, dtype=bool)
    request = look.request
    told = {kind: column for column, kind in look.holding.statistics.items() if kind in ALIKE}
    known = {*request.attributes, *request.condition.attributes} - {name}
    shown = {kind: column for kind, column in told.items() if column in known}
    if not look.judges_fit(name) or not shown:
        return flags
    people = [as_text(frame[column]).alias(kind) for kind, column in shown.items()]
    people = [_banded(text, look.age_bounds(name)) if text.name == "age" else text for text in people]
    table = pl.DataFrame([as_text(frame[name]).alias("value"), *people])
    distinct = table.unique().drop_nulls("value")
    found = [_is_conspicuous(row, name, look) for row in distinct.iter_rows(named=True)]
    bad = distinct.filter(pl.Series(found, dtype=pl.Boolean))
    if not bad.height:
        return flags
    marked = bad.with_columns(pl.lit(value=True).alias("\0bad"))
    joined = table.join(marked, on=table.columns, how="left", nulls_equal=True, maintain_order="left")
    return joined["\0bad"].fill_null(value=False).to_numpy().copy()


def conspicuous_conditions(look: GlobalLook) -> Sequence[str]:
    """The comparisons of a condition that are conspicuous for the age or sex that the same condition names."""
    return [str(one["comparison"]) for one in look.fits if one["fit"] == str(Fit.CONSPICUOUS)]


def _banded(ages: pl.Series, bounds: Sequence[int]) -> pl.Series:
    """Ages of one band of the statistics as its first age, so that each band is looked up once."""
    numbers = ages.cast(pl.Int64, strict=False)
    starts = np.array([0, *bounds], dtype=np.int64)
    first = pl.Series(starts[np.searchsorted(starts, numbers.fill_null(0).to_numpy(), side="right") - 1])
    is_number = numbers.is_not_null() & (numbers >= 0)
    return pl.select(pl.when(is_number).then(first.cast(pl.String)).otherwise(ages)).to_series().alias(ages.name)


def _is_conspicuous(row: Mapping[str, str | None], name: str, look: GlobalLook) -> bool:
    by = {kind: text for kind, text in row.items() if kind in ALIKE and text is not None}
    found = look.typicality(name, str(row["value"]), by)
    return found is not None and found.fit is Fit.CONSPICUOUS
