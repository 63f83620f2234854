"""How certain it is that a patient of the house is in an answer: the share of those who look alike who are in it.

If all farmers of 40 to 59 who are patients are in the answer about drug X, then everybody who knows one of them knows
that he gets X, without finding his row. What the condition says about known attributes counts like a label: if it asks
for people of 60 and more who get X, only patients of 60 and more hide each other.

Source
    Nergiz, Atzori and Clifton, Hiding the Presence of Individuals from Shared Databases, SIGMOD 2007 (delta-presence).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.exchange.checking.rows import Rows
from kohorte.exchange.checking.shown_labels import labels_of, numbered_classes, people_per_value
from kohorte.kernels.arrays import Floats
from kohorte.plans.hierarchies import VALUE_OR_STAR
from kohorte.release import Candidate

CELL = "\0cell"


def presence(labels: pl.DataFrame, rows: Rows, found: Candidate, levels: Mapping[str, int]) -> Floats:
    """For each row of the base set: of the people of the table with its labels, the share who are in the base set.

    `labels` are those of the rows at the levels of the candidate. Only people of the same cell of the condition count.
    """
    shown = {name: found.levels[name] for name in levels}
    hierarchies = {}
    for name in shown:
        values = as_text(rows.whole[name]).drop_nulls().unique().sort().to_list()
        hierarchies[name] = (found.plan.attributes[name].hierarchy or VALUE_OR_STAR).build(values, attribute=name)
    everybody = labels_of(rows.whole, hierarchies, shown)
    own_cells, all_cells = (pl.Series(CELL, cells).cast(pl.String) for cells in (rows.cells, rows.whole_cells))
    classes = numbered_classes(pl.concat([labels.with_columns(own_cells), everybody.with_columns(all_cells)]))
    own, all_rows = classes[: labels.height], classes[labels.height :]
    inside = people_per_value(own, rows.people)
    outside = people_per_value(all_rows, rows.table)
    size = max(len(inside), len(outside))
    padded = [np.pad(counts, (0, size - len(counts))) for counts in (inside, outside)]
    share: Floats = padded[0] / np.maximum(padded[1], 1)
    return share[own]
