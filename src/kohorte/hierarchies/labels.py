"""Tables of labels: checks that every hierarchy must pass, and the numbering of labels as groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from kohorte.errors import InputError
from kohorte.kernels.arrays import Codes, Floats

SUPPRESSED = "*"
"""The label of the top level of every hierarchy and of every suppressed cell."""


def label_table(columns: pl.DataFrame | Sequence[Sequence[str]], *, attribute: str) -> pl.DataFrame:
    """The columns as one table of text; anything else is refused."""
    table = columns if isinstance(columns, pl.DataFrame) else _table_of_sequences(columns, attribute=attribute)
    if table.width == 0:
        raise InputError(f"{attribute}: the hierarchy has no levels", code="hierarchy-empty")
    if any(kind != pl.String for kind in table.dtypes):
        raise InputError(f"{attribute}: the labels of a hierarchy must be text", code="hierarchy-not-text")
    return table


def _table_of_sequences(columns: Sequence[Sequence[str]], *, attribute: str) -> pl.DataFrame:
    if len({len(column) for column in columns}) > 1:
        raise InputError(f"{attribute}: the levels of the hierarchy differ in length", code="hierarchy-ragged-levels")
    try:
        return pl.DataFrame(
            [pl.Series(str(level), list(column), dtype=pl.String) for level, column in enumerate(columns)]
        )
    except (TypeError, UnicodeError, pl.exceptions.PolarsError):
        raise InputError(f"{attribute}: the labels of a hierarchy must be text", code="hierarchy-not-text") from None


def refuse_bad_labels(table: pl.DataFrame, *, attribute: str) -> None:
    """Refuse duplicate values, empty labels, and `*` if it could be mistaken for suppression."""
    values = table.to_series(0)
    if repeated := table.height - values.n_unique():
        raise InputError(
            f"{attribute}: {repeated} rows of the hierarchy repeat a value of an earlier row",
            code="hierarchy-duplicate-values",
        )
    if values.null_count() or (values == SUPPRESSED).any():
        raise InputError(
            f"{attribute}: a value of the hierarchy is null or *, which marks suppressed cells",
            code="hierarchy-star-value",
        )
    for level in range(1, table.width):
        _refuse_bad_level(table.to_series(level), level, attribute=attribute)


def _refuse_bad_level(labels: pl.Series, level: int, *, attribute: str) -> None:
    if empty := labels.null_count() + int((labels == "").sum()):
        raise InputError(
            f"{attribute}: {empty} labels of level {level} of the hierarchy are empty",
            code="hierarchy-empty-label",
        )
    stars = int((labels == SUPPRESSED).sum())
    if 0 < stars < len(labels):
        raise InputError(
            f"{attribute}: level {level} of the hierarchy is * for {stars} of {len(labels)} values; * marks "
            "suppressed cells, so a level must be * for all values or for none",
            code="hierarchy-star-label",
        )


def with_top(table: pl.DataFrame) -> pl.DataFrame:
    """The table, with a level `*` on top if its last level is not `*` already."""
    if table.width > 1 and (table.to_series(-1) == SUPPRESSED).all():
        return table
    return table.with_columns(pl.lit(SUPPRESSED).alias(f"top above {''.join(table.columns)}"))


def label_groups(labels: pl.Series) -> tuple[Codes, tuple[str, ...]]:
    """Number the distinct labels in order of appearance."""
    distinct = labels.unique(maintain_order=True)
    if len(distinct) == len(labels):
        return np.arange(len(labels), dtype=np.uint32), tuple(labels.to_list())
    codes = labels.cast(pl.Enum(distinct)).to_physical().to_numpy()
    return codes.astype(np.uint32), tuple(distinct.to_list())


def split_groups(groups: Sequence[Codes]) -> tuple[int, ...]:
    """For each level, how many groups of the level below it splits; all 0 if the hierarchy is monotone."""
    return (0, *(_splits(groups[level - 1], groups[level]) for level in range(1, len(groups))))


def _splits(below: Codes, level: Codes) -> int:
    if len(below) == 0:
        return 0
    parent = np.zeros(int(below.max()) + 1, dtype=np.uint32)
    parent[below] = level
    return int(np.count_nonzero(np.bincount(below[parent[below] != level])))


def split_message(level: int, splits: int, groups: Sequence[Codes]) -> str:
    """The message for a level that is not monotone, with counts."""
    below = len(np.unique(groups[level - 1]))
    return (
        f"level {level} splits {splits} of the {below} groups of level {level - 1}; "
        "each group must fall into one group of the next level"
    )


def refuse_splits(groups: Sequence[Codes], *, attribute: str) -> None:
    """Refuse levels that are not monotone."""
    for level, splits in enumerate(split_groups(groups)):
        if splits:
            raise InputError(
                f"{attribute}: the hierarchy is not monotone: {split_message(level, splits, groups)}",
                code="hierarchy-not-monotone",
            )


def group_shares(
    groups: Sequence[Codes], row_shares: Sequence[ArrayLike] | None, *, attribute: str
) -> tuple[Floats, ...]:
    """The share of the domain that each group covers, from the given row shares or else by counting values."""
    counted = tuple(_counted_shares(codes) for codes in groups[:-1])
    several = len(groups[0]) > 1
    if row_shares is None:
        return (*counted, np.array([1.0 if several else 0.0]))
    shares = tuple(
        _given_shares(codes, rows, attribute=attribute) for codes, rows in zip(groups[:-1], row_shares, strict=False)
    )
    if len(shares) < len(groups) - 1:
        raise InputError(f"{attribute}: shares must be given for every level", code="hierarchy-bad-shares")
    return (*shares, np.array([1.0]))


def _counted_shares(codes: Codes) -> Floats:
    if len(codes) < 2:
        return np.zeros(len(codes), dtype=np.float64)
    return (np.bincount(codes) - 1) / (len(codes) - 1)


def _given_shares(codes: Codes, rows: ArrayLike, *, attribute: str) -> Floats:
    given = np.asarray(rows, dtype=np.float64)
    if given.shape != codes.shape or not bool(np.all((given >= 0) & (given <= 1))):
        raise InputError(
            f"{attribute}: shares must be one number from 0 to 1 per value and level",
            code="hierarchy-bad-shares",
        )
    shares = np.zeros(len(np.unique(codes)), dtype=np.float64)
    shares[codes] = given
    return shares


def quoted(value: str, signs: str) -> str:
    """The value, in quotation marks if it contains signs of the label itself."""
    if any(sign in value for sign in f'{signs}"'):
        return '"' + value.replace('"', '""') + '"'
    return value


def set_label(values: Sequence[str]) -> str:
    """A set of values as {a, b}, so that each value can be read back, whatever signs or blanks it contains."""
    return "{" + ", ".join(_in_set(value) for value in values) + "}"


def _in_set(value: str) -> str:
    """A value in quotation marks if a reader could mistake its signs, or blanks at its ends."""
    if value != value.strip() or not value or any(ord(sign) < ord(" ") for sign in value):
        return '"' + value.replace('"', '""') + '"'
    return quoted(value, ",{}")
