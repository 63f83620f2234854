"""The rows at the highest risk, identified by number, never by value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kohorte.errors import InputError
from kohorte.in_words import ROWS, Unit
from kohorte.kernels.arrays import Floats
from kohorte.risks.shown.alike import Alike
from kohorte.risks.shown.table import ShownTable
from kohorte.risks.special_uniques import SpecialUniques

MOST_SETS = 5


@dataclass(frozen=True)
class RowRisk:
    """A row by its number (1 is the first row below the header), and why its risk is high.

    `class_size` counts the rows of its class, or their people. `singled_out_by` lists the smallest sets of attributes
    that make the row unique. `alike_without` counts for each attribute those that would look like this row if the
    attribute were not shown. `dis_suda` is the probability that a match with the row is correct; None if the sampling
    fraction is unknown or the row has no score. If people are judged by all their rows, all of this is about the person
    of the row; if a release does not say who that is, about the person of its class who is at the highest risk.
    """

    row: int
    class_size: int
    risk: float
    journalist_risk: float
    score: float
    dis_suda: float | None
    singled_out_by: tuple[tuple[str, ...], ...]
    alike_without: dict[str, int]
    unit: Unit = ROWS

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
            "alike_without": [{"attribute": name, self.unit.many: alike} for name, alike in self.alike_without.items()],
        }


def rows_at_highest_risk(
    table: ShownTable, groups: Alike, uniques: SpecialUniques, journalist: Floats, count: int
) -> tuple[RowRisk, ...]:
    """The rows with the fewest others alike, sorted by that number, descending score and row number."""
    if type(count) is not int or count < 0:
        raise InputError(
            f"rows (--rows): the number of rows to list must be at least 0, not {count!r}", code="risk-rows"
        )
    group_of, known = groups.group_of_row, uniques.dis_suda
    chosen = np.lexsort((table.kept, -uniques.scores[group_of], groups.sizes[group_of]))[:count].tolist()
    numbers = group_of[chosen].tolist() if chosen else []
    all_columns = range(len(table.names))
    without = [groups.sizes_by([other for other in all_columns if other != left_out]) for left_out in all_columns]
    return tuple(
        RowRisk(
            row=int(table.row_numbers[position]),
            class_size=int(groups.sizes[number]),
            risk=1 / int(groups.sizes[number]),
            journalist_risk=float(journalist[number]),
            score=float(uniques.scores[number]),
            dis_suda=None if known is None or not known[number] else float(known[number]),
            singled_out_by=tuple(
                tuple(table.names[column] for column in own) for own in uniques.sets_of(number)[:MOST_SETS]
            ),
            alike_without={name: int(sizes[number]) for name, sizes in zip(table.names, without, strict=True)},
            unit=groups.unit,
        )
        for position, number in zip(chosen, numbers, strict=True)
    )
