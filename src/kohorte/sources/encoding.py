"""Dictionary encoding of tuples: the codes of every quasi-identifier, and their generalization at each level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from kohorte.errors import InputError
from kohorte.groups import Column, Domain, Marginals
from kohorte.hierarchies import SUPPRESSED, Builder, Hierarchy
from kohorte.kernels.arrays import Bools, Codes, Counts, Floats
from kohorte.lattice import Node
from kohorte.sources.base import TableSource, Tuples
from kohorte.sources.frame import FrameSource
from kohorte.sources.missing import Missing, included_tuples
from kohorte.sources.persons import PersonColumns, Persons
from kohorte.sources.sensitive import SensitiveColumn, in_order
from kohorte.sources.unknown_values import error_for, to_name


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """The codes of one column; `labels[level][generalized code]` is the released text, None for missing.

    `values[code]` is the value itself. Levels below `finest` may not be shown: level 0 of `maps`, `labels` and `shares`
    is level `finest` of the hierarchy.
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
        """The labels of the column (or of these codes) at a level."""
        return self.labelled(level, self.maps[level][self.codes if codes is None else codes])

    def labelled(self, level: int, generalized: Codes) -> pl.Series:
        """The labels of generalized codes."""
        return pl.Series(self.name, self.labels[level], dtype=pl.String).gather(generalized)

    def coded(self, level: int) -> pl.Series:
        """The labels of the column at a level, or `*`, as numbers of labels, not as a text for each row."""
        labels = self.labels[level]
        known = pl.Enum(list(dict.fromkeys(label for label in (*labels, SUPPRESSED) if label is not None)))
        return pl.Series(self.name, labels, dtype=known).gather(self.maps[level][self.codes])


@dataclass(frozen=True, eq=False)
class EncodedPopulation:
    """The quasi-identifiers of a population; `weights[t]` rows have the tuple `codes[t]`.

    If `includes_table`, the rows of the table also belong to the population and have to be added. Each row is a person
    unless `persons` tells whom it is about.
    """

    codes: Codes = field(repr=False)
    weights: Counts = field(repr=False)
    includes_table: bool = False
    persons: Codes | None = field(default=None, repr=False)  # numbered as in the table


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """The encoded columns of a table, tuple by tuple; `weights[t]` rows have tuple `t`.

    `included` tells which tuples are in classes. `columns` are the quasi-identifiers; `sensitive` and `populations` are
    the sensitive attributes and the populations that the models need. A tuple may occur more than once. `persons` tells
    whom each tuple is about, if people are counted.
    """

    columns: tuple[EncodedColumn, ...]
    weights: Counts = field(repr=False)
    included: Bools = field(repr=False)
    sensitive: tuple[SensitiveColumn, ...] = ()
    populations: Mapping[str, EncodedPopulation] = field(default_factory=dict)
    merged: bool = False  # no two tuples look the same at the finest node
    persons: Persons | None = None  # if people are counted

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.weights.sum())

    @cached_property
    def excluded(self) -> int:
        """The number of excluded rows, which are in no class."""
        return int(self.weights[~self.included].sum())

    @property
    def domains(self) -> dict[str, Domain]:
        """The domains of the sensitive attributes, as models count them: in people if people are counted."""
        if self.persons is not None:
            return dict(self.persons.domains)
        return {column.name: column.domain for column in self.sensitive}

    @property
    def size(self) -> int:
        """The number of people if people are counted, otherwise of rows."""
        return self.rows if self.persons is None else self.persons.count

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
                    counts=self._frequencies(column),
                    maps=column.maps,
                    shares=column.shares,
                    weight=weights.get(column.name, 1.0),
                    finest=column.finest,
                )
                for column in self.columns
            ),
        )

    def _frequencies(self, column: EncodedColumn) -> Counts:
        codes, weights = column.codes, self.weights
        if not self.included.all():
            codes, weights = codes[self.included], weights[self.included]
        repeated = weights > 1  # of large tables most often few, and counting without weights is faster
        once = np.bincount(codes, minlength=len(column.maps[0]))
        return once + np.bincount(codes[repeated], weights[repeated] - 1, len(once)).astype(np.int64)

    def chosen(self, tuples: Codes | Counts) -> EncodedTable:
        """The table of these tuples, possibly repeated; each stands for one row."""
        return replace(
            self,
            columns=tuple(replace(column, codes=column.codes[tuples]) for column in self.columns),
            weights=np.ones(len(tuples), dtype=np.int64),
            included=self.included[tuples],
            merged=False,
            sensitive=tuple(replace(column, codes=column.codes[tuples]) for column in self.sensitive),
            persons=None if self.persons is None else self.persons.chosen(tuples),
        )

    def row_by_row(self) -> EncodedTable:
        """The same table with one tuple for each row; identical rows are interchangeable."""
        if (self.weights == 1).all():
            return self
        return self.chosen(np.repeat(np.arange(len(self.weights)), self.weights))

    def shown(self, node: Node, kept: Bools) -> pl.DataFrame:
        """The tuples generalized to a node as coded columns, with `*` in all that are not kept.

        Columns at level 0 are left out if nothing is suppressed, because they do not change.
        """
        whole = bool(kept.all())
        levels = zip(self.columns, node, strict=True)
        chosen = [(column, level) for column, level in levels if not whole or level + column.finest]
        columns = [column.coded(level) for column, level in chosen]
        if not whole:
            which = pl.Series(kept)
            columns = [column.zip_with(which, pl.Series([SUPPRESSED], dtype=column.dtype)) for column in columns]
        return pl.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class People:
    """A population as a frame with the quasi-identifiers; see `EncodedPopulation`.

    If it `names_people`, it also has the columns that say whom a row is about.
    """

    frame: pl.DataFrame = field(repr=False)
    includes_table: bool = False
    names_people: bool = False


