"""Changes to an edited hierarchy: labels, rows, and whole levels."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from kohorte.errors import InputError
from kohorte.pages.style import clean

Rows = list[list[str]]
_CELL = re.compile(r"cell-([0-9]{1,7})-([0-9]{1,3})")
LONGEST_LABEL = 1_000


def plain_json(content: Any) -> str:
    """Write something for a hidden field: pages replace some characters, and keep numbers and % together."""
    return json.dumps(content, separators=(",", ":")).replace("%", "\\u0025")


def rows_from(text: str) -> Rows:
    """Read the rows that the form sent back: written short, or as `[[value, level 1, ...], ...]`."""
    try:
        found: Any = json.loads(text) if text else []
        rows = _long(found) if isinstance(found, dict) else found
    except (ValueError, RecursionError, KeyError, IndexError, TypeError):
        rows = None
    if not isinstance(rows, list) or not all(_is_row(row) for row in rows):
        raise InputError(
            "the hierarchy that the form sent back cannot be read; open the page again", code="hierarchy-form"
        )
    return rows


def rows_to(rows: Sequence[Sequence[str]]) -> str:
    """Write rows of the same length for the form; a label that many rows have is written once."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    return plain_json({"values": columns[0] if columns else [], "levels": [_short(column) for column in columns[1:]]})


def _short(column: Sequence[str]) -> dict[str, list[Any]]:
    codes = {label: code for code, label in enumerate(dict.fromkeys(column))}
    return {"labels": list(codes), "rows": [codes[label] for label in column]}


def _long(found: dict[str, Any]) -> Rows:
    columns = [found["values"]]
    columns += [[level["labels"][code] for code in level["rows"]] for level in found["levels"]]
    return [list(row) for row in zip(*columns, strict=True)]


def with_cells(rows: Rows, cells: Iterable[tuple[str, str]], *, everywhere: bool = False) -> Rows:
    """Return the rows with the labels that were typed; `everywhere`: equal labels of the same level change, too.

    A label that comes back as the page showed it stays as it was. Fields that are no cells are left out.
    """
    changed = [list(row) for row in rows]
    names: dict[tuple[int, str], str] = {}
    for name, typed in cells:
        found = _CELL.fullmatch(name)
        row, level = (int(found[1]), int(found[2])) if found else (len(changed), 0)
        if row >= len(changed) or not 0 < level < len(changed[row]) or typed == _as_shown(rows[row][level]):
            continue
        label = typed[:LONGEST_LABEL].replace("\u00a0%", " %")
        changed[row][level] = label
        names[level, rows[row][level]] = label
    if not everywhere:
        return changed
    return [[names.get((level, label), label) for level, label in enumerate(row)] for row in changed]


def without_rows(rows: Rows, numbers: Collection[int]) -> Rows:
    """Return the rows without some of them."""
    return [row for number, row in enumerate(rows) if number not in numbers]


def with_level(rows: Rows, level: int) -> Rows:
    """Return the rows with one more level above a level; it begins with the same labels."""
    return [[*row[: level + 1], row[level], *row[level + 1 :]] if level < len(row) else row for row in rows]


def without_level(rows: Rows, level: int) -> Rows:
    """Return the rows without a level; the values stay."""
    return [[*row[:level], *row[level + 1 :]] if 0 < level < len(row) else row for row in rows]


def _as_shown(label: str) -> str:
    """A label as a field of the page shows it."""
    return clean(label).replace("\r", "").replace("\n", "")


def _is_row(row: object) -> bool:
    return isinstance(row, list) and bool(row) and all(isinstance(label, str) for label in row)
