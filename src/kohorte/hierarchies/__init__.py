"""Generalization hierarchies, and the builders that make them from a plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kohorte.errors import InputError, member_named
from kohorte.hierarchies.bounds import Bounds
from kohorte.hierarchies.builder import Builder, Options
from kohorte.hierarchies.builders.csv_file import CsvFile
from kohorte.hierarchies.builders.dates import Dates
from kohorte.hierarchies.builders.intervals import Intervals
from kohorte.hierarchies.builders.ordering import Ordering
from kohorte.hierarchies.builders.redaction import Redaction
from kohorte.hierarchies.builders.rows import Rows
from kohorte.hierarchies.builders.safe_harbor import SafeHarbor
from kohorte.hierarchies.builders.tree import Tree
from kohorte.hierarchies.check import HierarchyCheck, check_hierarchy
from kohorte.hierarchies.examination import Examination, Fault, Place, examine
from kohorte.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from kohorte.hierarchies.label_counts import LabelCount, label_counts
from kohorte.hierarchies.show import show, to_csv

__all__ = [
    "BUILDERS",
    "SUPPRESSED",
    "Bounds",
    "Builder",
    "CsvFile",
    "Dates",
    "Examination",
    "Fault",
    "Hierarchy",
    "HierarchyCheck",
    "Intervals",
    "LabelCount",
    "Options",
    "Ordering",
    "Place",
    "Redaction",
    "Rows",
    "SafeHarbor",
    "Tree",
    "builder_from_dict",
    "builder_to_dict",
    "check_hierarchy",
    "examine",
    "label_counts",
    "show",
    "to_csv",
]

BUILDERS: tuple[type[Builder], ...] = (Redaction, Intervals, Ordering, Dates, CsvFile, Rows, Tree, SafeHarbor)


def builder_from_dict(entry: object, *, folder: Path) -> Builder:
    """The builder that a plan describes as `{name: options}`; relative file names refer to `folder`."""
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise InputError(
            f"a hierarchy is written as {{name: options}}; name is one of "
            f"{', '.join(builder.name for builder in BUILDERS)}",
            code="hierarchy-entry-invalid",
        )
    name, options = next(iter(entry.items()))
    builder = member_named(str(name), BUILDERS, what="hierarchy", code="hierarchy-builder-unknown")
    return builder.from_dict({} if options is None else options, folder=folder)


def builder_to_dict(builder: Builder) -> dict[str, Options]:
    """The builder as a plan writes it; `builder_from_dict` reads it back."""
    return {builder.name: builder.to_dict()}