def encode_rows(frame: pl.DataFrame, hierarchies: Mapping[str, Builder | Hierarchy], **options: Any) -> EncodedTable:
    """Encode a frame row by row, with the options of `encode`: tuple `t` is row `t`."""
    source = FrameSource(frame, merged=False)
    return encode(source, source.distinct([*hierarchies, *options.get("sensitive", ())]), hierarchies, **options)


def encode(
    source: TableSource,
    tuples: Tuples,
    hierarchies: Mapping[str, Builder | Hierarchy],
    *,
    missing: Missing,
    sensitive: Mapping[str, Builder | None] = MappingProxyType({}),
    populations: Mapping[str, People] = MappingProxyType({}),
    finest: Mapping[str, int] = MappingProxyType({}),
    person: PersonColumns | None = None,
) -> EncodedTable:
    """Encode the tuples of a source and the populations, and apply the policy for missing values.

    `person` names the columns that say whom a row is about, if people are counted. `finest` is the lowest level of each
    quasi-identifier that may be shown. A hierarchy that depends on the data is built from the values of the included
    rows and of the populations.
    """
    included = included_tuples(source, tuples, list(hierarchies), missing)
    people = {key: FrameSource(population.frame) for key, population in populations.items()}
    known = () if person is None else person.columns
    of_people = {
        key: own.distinct([*hierarchies, *(name for name in known if populations[key].names_people)])
        for key, own in people.items()
    }
    parts = [_Part(source, tuples, None if included.all() or not people else included)]
    parts += [_Part(people[key], own, None, " of the population") for key, own in of_people.items()]
    columns, codes = [], []
    for name, hierarchy in hierarchies.items():
        column, others = _encode_column(name, hierarchy, parts)
        columns.append(column.from_level(finest.get(name, 0)))
        codes.append(others)
    for name in sensitive:
        _refuse_stars(name, _Part(source, tuples))
    counted = tuple(_encode_sensitive(name, builder, tuples, source) for name, builder in sensitive.items())
    tied = {key: own for key, own in of_people.items() if populations[key].names_people}
    persons, of_population = (None, []) if person is None else person.numbered(source, tuples, list(tied.values()))
    numbered = dict(zip(tied, of_population, strict=True)) if person is not None else {}
    apart = all(map(_all_different, columns)) and all(_is_told_apart(column, tuples) for column in counted)
    return EncodedTable(
        columns=tuple(columns),
        weights=tuples.counts,
        included=included,
        sensitive=counted,
        populations={
            key: EncodedPopulation(
                np.stack(own, axis=1), of_people[key].counts, populations[key].includes_table, numbered.get(key)
            )
            for key, own in zip(populations, zip(*codes, strict=True), strict=True)
        },
        merged=tuples.merged and not populations and apart and persons is None,
        persons=None if persons is None else persons.with_domains(counted),
    )


def _all_different(column: EncodedColumn) -> bool:
    """Whether all values of a column have different labels at the finest level."""
    return len(column.labels[0]) == len(column.maps[0])


def _is_told_apart(column: SensitiveColumn, tuples: Tuples) -> bool:
    """Whether each text of a sensitive attribute is a value of its own, as 1 and 1.0 are not."""
    texts = len(tuples.values[tuples.columns.index(column.name)]) + bool(tuples.absent(column.name).any())
    return len(column.domain.overall) == texts


@dataclass(frozen=True, eq=False)
class _Part:
    """The tuples of the table or of a population; all parts share their hierarchies.

    If `counted` is given, values that occur only in other tuples are treated as missing, because a person who verifies
    a release does not know them.
    """

    source: TableSource
    tuples: Tuples
    counted: Bools | None = None
    whose: str = ""

    def column(self, name: str) -> tuple[pl.Series, Codes]:
        """The distinct values of a column, and the code of each tuple."""
        position = self.tuples.columns.index(name)
        values, codes = self.tuples.values[position], self.tuples.codes[:, position]
        if self.counted is None:
            return values, codes
        used = np.unique(codes[self.counted])
        renumber = np.full(len(values) + 1, len(used), dtype=np.uint32)
        renumber[used] = np.arange(len(used))
        return values.gather(used), np.where(self.counted, renumber[codes], np.uint32(len(used)))


