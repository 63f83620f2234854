"""Why a series loses more than Mondrian: the shape of its cells, or the choice of its splits?

`python -m benchmarks shapes` releases made-up numbers once and measures four losses on the same axes: those of the
regions of a series and of Mondrian, and those of the same classes if their cells ended at the values that occur. A
series must not show such cells, so the factor between its regions and its own cells is the price of their shape. The
factor between its own cells and those of Mondrian is the price of its choice of splits. Their product is the whole.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.report import Line
from kohorte.models import KAnonymity
from kohorte.series.domain.measures import NumberAxis
from kohorte.series.domain.region_cells import region_loss
from kohorte.series.domain.regions import Regions
from kohorte.series.splitting.group_check import GroupCheck
from kohorte.series.splitting.refine import refine
from testbed.growing_cohort import share_of_values
from testbed.plain_mondrian import mondrian_regions

ROWS, LENGTH, ATTRIBUTES, K = 10_000, 1_000, 3, 5
KINDS = {"strongly correlated": 10.0, "weakly correlated": 100.0, "two of three correlated": 10.0, "independent": 0.0}
"""How far the attributes are from each other: the standard deviation, in positions of 1,000."""


def run() -> list[Line]:
    """One line for each kind of table."""
    return [_line(kind, noise) for kind, noise in KINDS.items()]


def _line(kind: str, noise: float) -> Line:
    places, started = _table(kind, noise), perf_counter()
    axes = [NumberAxis(f"q{number}", False, ((0, LENGTH),), 1) for number in range(ATTRIBUTES)]
    weights, rows = [1.0] * ATTRIBUTES, len(places)
    check = GroupCheck([KAnonymity(k=K)], rows, ATTRIBUTES, ())
    whole = Regions.of([[(0, LENGTH)] * ATTRIBUTES])
    refined = refine(whole, places, check, axes=axes, weights=weights)
    seconds = perf_counter() - started
    theirs, class_of = mondrian_regions(places, np.arange(rows), [LENGTH] * ATTRIBUTES, k=K, distinct=1)
    frame = pl.DataFrame({axis.name: places[:, number].astype(str) for number, axis in enumerate(axes)})
    own = region_loss(axes, weights, refined.regions, refined.region_of, rows=rows)
    cells, cells_of_mondrian = (
        float(np.mean([share_of_values(axis, frame, of) for axis in axes]))
        for of in (np.unique(refined.region_of, return_inverse=True)[1], class_of)
    )
    right = int(np.bincount(refined.region_of).min()) >= K and cells <= own
    note = (
        f"loss {own:.4f}, its cells {cells:.4f}, Mondrian's cells {cells_of_mondrian:.4f} and regions "
        f"{region_loss(axes, weights, theirs, class_of, rows=rows):.4f}: {own / cells_of_mondrian:.2f} x its cells = "
        f"{own / cells:.2f} (shape) x {cells / cells_of_mondrian:.2f} (choice)"
    )
    return Line(f"one release of a series, {kind}", right, seconds, target=5.0, note=note)


def _table(kind: str, noise: float) -> NDArray[np.int64]:
    random = np.random.default_rng(1)
    columns = [random.integers(0, LENGTH, ROWS)]
    for number in range(1, ATTRIBUTES):
        alone = not noise or (kind.startswith("two") and number > 1)
        near = columns[0] + random.normal(0, noise or 1.0, ROWS).astype(np.int64)
        columns.append(random.integers(0, LENGTH, ROWS) if alone else np.clip(near, 0, LENGTH - 1))
    return np.stack(columns, axis=1)


def main() -> int:
    """Print all lines; exit code 1 if a region is too small."""
    lines = run()
    for line in lines:
        print(line.text(), flush=True)
    return 0 if all(line.right for line in lines) else 1
