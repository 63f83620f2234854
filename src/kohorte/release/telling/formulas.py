"""What certificate and command say about cells that a spreadsheet program could run as formulas; never a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from kohorte.data import FormulaCells, Formulas, TableFile
from kohorte.data.formulas import bare_formulas, is_formula
from kohorte.in_words import count
from kohorte.plans.plan import Plan
from kohorte.sources import COUNT, TableSource


@dataclass(frozen=True)
class ToldFormulas:
    """What was done with formulas, and where: cells with an apostrophe (`quote`), or cells as they are (`as_is`)."""

    policy: Formulas
    found: FormulaCells

    @classmethod
    def of(cls, table: TableSource, plan: Plan, quoted: FormulaCells | None = None) -> ToldFormulas:
        """Tell about a release; `quoted` are the cells that have an apostrophe in its file, if there is one."""
        if plan.formulas is Formulas.QUOTE:
            return cls(plan.formulas, FormulaCells() if quoted is None else quoted)
        return cls(plan.formulas, formula_cells(table))

    @classmethod
    def from_dict(cls, facts: Any) -> ToldFormulas:
        """Read what a certificate says."""
        return cls(Formulas(facts["policy"]), FormulaCells(facts["cells"], tuple(facts["column_names"])))

    @property
    def open_points(self) -> list[str]:
        """What a person has to decide about: formulas that are written as they are."""
        if self.policy is Formulas.QUOTE or not self.found:
            return []
        return [f"{_may_run(self.found)}; they are released as they are (formulas: as_is)"]

    @property
    def notes(self) -> list[str]:
        """What a reader of the file should know: where apostrophes were added."""
        if self.policy is not Formulas.QUOTE or not self.found:
            return []
        return [
            f"an apostrophe was put before {_where(self.found)}, so that no spreadsheet program runs them as formulas "
            "(formulas: quote); remove it for other programs"
        ]

    def to_dict(self) -> dict[str, object]:
        """The policy, the number of cells in each column, and the names of columns that are formulas themselves."""
        return {
            "policy": str(self.policy),
            "cells": dict(self.found.cells),
            "column_names": list(self.found.names),
        }


def formula_cells(table: TableSource) -> FormulaCells:
    """Count the cells of a table that a spreadsheet program could run as formulas."""
    names = pl.Series(table.columns, dtype=pl.String)
    counts = {name: _rows_with_formulas(table.count_shown([name]), name) for name in table.columns}
    return FormulaCells(
        {name: number for name, number in counts.items() if number}, tuple(names.filter(is_formula(names)))
    )


def file_points(file: TableFile, plan: Plan) -> Sequence[str]:
    """The open point of a CSV file with formulas that lack the apostrophe which the plan wants."""
    if file.format != "csv" or plan.formulas is not Formulas.QUOTE:
        return ()
    found = bare_formulas(file.frame)
    return (f"{_may_run(found)}; they have no apostrophe, although the plan says formulas: quote",) if found else ()


def _rows_with_formulas(counted: pl.DataFrame, name: str) -> int:
    return int(counted[COUNT].filter(is_formula(counted[name])).sum())


def _may_run(found: FormulaCells) -> str:
    return f"a spreadsheet program may run {_where(found)} as formulas"


def _where(found: FormulaCells) -> str:
    cells = [f"{count(number, 'cell')} of {name!r}" for name, number in found.cells.items()]
    return " and ".join(filter(None, (", ".join(cells), _columns(found.names))))


def _columns(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names))
    return f"the column name{'s' if len(names) > 1 else ''} {shown}" if names else ""
