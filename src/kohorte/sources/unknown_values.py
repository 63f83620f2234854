"""The errors for values that a hierarchy does not contain; they count values and never show one."""

from __future__ import annotations

import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED


def to_name(unknown: pl.Series) -> pl.Series:
    """The unknown values that the error is about: `*` alone if it is among them, because it needs an explanation."""
    return unknown.filter(unknown == SUPPRESSED) if SUPPRESSED in unknown else unknown


def error_for(name: str, named: pl.Series, *, distinct: int, where: str) -> InputError:
    """The error for the values that `to_name` returns: how many of all `distinct` ones, and in which rows."""
    if SUPPRESSED in named:
        return InputError(
            f"column {name!r} shows * in {where}; * marks a suppressed cell of a release: take the original table, or "
            "if * means that the value is missing, empty these cells",
            code="value-is-star",
        )
    return InputError(
        f"column {name!r}: the hierarchy does not know {len(named):,} of {distinct:,} distinct values, in {where}",
        code="value-not-in-hierarchy",
    )
