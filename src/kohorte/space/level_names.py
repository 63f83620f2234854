"""The levels of each quasi-identifier by their meaning, with an example where one tells nothing about a person."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kohorte.groups import different_people
from kohorte.hierarchies import SUPPRESSED, Builder, CsvFile, Dates, Intervals, Rows, Tree
from kohorte.in_words import FEW
from kohorte.kernels.arrays import Counts
from kohorte.plans.plan import Plan
from kohorte.release.words import level_in_words
from kohorte.sources import EncodedColumn, EncodedTable

WRITTEN_IN_THE_PLAN = (CsvFile, Dates, Intervals, Rows, Tree)
"""Builders whose labels are periods, intervals or words of a file; others make labels from the texts of cells."""

Examples = tuple[tuple[str | None, ...], ...]


def examples_of(table: EncodedTable, plan: Plan) -> Examples:
    """For each quasi-identifier and level of the lattice a label that many share; None where there is none to show.

    It is the label of most people, or rows if rows are counted. It is shown if at least k and at least ten share it, if
    it is not a value itself, and if labels are not made from the characters of values.
    """
    builders = {name: plan.attributes[name].hierarchy for name in plan.quasi_identifiers}
    least = max(FEW, plan.smallest_class)
    return tuple(
        tuple(
            _example(table, column, level, least) if isinstance(builders[column.name], WRITTEN_IN_THE_PLAN) else None
            for level in range(len(column.labels))
        )
        for column in table.columns
    )


def _example(table: EncodedTable, column: EncodedColumn, level: int, least: int) -> str | None:
    labels = column.labels[level]
    sizes = _sizes(table, column, level)
    values = set(column.values)
    shared = [
        (-size, label)
        for label, size in zip(labels, sizes.tolist(), strict=True)
        if size >= least and label is not None and label != SUPPRESSED and label not in values
    ]
    return min(shared)[1] if shared else None


def _sizes(table: EncodedTable, column: EncodedColumn, level: int) -> Counts:
    """The people, or rows, with each label of a level."""
    groups, count = column.maps[level][column.codes], len(column.labels[level])
    if table.persons is not None:
        return different_people(groups, table.persons.codes, count)
    return np.bincount(groups, weights=table.weights, minlength=count).astype(np.int64)


def meanings(
    builders: Mapping[str, Builder | None], levels: Mapping[str, range], examples: Examples = ()
) -> tuple[tuple[str, ...], ...]:
    """The levels of each attribute in words; the last of its levels is the top."""
    return tuple(
        tuple(
            level_in_words(builders[name], level, own[-1], examples[axis][place] if examples else None)
            for place, level in enumerate(own)
        )
        for axis, (name, own) in enumerate(levels.items())
    )
