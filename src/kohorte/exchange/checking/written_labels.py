"""Hierarchies whose labels can tell more than their level, and how they are kept out of an answer.

A label that the house has written can be any text, also the name of a person, and a list of values can have some that
the answer does not show, such as the villages of a state. A label made of the values that people here have tells which
these are: `nurse - pilot` in an answer about drug X says that somebody who gets X is a pilot, however many people look
alike, and the oldest and the heaviest patient are ends of spans.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from kohorte.data import as_text
from kohorte.hierarchies import Bounds, Dates, Intervals, Ordering, Redaction, SafeHarbor
from kohorte.hierarchies.builder import Builder
from kohorte.plans import Plan


def makes_labels(builder: Builder | None) -> bool:
    """Whether the program makes the labels of a hierarchy from the values: spans, first signs, groups of neighbours."""
    if isinstance(builder, Intervals):
        return all(isinstance(level, Bounds) and level.labels is None for level in builder.levels or ())
    return builder is None or isinstance(builder, Dates | Ordering | Redaction | SafeHarbor)


def lists_nothing(builder: Builder | None) -> bool:
    """Whether a plan that names the hierarchy contains neither labels nor values."""
    return makes_labels(builder) and not (isinstance(builder, Ordering) and builder.values is not None)


def without_lists(plan: Plan) -> Plan:
    """The plan of an answer as the certificate shows it: without labels and values that the house has listed."""
    shown = {
        name: one if lists_nothing(one.hierarchy) else replace(one, hierarchy=None)
        for name, one in plan.attributes.items()
    }
    return replace(plan, attributes=shown)


def groups_values_of_data(builder: Builder | None) -> bool:
    """Whether the labels of a hierarchy name values that people here have."""
    return builder is not None and builder.needs_all_values and not isinstance(builder, Redaction)


def without_groups_of_data(plan: Plan, table: pl.DataFrame) -> Plan:
    """The plan with hierarchies whose labels do not depend on whom a condition selects.

    Of columns whose values would be grouped only the values themselves can be shown. How many signs a mask hides
    depends on the whole table.
    """
    attributes = {}
    for name, one in plan.attributes.items():
        builder = one.hierarchy
        if groups_values_of_data(builder):
            attributes[name] = replace(one, hierarchy=None)
        elif isinstance(builder, Redaction) and builder.length is None and name in table.columns:
            values = as_text(table[name]).drop_nulls().unique().to_list()
            fixed = builder.fixed(builder.build(values, attribute=name))
            attributes[name] = replace(one, hierarchy=fixed) if values else one
        else:
            attributes[name] = one
    return replace(plan, attributes=attributes)
