"""Whom each tuple is about: the persons of a table, numbered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import polars as pl

from kohorte.data import spelling_keys
from kohorte.errors import InputError
from kohorte.groups import Domain, Groups, different_people, people_with_values, rows_with_values
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.kernels.distinct import distinct_numbers
from kohorte.sources.base import TableSource, Tuples
from kohorte.sources.sensitive import SensitiveColumn


@dataclass(frozen=True, eq=False)
class Persons:
    """`codes[t]` is the number of the person whom tuple `t` is about; there are `count` people.

    If `by_sets`, people are judged by all their rows together. Tuples with the same number in `links` are visibly about
    the same person; None if nothing in the release ties rows together. `domains` are those of the sensitive attributes
    in the whole table, counted in people.
    """

    codes: Codes = field(repr=False)
    count: int
    by_sets: bool = False
    links: Codes | None = field(default=None, repr=False)
    domains: Mapping[str, Domain] = field(default_factory=dict, repr=False)

    def chosen(self, tuples: Codes | Counts) -> Persons:
        """The persons of these tuples, possibly repeated; they keep their numbers."""
        return replace(self, codes=self.codes[tuples], links=None if self.links is None else self.links[tuples])

    def with_domains(self, columns: Sequence[SensitiveColumn]) -> Persons:
        """Add the domains of sensitive attributes, in which a person counts once for each of their values."""
        found = {}
        for column in columns:
            width = len(column.domain.overall)
            pairs = distinct_numbers(self.codes.astype(np.int64) * width + column.codes)
            overall = np.bincount(pairs % width, minlength=width)
            found[column.name] = replace(column.domain, overall=overall, people=self.count)
        return replace(self, domains=found)


@dataclass(frozen=True)
class PersonColumns:
    """The columns that say whom a row is about, those that stay and tie rows together, and how people are judged."""

    columns: tuple[str, ...]
    links: tuple[str, ...] = ()
    by_sets: bool = False

    def numbered(
        self, source: TableSource, tuples: Tuples, others: Sequence[Tuples] = ()
    ) -> tuple[Persons, list[Codes]]:
        """Return the persons of the tuples, and the numbers of the same persons in other tuples."""
        codes, rest, count = _number(source, tuples, self.columns, others)
        links = None
        if self.links:
            links = _tied(source, tuples, self.links)
            _refuse_shared(links, codes)
        return Persons(codes, count, self.by_sets, links), rest


def _number(
    source: TableSource, tuples: Tuples, columns: Sequence[str], others: Sequence[Tuples] = ()
) -> tuple[Codes, list[Codes], int]:
    """Number the people by their keys, in other tuples alike; return how many the first ones are about."""
    own = [_present(source, tuples, name, numbered_keys(tuples, name)) for name in columns]
    if not others:
        numbers, count = _combined(own)
        return numbers, [], count
    parts = [pl.DataFrame([spelling_keys(one.text(name)) for name in columns]) for one in (tuples, *others)]
    every = pl.concat(parts).select(pl.struct(pl.all()).rank("dense") - 1).to_series().to_numpy()
    first, *rest = np.split(every.astype(np.uint32), np.cumsum([part.height for part in parts])[:-1])
    return first, rest, len(distinct_numbers(first))


Numbers: TypeAlias = tuple[Codes, int]
"""A number for each tuple, below the given one; this one itself if the value is missing."""


def numbered_keys(tuples: Tuples, name: str) -> Numbers:
    """Number the values of a column by their keys, so that all spellings of a value have one number."""
    codes, values = tuples.coded(name)
    keys = spelling_keys(tuples.values[tuples.columns.index(name)])
    distinct = keys.drop_nulls().unique()
    if len(distinct) == values:  # every value has a key of its own
        return codes, values
    of_value = keys.cast(pl.Enum(distinct)).to_physical().cast(pl.UInt32).fill_null(len(distinct)).to_numpy()
    return np.append(of_value, np.uint32(len(distinct)))[codes], len(distinct)


def _present(source: TableSource, tuples: Tuples, name: str, numbers: Numbers) -> Numbers:
    """Refuse a column that does not say of each row whom it is about; return its numbers."""
    absent: Bools = numbers[0] == numbers[1]
    if absent.any():
        raise InputError(
            f"people are counted by column {name!r}, which has {source.where(tuples, absent)} without a value; "
            "fill in the values or remove these rows",
            code="person-missing",
        )
    return numbers


def _combined(columns: Sequence[Numbers]) -> Numbers:
    """Number the combinations of values of several columns."""
    numbers = np.zeros(len(columns[0][0]), dtype=np.int64)
    for codes, values in columns:
        found, numbers = np.unique(numbers * values + codes, return_inverse=True)
    return numbers.astype(np.uint32), len(found)


def _tied(source: TableSource, tuples: Tuples, columns: Sequence[str]) -> Codes:
    """Number what ties tuples together; the ties of suppressed rows are hidden, so that each of them has its own."""
    links, count = _combined([_present(source, tuples, name, tuples.coded(name)) for name in columns])
    hidden = np.ones(len(links), dtype=bool)
    for name in columns:
        codes, values = tuples.coded(name)[0], tuples.values[tuples.columns.index(name)]
        hidden &= np.append((values == SUPPRESSED).to_numpy(), values=False)[codes]
    links[hidden] = count + np.arange(int(hidden.sum()), dtype=np.uint32)
    return links


def _refuse_shared(links: Codes, persons: Codes) -> None:
    """Refuse a column that ties rows together, but rows of different people."""
    pairs = distinct_numbers(links.astype(np.int64) << 32 | persons.astype(np.int64)) >> 32
    several = len(pairs) - len(distinct_numbers(pairs))
    if several:
        raise InputError(
            f"linked_by ties rows of different people together ({several:,} times); name a column whose values belong "
            "to one person each",
            code="linked-by-shared",
        )


def classes_of_rows(
    columns: Sequence[SensitiveColumn],
    class_of: Codes | Counts,
    classes: int,
    *,
    rows: Bools | Codes | Counts | None = None,
    attributes: int,
    persons: Persons | None = None,
) -> Groups:
    """The classes of rows (or of some of them) from the class of each row, with histograms of sensitive attributes.

    With `persons`, the classes are counted in people, too.
    """
    own = [column.codes if rows is None else column.codes[rows] for column in columns]
    histograms = {
        column.name: rows_with_values(class_of, values, None, classes, column.domain)
        for column, values in zip(columns, own, strict=True)
    }
    sizes = np.bincount(class_of, minlength=classes)
    groups = Groups(node=(), sizes=sizes, codes=_no_codes, histograms=histograms, attributes=attributes)
    if persons is None:
        return groups
    whom = persons.codes if rows is None else persons.codes[rows]
    people = different_people(class_of, whom, classes)
    counted = {
        column.name: people_with_values(class_of, values, whom, people, persons.domains[column.name])
        for column, values in zip(columns, own, strict=True)
    }
    return replace(groups, people=replace(groups, sizes=people, histograms=counted))


def _no_codes(which: Bools) -> Codes:
    raise AssertionError(f"classes that were given have no codes ({len(which)})")