def encode_sensitive(text: pl.Series, builder: Builder | None, weights: Counts | None = None) -> SensitiveColumn:
    """Encode a sensitive column, with the order and the hierarchy of its values if there are any.

    `weights` are the rows that each value stands for (default 1).
    """
    source = FrameSource(text.to_frame(), merged=False, counts=weights)
    return _encode_sensitive(text.name, builder, source.distinct([text.name]), source)


def _encode_sensitive(name: str, builder: Builder | None, tuples: Tuples, source: TableSource) -> SensitiveColumn:
    part = _Part(source, tuples)
    distinct, codes = part.column(name)
    maps = () if builder is None else _encode_column(name, builder, [part])[0].maps
    return in_order(name, distinct, codes, weights=tuples.counts, maps=maps, builder=builder)


def _encode_column(
    name: str, builder: Builder | Hierarchy, parts: Sequence[_Part]
) -> tuple[EncodedColumn, list[Codes]]:
    """Encode a column of all parts; return the column of the first part, and the codes of the others."""
    own = [part.column(name) for part in parts]
    distinct = pl.concat([values for values, _ in own]).unique().sort() if len(own) > 1 else own[0][0]
    hierarchy = builder if isinstance(builder, Hierarchy) else builder.build(distinct.to_list(), attribute=name)
    positions = hierarchy.encode(distinct)
    if (positions < 0).any():
        raise _unknown_values(name, distinct, positions < 0, parts)
    codes = [codes if len(own) == 1 else _renumbered(values, codes, distinct) for values, codes in own]
    levels = [_level(hierarchy, level, positions) for level in range(hierarchy.top + 1)]
    if any((one == len(distinct)).any() for one in codes):
        levels = _with_missing(hierarchy, levels)
    of_value, values, _ = levels[0]
    column = EncodedColumn(
        name=name,
        hierarchy=hierarchy,
        codes=codes[0],
        maps=tuple(level[0] for level in levels),
        labels=tuple(level[1] for level in levels),
        shares=tuple(level[2] for level in levels),
        values=tuple(values[group] for group in of_value.tolist()),
    )
    return column, codes[1:]


def _renumbered(values: pl.Series, codes: Codes, distinct: pl.Series) -> Codes:
    """Convert the codes of a part to codes of the values of all parts; missing comes last."""
    numbers = values.cast(pl.Enum(distinct)).to_physical().cast(pl.UInt32).to_numpy()
    renumbered: Codes = np.append(numbers, np.uint32(len(distinct)))[codes]
    return renumbered


def _refuse_stars(name: str, table: _Part) -> None:
    """Refuse `*` in a sensitive column: it would count as one more value, and make a class diverse that is not."""
    distinct, _ = table.column(name)
    if SUPPRESSED in distinct:
        raise _unknown_values(name, distinct, (distinct == SUPPRESSED).to_numpy(), [table])


def _unknown_values(name: str, distinct: pl.Series, unknown: Bools, parts: Sequence[_Part]) -> InputError:
    """The error for values that a hierarchy does not contain: how many, and in which rows of which part."""
    strange = to_name(distinct.filter(pl.Series(unknown)))
    for part in parts:
        values, codes = part.column(name)
        selected = np.append(values.is_in(strange.implode()).to_numpy(), values=False)[codes]
        if selected.any():
            break
    where = f"{part.source.where(part.tuples, selected)}{part.whose}"
    return error_for(name, strange, distinct=len(distinct), where=where)


_Level = tuple[Codes, tuple[str | None, ...], Floats]


def _level(hierarchy: Hierarchy, level: int, positions: np.ndarray[tuple[int], np.dtype[np.int64]]) -> _Level:
    """Number the groups of a level that occur in the data: (code -> group, label of group, share of group)."""
    groups, labels = hierarchy.groups[level][positions], hierarchy.labels[level]
    occurs = np.bincount(groups, minlength=len(labels)) > 0  # np.unique would load all of numpy.ma
    mapped = (np.cumsum(occurs) - 1).astype(np.uint32)[groups]
    used = np.flatnonzero(occurs)
    return mapped, tuple(labels[group] for group in used.tolist()), hierarchy.shares[level][used]


def _with_missing(hierarchy: Hierarchy, levels: Sequence[_Level]) -> list[_Level]:
    """Add a code for missing: the group of the empty text in the hierarchy, or a separate group below `*`."""
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
            shares = np.ones(len(labels))  # missing is a second value, so `*` covers more than one
        extended.append((np.append(mapped, np.uint32(code)), labels, shares))
    return extended
