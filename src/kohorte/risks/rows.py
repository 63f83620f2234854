"""The rows at the highest risk, identified by number, never by value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kohorte.errors import InputError
from kohorte.kernels.arrays import Floats
from kohorte.risks.shown.table import ShownTable
from kohorte.risks.special_uniques import SpecialUniques, names_of

MOST_SETS = 5


@dataclass(frozen=True)
class RowRisk:
    """A row by its number (1 is the first row below the header), and why its risk is high.

    `singled_out_by` lists the smallest sets of attributes that make the row unique. `alike_without` counts for each
    attribute the rows that would look like this one if the attribute were not shown. `dis_suda` is the probability that
    a match with the row is correct; None if the sampling fraction is unknown or the row has no score.
    """

    row: int
    class_size: int
    risk: float
    journalist_risk: float
    score: float
    dis_suda: float | None
    singled_out_by: tuple[tuple[str, ...], ...]
    alike_without: dict[str, int]

    def to_dict(self) -> dict[str, object]:
        """The row as plain data."""
        return {
            "row": self.row,
            "class_size": self.class_size,
            "risk": self.risk,
            "journalist_risk": self.journalist_risk,
            "score": self.score,
            "dis_suda": self.dis_suda,
            "singled_out_by": [list(names) for names in self.singled_out_by],
            "alike_without": [{"attribute": name, "rows": rows} for name, rows in self.alike_without.items()],
        }


def rows_at_highest_risk(
    table: ShownTable, uniques: SpecialUniques, journalist: Floats, count: int
) -> tuple[RowRisk, ...]:
    """The rows in the smallest classes, sorted by class size, descending score and row number."""
    if type(count) is not int or count < 0:
        raise InputError(
            f"rows (--rows): the number of rows to list must be at least 0, not {count!r}", code="risk-rows"
        )
    sizes, scores = table.sizes[table.class_of], uniques.scores[table.class_of]
    chosen = np.lexsort((table.kept, -scores, sizes))[:count].tolist()
    numbers = table.class_of[chosen].tolist() if chosen else []
    all_columns, known = range(len(table.names)), uniques.dis_suda
    without = [table.rows_alike([other for other in all_columns if other != left_out]) for left_out in all_columns]
    return tuple(
        RowRisk(
            row=int(table.row_numbers[position]),
            class_size=int(table.sizes[number]),
            risk=1 / int(table.sizes[number]),
            journalist_risk=float(journalist[number]),
            score=float(uniques.scores[number]),
            dis_suda=None if known is None or not known[number] else float(known[number]),
            singled_out_by=tuple(names_of(table, chosen) for chosen in uniques.sets_of(number)[:MOST_SETS]),
            alike_without={name: int(rows[number]) for name, rows in zip(table.names, without, strict=True)},
        )
        for position, number in zip(chosen, numbers, strict=True)
    )
