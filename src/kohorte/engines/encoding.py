"""Dictionary encoding: every quasi-identifier as codes, and what each code becomes at each level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.engines.sensitive import SensitiveColumn, in_order
from kohorte.errors import InputError
from kohorte.groups import Column, Domain, Marginals
from kohorte.hierarchy import SUPPRESSED, Builder, Hierarchy
from kohorte.kernels.arrays import Bools, Codes, Floats

SHOWN_ROWS = 10


class Missing(StrEnum):
    """What happens to rows with a missing value (null, NaN, empty text) in a quasi-identifier."""

    CATEGORY = "category"  # missing is a value of its own, at every level below the top
    SUPPRESS = "suppress"  # such rows are suppressed and count towards the suppression limit
    REFUSE = "refuse"  # such tables are refused


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """The codes of one column; `labels[level][generalized code]` is what the output shows, None for missing.

    `values[code]` is the value itself. The levels are those from `finest` on: where that is not 0, the finer ones may
    not be shown, and level 0 of `maps`, `labels` and `shares` is level `finest` of the hierarchy.
    """

    name: str
    hierarchy: Hierarchy = field(repr=False)
    codes: Codes = field(repr=False)
    maps: tuple[Codes, ...] = field(repr=False)
    labels: tuple[tuple[str | None, ...], ...] = field(repr=False)
    shares: tuple[Floats, ...] = field(repr=False)
    values: tuple[str | None, ...] = field(repr=False)
    finest: int = 0

    def from_level(self, finest: int) -> EncodedColumn:
        """Return the column without the levels below `finest`."""
        if finest > self.hierarchy.top:
            raise InputError(
                f"column {self.name!r}: minimum_level is {finest}, but the hierarchy ends with level "
                f"{self.hierarchy.top}",
                code="minimum-level-beyond",
            )
        return replace(
            self, maps=self.maps[finest:], labels=self.labels[finest:], shares=self.shares[finest:], finest=finest
        )

    def generalized(self, level: int, codes: Codes | None = None) -> pl.Series:
        """The column (or these codes of it) as the output shows it at a level."""
        labels = pl.Series(self.name, self.labels[level], dtype=pl.String)
        return labels.gather(self.maps[level][self.codes if codes is None else codes])


@dataclass(frozen=True, eq=False)
class EncodedPopulation:
    """The quasi-identifiers of the people of a population who are not rows of the table, or who all are besides it.

    `includes_table`: the rows of the table belong to the population, too.
    """

    codes: Codes = field(repr=False)
    includes_table: bool = False


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """The encoded columns of a table; `included` tells which rows take part in classes.

    `columns` are the quasi-identifiers, `sensitive` the attributes whose histograms and `populations` the populations
    that the models ask for.
    """

    rows: int
    columns: tuple[EncodedColumn, ...]
    included: Bools
    sensitive: tuple[SensitiveColumn, ...] = ()
    populations: Mapping[str, EncodedPopulation] = field(default_factory=dict)

    @property
    def domains(self) -> dict[str, Domain]:
        """The values of the sensitive attributes."""
        return {column.name: column.domain for column in self.sensitive}

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
                    finest=column.finest,
                )
                for column in self.columns
            ),
        )


@dataclass(frozen=True, eq=False)
class People:
    """A population as a table that has the quasi-identifiers; `includes_table`: the rows of the table come on top."""

    frame: pl.DataFrame = field(repr=False)
    includes_table: bool = False


def encode(
    frame: pl.DataFrame,
    hierarchies: Mapping[str, Builder | Hierarchy],
    *,
    missing: Missing,
    sensitive: Mapping[str, Builder | None] = MappingProxyType({}),
    populations: Mapping[str, People] = MappingProxyType({}),
    finest: Mapping[str, int] = MappingProxyType({}),
) -> EncodedTable:
    """Encode quasi-identifiers, sensitive columns and populations, and apply the policy for missing values.

    `finest` is the lowest level of each quasi-identifier that may be shown.
    A hierarchy that depends on the values of the data is made for those of the populations, too, but not for those of
    rows that the policy for missing values excludes.
    """
    texts = {name: as_text(frame[name]) for name in hierarchies}
    included = _included(texts, missing)
    columns: list[EncodedColumn] = []
    of_people: dict[str, list[Codes]] = {key: [] for key in populations}
    for name, hierarchy in hierarchies.items():
        own = texts[name]
        if populations and not included.all():  # as if they were not there: whoever verifies does not know them
            own = pl.select(pl.when(pl.Series(included)).then(own)).to_series().alias(name)
        people = [as_text(population.frame[name]) for population in populations.values()]
        column = _encode_column(pl.concat([own, *people]) if people else own, hierarchy, rows=len(own))
        codes, *others = np.split(column.codes, np.cumsum([len(own), *map(len, people)])[:-1])
        columns.append(replace(column, codes=codes).from_level(finest.get(name, 0)))
        for key, their_codes in zip(populations, others, strict=True):
            of_people[key].append(their_codes)
    return EncodedTable(
        rows=frame.height,
        columns=tuple(columns),
        included=included,
        sensitive=tuple(encode_sensitive(as_text(frame[name]), builder) for name, builder in sensitive.items()),
        populations={
            key: EncodedPopulation(np.stack(of_people[key], axis=1), population.includes_table)
            for key, population in populations.items()
        },
    )


def _included(texts: Mapping[str, pl.Series], missing: Missing) -> Bools:
    """Tell which rows take part in classes, by the policy for missing values."""
    included = np.ones(len(next(iter(texts.values()))), dtype=bool)
    for name, text in texts.items():
        absent = text.is_null()
        if missing is Missing.REFUSE and absent.any():
            raise InputError(
                f"column {name!r} has {which_rows(absent)} without a value, and the plan says 'missing: refuse'",
                code="missing-refused",
            )
        if missing is Missing.SUPPRESS:
            included &= ~absent.to_numpy()
    return included


def encode_sensitive(text: pl.Series, builder: Builder | None) -> SensitiveColumn:
    """Encode a sensitive column: its values in their order, and with their hierarchy, where they have these."""
    if builder is None:
        distinct = text.drop_nulls().unique().sort()
        codes = text.cast(pl.Enum(distinct)).to_physical().cast(pl.UInt32).fill_null(len(distinct)).to_numpy()
        return in_order(text, codes, (), builder)
    column = _encode_column(text, builder, rows=len(text))
    return in_order(text, column.codes, column.maps, builder)


def _encode_column(text: pl.Series, builder: Builder | Hierarchy, *, rows: int) -> EncodedColumn:
    """Encode the first `rows` values, which are those of the table, and all others, which are those of populations."""
    name = text.name
    distinct = text.drop_nulls().unique().sort()
    hierarchy = builder if isinstance(builder, Hierarchy) else builder.build(distinct.to_list(), attribute=name)
    positions = hierarchy.encode(distinct)
    if (positions < 0).any():
        unknown = distinct.filter(pl.Series(positions < 0))
        strange = text.is_in(unknown.implode()).fill_null(value=False)
        where = (
            which_rows(strange[:rows]) if strange[:rows].any() else f"{which_rows(strange[rows:])} of the population"
        )
        raise InputError(
            f"column {name!r}: the hierarchy does not know {len(unknown):,} of {len(distinct):,} distinct values, "
            f"in {where}",
            code="value-not-in-hierarchy",
        )
    codes = text.cast(pl.Enum(distinct)).to_physical().cast(pl.UInt32)
    levels = [_level(hierarchy, level, positions) for level in range(hierarchy.top + 1)]
    if text.null_count():
        codes = codes.fill_null(len(distinct))
        levels = _with_missing(hierarchy, levels)
    of_value, values, _ = levels[0]
    return EncodedColumn(
        name=name,
        hierarchy=hierarchy,
        codes=codes.to_numpy(),
        maps=tuple(level[0] for level in levels),
        labels=tuple(level[1] for level in levels),
        shares=tuple(level[2] for level in levels),
        values=tuple(values[group] for group in of_value.tolist()),
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


def which_rows(selected: pl.Series) -> str:
    """Say how many rows are selected and which come first: row 1 is the first row below the header."""
    numbers = (selected.arg_true() + 1).to_list()
    shown = ", ".join(str(number) for number in numbers[:SHOWN_ROWS])
    more = ", ..." if len(numbers) > SHOWN_ROWS else ""
    return f"{len(numbers):,} row{'' if len(numbers) == 1 else 's'} ({shown}{more})"
