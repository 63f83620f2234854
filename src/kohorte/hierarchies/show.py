"""Hierarchies as readable text and as CSV."""

from __future__ import annotations

import polars as pl

from kohorte.hierarchies.hierarchy import Hierarchy


def show(hierarchy: Hierarchy, *, limit: int | None = None) -> str:
    """An aligned table of all levels, one line per value, the values of a group next to each other."""
    table = _grouped(hierarchy)
    shown = table if limit is None else table.head(limit)
    header = [f"level {level}" for level in range(table.width)]
    columns = [
        [name, *(_printable(label) for label in column)]
        for name, column in zip(header, shown.iter_columns(), strict=True)
    ]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in zip(*columns, strict=True)
    ]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    if more := table.height - shown.height:
        lines.append(f"... {more} more value{'s' if more > 1 else ''}")
    return "\n".join(lines)


def to_csv(hierarchy: Hierarchy) -> str:
    """The format of ARX, `value;level 1;...;*` without a header; `CsvFile` reads it back."""
    columns = [[_field(label) for label in column] for column in hierarchy.table().iter_columns()]
    return "".join(";".join(row) + "\n" for row in zip(*columns, strict=True))


def _grouped(hierarchy: Hierarchy) -> pl.DataFrame:
    """The table of labels, sorted from the top level down by the first appearance of each group."""
    table = hierarchy.table()
    order = pl.DataFrame({str(level): groups for level, groups in enumerate(hierarchy.groups)})
    position = order.select(pl.arg_sort_by([pl.col(name) for name in reversed(order.columns)])).to_series()
    return table[position]


def _printable(label: str) -> str:
    if label.isprintable():
        return label
    return "".join(sign if sign.isprintable() else f"\\x{{{ord(sign):x}}}" for sign in label)


def _field(label: str) -> str:
    if any(sign in label for sign in ';"\r\n\ufeff'):
        return '"' + label.replace('"', '""') + '"'
    return label
