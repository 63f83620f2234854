"""The rows of a table as a release shows them: labels, classes, and how frequent a label is in the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.exchange.checking.global_look import GlobalLook
from kohorte.exchange.statistics import Frequency
from kohorte.hierarchies import Hierarchy
from kohorte.kernels.arrays import Bools, Floats, Integers
from kohorte.kernels.distinct import distinct_numbers

MISSING = "\0missing"
SMALL = 1 << 22
"""So many numbers are told apart by counting."""


def labels_of(frame: pl.DataFrame, hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, int]) -> pl.DataFrame:
    """Each quasi-identifier of each row at its level; a missing cell stays missing below the top."""
    return pl.DataFrame([_labelled(as_text(frame[name]), hierarchies[name], level) for name, level in levels.items()])


def _labelled(text: pl.Series, hierarchy: Hierarchy, level: int) -> pl.Series:
    if level == hierarchy.top:
        return pl.Series(text.name, ["*"], dtype=pl.String).new_from_index(0, len(text))
    codes = pl.Series(hierarchy.encode(text)).cast(pl.Int64)
    labels = pl.Series(text.name, list(hierarchy.column(level)), dtype=pl.String)
    return labels.gather(pl.select(pl.when(codes >= 0).then(codes)).to_series())


def numbered_classes(labels: pl.DataFrame) -> Integers:
    """A number for each row, the same for rows that show the same labels."""
    numbers = np.zeros(labels.height, dtype=np.int64)
    for column in labels.get_columns():
        codes = column.fill_null(MISSING).cast(pl.Categorical).to_physical().cast(pl.Int64).to_numpy()
        numbers = numbers * (int(codes.max(initial=0)) + 1) + codes
        numbers = dense(numbers)
    return numbers


def dense(numbers: Integers) -> Integers:
    """The numbers as 0, 1, 2 ... in their order."""
    most = int(numbers.max(initial=0)) + 1
    if most <= SMALL:  # no larger than a few columns of a million rows: to count is several times as fast as to sort
        present = np.zeros(most, dtype=bool)
        present[numbers] = True
        return (np.cumsum(present, dtype=np.int64) - 1)[numbers]
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    first = np.append(False, ordered[1:] != ordered[:-1])
    dense = np.empty(len(numbers), dtype=np.int64)
    dense[order] = np.cumsum(first)
    return dense


def label_shares(hierarchy: Hierarchy, level: int, look: GlobalLook, name: str) -> Mapping[str, float | None]:
    """The share of the world that each label of a level stands for: the sum over those of its values that are here.

    Values that are not in the table would add to it, so that the sum is a lower bound. None: no value is known.
    """
    sums: dict[str, float | None] = {}
    known: dict[str, float | None] = {}
    for value, label in zip(hierarchy.values, hierarchy.column(level), strict=True):
        if value not in known:
            found = look.frequency(name, value)
            known[value] = found.share if isinstance(found, Frequency) else None
        share, before = known[value], sums.get(label)
        sums[label] = before if share is None else min(1.0, share + (before or 0.0))
    return {label: sums.get(label) for label in hierarchy.labels[level]}


def share_of_rows(labels: pl.Series, shares: Mapping[str, float | None], *, gap: float) -> Floats:
    """The share of the world for the label of each row; `gap` where nothing is known, and 1 where a cell is missing."""
    distinct = labels.drop_nulls().unique()
    numbers = [gap if shares.get(label) is None else float(shares[label] or 0.0) for label in distinct]
    table = pl.DataFrame([distinct.alias("label"), pl.Series("share", numbers, dtype=pl.Float64)])
    joined = labels.alias("label").to_frame().join(table, on="label", how="left", maintain_order="left")
    return joined["share"].fill_null(1.0).to_numpy()


def rare_rows(
    labels: pl.DataFrame, shares: Mapping[str, Mapping[str, float | None]], look: GlobalLook
) -> tuple[Bools, int | None]:
    """Which rows show a value or a combination that is rare in the world, and the fewest people with a kept one.

    The attributes of a combination are taken for independent, as long as no statistics say more.
    """
    policy, population = look.holding.policy, look.holding.population
    together = np.ones(labels.height)
    rare = np.zeros(labels.height, dtype=bool)
    for name, of_label in shares.items():
        own = share_of_rows(labels[name], of_label, gap=0.0 if policy.gaps == "rare" else 1.0)
        rare |= own < policy.rare_value
        together *= own
    expected = together * population
    rare |= expected < policy.rare_combination
    kept = expected[~rare]
    return rare, int(kept.min()) if len(kept) and len(shares) else None


def people_with(flags: Bools, people: Integers) -> int:
    """How many different people have a flagged row."""
    return int(np.count_nonzero(np.bincount(people[flags], minlength=1)))


def people_per_value(codes: Sequence[int] | Integers, people: Integers) -> Integers:
    """The number of different people with each code (from 0)."""
    most = int(people.max(initial=0)) + 1
    distinct = distinct_numbers(np.asarray(codes, dtype=np.int64) * most + people)
    return np.bincount(distinct // most)
