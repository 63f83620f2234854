"""The table with the most cells of exactly one person, as an integer program that HiGHS solves (scipy.optimize.milp).

For each cell, s = 1 means one person, m = 1 more than one, and y counts those beyond two: the cell has s + 2 m + y
people. All are whole numbers, s + m <= 1 and y <= (largest number - 2) m. The margins are equations; sum s is
maximized, or minimized for the best case. The rooms of the categories and the bound of worst_case.py, proven there,
exclude impossible solutions, and a category with more people than cells has a cell with more than one.

Floating-point numbers alone are not trusted: a table counts only if it has the margins in whole numbers, and a bound
is rounded up if it is less than a millionth below a whole number.

The result does not depend on time: the search ends after a fixed number of nodes of its tree, so that every machine
gives the same answer. HiGHS (Huangfu and Hall, Parallelizing the dual revised simplex method, Mathematical Programming
Computation 10, 2018) is deterministic without a time limit. It runs in a separate process, because it writes to
standard output even in silent mode.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kohorte.errors import EngineError

Table = npt.NDArray[np.int64]

WORK = 200_000
"""Nodes of the search tree times cells to the power of 1.5, which is about how the time per node grows. Measured:
a few seconds on one core, and enough for random surveys of 27 cells with up to 100 people for each
(docs/decisions/0020-survey-expectation.md)."""
PATIENCE = 600.0
"""Seconds after which a solver that does not answer is an error; the result does not depend on it."""
NEARLY = 1e-6


def room(count: int, combinations: int) -> int:
    """How many of the `combinations` cells of a category with `count` people can have one person (worst_case.py)."""
    return count if count <= combinations else combinations - 1


def most_nodes(cells: int) -> int:
    """The number of nodes after which a search ends, for a number of cells."""
    return int(WORK / cells**1.5)


def search(margins: tuple[tuple[int, ...], ...], *, most: int) -> tuple[int, int]:
    """A bound for the number of cells with one person, at most `most`, and the number in the best table found (or 0).

    An application that embeds Python has no interpreter to start: then nothing is found, and the bound is `most`.
    """
    bound, cells = _solved(margins, (0, most), fewest=False)
    return min(most, bound), singles_if_right(margins, cells) or 0


def search_fewest(margins: tuple[tuple[int, ...], ...], *, least: int) -> tuple[int, int | None]:
    """A lower bound for the number of cells with one person, at least `least`, and the fewest in a table found."""
    bound, cells = _solved(margins, (least, sum(margins[0])), fewest=True)
    return max(least, bound), singles_if_right(margins, cells)


@lru_cache(maxsize=1_000)
def _solved(
    margins: tuple[tuple[int, ...], ...], between: tuple[int, int], *, fewest: bool
) -> tuple[int, Sequence[int] | None]:
    """The bound and the table of the program, solved in a process of its own."""
    if not Path(sys.executable or "").name.lower().startswith(("python", "pypy")):
        return between[not fewest], None
    command = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]
    program = {"margins": [list(map(int, block)) for block in margins], "between": between, "fewest": fewest}
    try:
        done = subprocess.run(  # noqa: S603  # our own interpreter
            command, input=json.dumps(program).encode(), capture_output=True, timeout=PATIENCE, check=True
        )
        bound, cells = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        raise EngineError("the solver for the worst case of a survey failed", code="survey-solver") from None
    return bound, cells


def main() -> None:
    """Solve the program on standard input; only its solution is written to standard output."""
    output = os.dup(1)
    os.dup2(2, 1)
    bound, table = solve(**json.loads(sys.stdin.buffer.read()))
    with os.fdopen(output, "w", encoding="utf-8") as stream:
        json.dump([bound, None if table is None else table.tolist()], stream)


def singles_if_right(margins: Sequence[Sequence[int]], cells: Sequence[int] | None) -> int | None:
    """The number of cells with one person in a table; None if it does not have the margins."""
    if cells is None or len(cells) != math.prod(len(block) for block in margins):
        return None
    table = np.asarray(cells, dtype=np.int64).reshape([len(block) for block in margins])
    for axis, block in enumerate(margins):
        others = tuple(other for other in range(table.ndim) if other != axis)
        if table.sum(axis=others).tolist() != list(block):
            return None
    return int((table == 1).sum()) if bool((table >= 0).all()) else None


def solve(
    margins: Sequence[Sequence[int]], *, between: tuple[int, int], fewest: bool = False, nodes: int | None = None
) -> tuple[int, Table | None]:
    """A bound for the number of cells with one person, and the cells of the best table found.

    The most are wanted, or the `fewest`; both ends of `between` are proven bounds. The search ends after `nodes` nodes,
    by default after `most_nodes`.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # type: ignore[import-untyped]

    least, most = between
    matrix, low, high, largest = _program(margins, least, most)
    cells = matrix.shape[1] // 3
    found = milp(
        np.concatenate([np.full(cells, 1.0 if fewest else -1.0), np.zeros(2 * cells)]),
        integrality=np.ones(3 * cells),
        bounds=Bounds(0, largest),
        constraints=LinearConstraint(matrix, low, high),
        options={"node_limit": most_nodes(cells) if nodes is None else nodes, "mip_rel_gap": 0},
    )
    bound, proven = found.mip_dual_bound, least if fewest else most
    if bound is not None and math.isfinite(bound):
        proven = max(least, math.ceil(bound - NEARLY)) if fewest else min(most, math.floor(-bound + NEARLY))
    if found.x is None:
        return proven, None
    whole = np.rint(found.x).astype(np.int64).reshape(3, cells)
    return proven, whole[0] + 2 * whole[1] + whole[2]


def _program(margins: Sequence[Sequence[int]], least: int, most: int) -> tuple[Any, Table, Table, Table]:
    """The rows of the program with their smallest and largest values, and the largest value of each column."""
    from scipy.sparse import block_array, csr_array, diags_array, eye_array  # type: ignore[import-untyped]

    shape = [len(block) for block in margins]
    cells, people = math.prod(shape), sum(margins[0])
    positions = np.indices(shape).reshape(len(shape), cells)
    count = np.array([number for block in margins for number in block], dtype=np.int64)
    combinations = np.array([cells // len(block) for block in margins for _ in block], dtype=np.int64)
    crowded = (count > combinations).astype(np.int64)
    rooms = np.array([room(*pair) for pair in zip(count.tolist(), combinations.tolist(), strict=True)], dtype=np.int64)
    holds = np.min([np.array(block)[position] for block, position in zip(margins, positions, strict=True)], axis=0)
    sums = csr_array(
        np.concatenate(
            [position == np.arange(length)[:, None] for position, length in zip(positions, shape, strict=True)]
        ).astype(float)
    )
    each, beyond = eye_array(cells), np.maximum(holds - 2, 0)
    matrix = block_array(
        [
            [sums, 2 * sums, sums],
            [each, each, None],
            [None, -diags_array(beyond.astype(float)), each],
            [sums, None, None],
            [None, sums, None],
            [csr_array(np.ones((1, cells))), None, None],
        ]
    ).tocsr()
    nothing = np.zeros(cells, dtype=np.int64)
    low = np.concatenate([count, nothing, nothing - people, 0 * rooms, crowded, [least]])
    high = np.concatenate([count, nothing + 1, nothing, rooms, 0 * count + cells, [most]])
    return matrix, low, high, np.concatenate([nothing + 1, (holds >= 2).astype(np.int64), beyond])
