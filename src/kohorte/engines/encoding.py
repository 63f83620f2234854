"""Dictionary encoding: every quasi-identifier as codes, and what each code becomes at each level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.errors import InputError
from kohorte.groups import Column, Marginals
from kohorte.hierarchy import SUPPRESSED, Builder, Hierarchy
from kohorte.kernels.arrays import Bools, Codes, Counts, Floats

SHOWN_ROWS = 10


class Missing(StrEnum):
    """What happens to rows with a missing value (null, NaN, empty text) in a quasi-identifier."""

    CATEGORY = "category"  # missing is a value of its own, at every level below the top
    SUPPRESS = "suppress"  # such rows are suppressed and count towards the suppression limit
    REFUSE = "refuse"  # such tables are refused


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """The codes of one column; `labels[level][generalized code]` is what the output shows, None for missing."""

    name: str
    hierarchy: Hierarchy = field(repr=False)
    codes: Codes = field(repr=False)
    maps: tuple[Codes, ...] = field(repr=False)
    labels: tuple[tuple[str | None, ...], ...] = field(repr=False)
    shares: tuple[Floats, ...] = field(repr=False)

    def generalized(self, level: int, codes: Codes | None = None) -> pl.Series:
        """The column (or these codes of it) as the output shows it at a level."""
        labels = pl.Series(self.name, self.labels[level], dtype=pl.String)
        return labels.gather(self.maps[level][self.codes if codes is None else codes])


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """The codes of a sensitive attribute, and how often each occurs; a missing value is a value of its own."""

    name: str
    codes: Codes
    overall: Counts


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """The encoded columns of a table; `included` tells which rows take part in classes.

    `columns` are the quasi-identifiers, `sensitive` the attributes whose histograms the models ask for.
    """

    rows: int
    columns: tuple[EncodedColumn, ...]
    included: Bools
    sensitive: tuple[SensitiveColumn, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each quasi-identifier."""
        return tuple(len(column.maps) for column in self.columns)

    def marginals(self, weights: Mapping[str, float]) -> Marginals:
        """The frequencies of the single columns over all included rows."""
        return Marginals(
            rows=self.rows,
            columns=tuple(
                Column(
                    name=column.name,
                    counts=np.bincount(column.codes[self.included], minlength=len(column.maps[0])),
                    maps=column.maps,
                    shares=column.shares,
                    weight=weights.get(column.name, 1.0),
                )
                for column in self.columns
            ),
        )


def encode(
    frame: pl.DataFrame,
    hierarchies: Mapping[str, Builder | Hierarchy],
    *,
    missing: Missing,
    sensitive: Sequence[str] = (),
) -> EncodedTable:
    """Encode quasi-identifiers and sensitive columns, and apply the policy for missing values."""
    included = np.ones(frame.height, dtype=bool)
    columns = []
    for name, hierarchy in hierarchies.items():
        text = as_text(frame[name])
        absent = text.is_null()
        if missing is Missing.REFUSE and absent.any():
            raise InputError(
                f"column {name!r} has {_rows(absent)} without a value, and the plan says 'missing: refuse'",
                code="missing-refused",
            )
        if missing is Missing.SUPPRESS:
            included &= ~absent.to_numpy()
        columns.append(_encode_column(text, hierarchy))
    return EncodedTable(
        rows=frame.height,
        columns=tuple(columns),
        included=included,
        sensitive=tuple(_encode_sensitive(as_text(frame[name])) for name in sensitive),
    )


def _encode_sensitive(text: pl.Series) -> SensitiveColumn:
    distinct = text.drop_nulls().unique().sort()
    codes = text.cast(pl.Enum(distinct)).to_physical().cast(pl.UInt32).fill_null(len(distinct))
    return SensitiveColumn(text.name, codes.to_numpy(), np.bincount(codes.to_numpy()))


def _encode_column(text: pl.Series, builder: Builder | Hierarchy) -> EncodedColumn:
    name = text.name
    distinct = text.drop_nulls().unique().sort()
    hierarchy = builder if isinstance(builder, Hierarchy) else builder.build(distinct.to_list(), attribute=name)
    positions = hierarchy.encode(distinct)
    if (positions < 0).any():
        unknown = distinct.filter(pl.Series(positions < 0))
        rows = text.is_in(unknown.implode())
        raise InputError(
            f"column {name!r}: the hierarchy does not know {len(unknown):,} of {len(distinct):,} distinct values, "
            f"in {_rows(rows.fill_null(value=False))}",
            code="value-not-in-hierarchy",
        )
    codes = text.cast(pl.Enum(distinct)).to_physical().cast(pl.UInt32)
    levels = [_level(hierarchy, level, positions) for level in range(hierarchy.top + 1)]
    if text.null_count():
        codes = codes.fill_null(len(distinct))
        levels = _with_missing(hierarchy, levels)
    return EncodedColumn(
        name=name,
        hierarchy=hierarchy,
        codes=codes.to_numpy(),
        maps=tuple(level[0] for level in levels),
        labels=tuple(level[1] for level in levels),
        shares=tuple(level[2] for level in levels),
    )


_Level = tuple[Codes, tuple[str | None, ...], Floats]


def _level(hierarchy: Hierarchy, level: int, positions: np.ndarray[tuple[int], np.dtype[np.int64]]) -> _Level:
    """Number the groups of a level that occur in the data: (code -> group, label of group, share of group)."""
    used, mapped = np.unique(hierarchy.groups[level][positions], return_inverse=True)
    labels = hierarchy.labels[level]
    return mapped.astype(np.uint32), tuple(labels[group] for group in used), hierarchy.shares[level][used]


def _with_missing(hierarchy: Hierarchy, levels: Sequence[_Level]) -> list[_Level]:
    """Give missing a code of its own: as the hierarchy says for the empty value, or a group of its own below `*`."""
    stated = hierarchy.encode(pl.Series([""], dtype=pl.String))[0]
    extended: list[_Level] = []
    for level, (mapped, labels, shares) in enumerate(levels):
        label = hierarchy.labels[level][hierarchy.groups[level][stated]] if stated >= 0 else None
        if hierarchy.labels[level] == (SUPPRESSED,):
            label = SUPPRESSED
        label = label or None
        share = 1.0 if label == SUPPRESSED else 0.0
        if stated >= 0:
            share = float(hierarchy.shares[level][hierarchy.groups[level][stated]])
        if label in labels:
            code = labels.index(label)
        else:
            code, labels, shares = len(labels), (*labels, label), np.append(shares, share)
        if label == SUPPRESSED:
            shares = np.ones(len(labels))  # with missing as a value of its own, even one other value makes two
        extended.append((np.append(mapped, np.uint32(code)), labels, shares))
    return extended


def _rows(selected: pl.Series) -> str:
    """Say how many rows are selected and which come first: row 1 is the first row below the header."""
    numbers = (selected.arg_true() + 1).to_list()
    shown = ", ".join(str(number) for number in numbers[:SHOWN_ROWS])
    more = ", ..." if len(numbers) > SHOWN_ROWS else ""
    return f"{len(numbers):,} row{'' if len(numbers) == 1 else 's'} ({shown}{more})"
