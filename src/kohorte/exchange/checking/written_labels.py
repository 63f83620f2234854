"""Hierarchies whose labels or values the house has written itself, and how they are kept out of an answer.

Such a label can be any text, also the name of a person, and a list of values can have some that the answer does not
show, such as the villages of a state.
"""

from __future__ import annotations

from dataclasses import replace

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
