"""The table with the most cells of exactly one person, as an integer program that HiGHS solves (scipy.optimize.milp).

For each cell s says that it holds one person, m that it holds more, and y how many beyond two: it holds s + 2 m + y.
All are whole numbers, s + m <= 1 and y <= (largest number - 2) m. The margins are equations; sum s becomes as large as
possible. The rooms of the categories and the bound of worst_case.py, proven there, cut off what cannot be, and a
category with more people than cells has a cell with more than one.

Nothing rests on floating-point numbers alone: a table counts only if it has the margins in whole numbers, and a bound
is rounded up where it is less than a millionth below a whole number. The solver works in a process of its own, because
it writes to standard output whatever it is told, and so that it can be ended.
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

Table = npt.NDArray[np.int64]

SECONDS = 2.0
PATIENCE = 15.0
"""Seconds after which the process is ended, should the solver not keep to its limit."""
NEARLY = 1e-6


def room(count: int, combinations: int) -> int:
    """How many cells of a category of `count` people, in so many combinations, can have one person (worst_case.py)."""
    return count if count <= combinations else combinations - 1


@lru_cache(maxsize=1_000)
def search(margins: tuple[tuple[int, ...], ...], *, most: int, seconds: float = SECONDS) -> tuple[int, int]:
    """A bound for the cells with one person, at most `most`, and how many a table that was found has (0 if none).

    Where no process can be started nothing is found, and the bound stays.
    """
    if not Path(sys.executable or "").name.lower().startswith(("python", "pypy")):
        return most, 0
    command = [sys.executable, "-P", "-c", f"from {__name__} import answer; answer()"]
    question = json.dumps({"margins": [list(map(int, block)) for block in margins], "most": most, "seconds": seconds})
    try:
        done = subprocess.run(command, input=question.encode(), capture_output=True, timeout=PATIENCE, check=True)  # noqa: S603  # our own interpreter
        bound, cells = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return most, 0
    return min(most, bound), singles_if_right(margins, cells)


def answer() -> None:
    """Solve what standard input asks; the answer alone goes to standard output."""
    output = os.dup(1)
    os.dup2(2, 1)
    question = json.loads(sys.stdin.buffer.read())
    bound, table = solve(question["margins"], most=question["most"], seconds=question["seconds"])
    with os.fdopen(output, "w", encoding="utf-8") as stream:
        json.dump([bound, None if table is None else table.tolist()], stream)


def singles_if_right(margins: Sequence[Sequence[int]], cells: Sequence[int] | None) -> int:
    """How many cells of a table, in order, hold one person; 0 if it has not the margins."""
    if cells is None or len(cells) != math.prod(len(block) for block in margins):
        return 0
    table = np.asarray(cells, dtype=np.int64).reshape([len(block) for block in margins])
    for axis, block in enumerate(margins):
        others = tuple(other for other in range(table.ndim) if other != axis)
        if table.sum(axis=others).tolist() != list(block):
            return 0
    return int((table == 1).sum()) if bool((table >= 0).all()) else 0


def solve(margins: Sequence[Sequence[int]], *, most: int, seconds: float = SECONDS) -> tuple[int, Table | None]:
    """A bound for the cells with one person, at most `most`, and the cells of the best table that was found."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # type: ignore[import-untyped]

    matrix, low, high, largest = _program(margins, most)
    cells = matrix.shape[1] // 3
    found = milp(
        np.concatenate([-np.ones(cells), np.zeros(2 * cells)]),
        integrality=np.ones(3 * cells),
        bounds=Bounds(0, largest),
        constraints=LinearConstraint(matrix, low, high),
        options={"time_limit": seconds, "mip_rel_gap": 0},
    )
    bound = found.mip_dual_bound
    if bound is not None and math.isfinite(bound):
        most = min(most, math.floor(-bound + NEARLY))
    if found.x is None:
        return most, None
    whole = np.rint(found.x).astype(np.int64).reshape(3, cells)
    return most, whole[0] + 2 * whole[1] + whole[2]


def _program(margins: Sequence[Sequence[int]], most: int) -> tuple[Any, Table, Table, Table]:
    """The rows of the program with their smallest and largest values, and the largest value of each column."""
    from scipy.sparse import block_array, csr_array, diags_array, eye_array  # type: ignore[import-untyped]

    shape = [len(block) for block in margins]
    cells, people = math.prod(shape), sum(margins[0])
    places = np.indices(shape).reshape(len(shape), cells)
    count = np.array([number for block in margins for number in block], dtype=np.int64)
    combinations = np.array([cells // len(block) for block in margins for _ in block], dtype=np.int64)
    crowded = (count > combinations).astype(np.int64)
    rooms = np.array([room(*pair) for pair in zip(count.tolist(), combinations.tolist(), strict=True)], dtype=np.int64)
    holds = np.min([np.array(block)[place] for block, place in zip(margins, places, strict=True)], axis=0)
    sums = csr_array(
        np.concatenate(
            [place == np.arange(length)[:, None] for place, length in zip(places, shape, strict=True)]
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
    low = np.concatenate([count, nothing, nothing - people, 0 * rooms, crowded, [0]])
    high = np.concatenate([count, nothing + 1, nothing, rooms, 0 * count + cells, [most]])
    return matrix, low, high, np.concatenate([nothing + 1, (holds >= 2).astype(np.int64), beyond])
