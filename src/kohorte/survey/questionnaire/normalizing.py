"""Divide frequencies that do not sum to 1 (rounded values, percentages, counts) by their sum before reading them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from kohorte.survey.questionnaire.frequencies import TOLERANCE, scaled

Sums = dict[str, float]


def with_sums_of_one(data: Mapping[str, Any]) -> tuple[dict[str, Any], Sums]:
    """Return the data of a survey with all frequencies divided by their sums, and the sums that were not 1.

    Malformed parts are not changed; reading the survey afterwards reports them.
    """
    sums: Sums = {}
    found = dict(data)
    questions, tables = data.get("questions"), data.get("joint")
    if isinstance(questions, Mapping):
        found["questions"] = {name: _question(str(name), entry, sums) for name, entry in questions.items()}
    if isinstance(tables, list | tuple):
        found["joint"] = [_table(entry, sums) for entry in tables]
    return found, sums


def _question(name: str, entry: Any, sums: Sums) -> Any:
    categories = entry.get("categories") if isinstance(entry, Mapping) else None
    if not isinstance(categories, Mapping) or not categories:
        return entry
    frequencies, total = scaled(list(categories.values()), where=f"question {name!r}: the frequencies")
    _remember(sums, name, total)
    return {**entry, "categories": dict(zip(categories, frequencies, strict=True))}


def _table(entry: Any, sums: Sums) -> Any:
    names = entry.get("questions") if isinstance(entry, Mapping) else None
    if not isinstance(names, list | tuple) or not (cells := _cells(entry.get("table"))):
        return entry
    name = " and ".join(map(str, names))
    frequencies, total = scaled(cells, where=f"joint: the cells of {name}")
    _remember(sums, name, total)
    return {**entry, "table": _filled(entry["table"], iter(frequencies))}


def _remember(sums: Sums, name: str, total: Fraction) -> None:
    if abs(total - 1) > TOLERANCE:
        sums[name] = float(total)


def _cells(table: Any) -> list[object]:
    """The numbers of nested lists, in order."""
    if not isinstance(table, list | tuple):
        return [] if table is None else [table]
    return [cell for row in table for cell in _cells(row)]


def _filled(table: Any, cells: Any) -> Any:
    """The same nested lists with other numbers."""
    if not isinstance(table, list | tuple):
        return next(cells)
    return [_filled(row, cells) for row in table]
