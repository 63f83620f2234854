"""Small discrete logarithms in ristretto255: which multiple of the generator is a point?

A table has the first multiples. A point that is not in it is lowered by the length of the table until it is
(baby steps and giant steps). The sum of all counts bounds the giant steps of honest counters, so that they are few.

Source
    Shanks: Class Number, a Theory of Factorization, and Genera, Proceedings of Symposia in Pure Mathematics 20, 1971.
"""

from __future__ import annotations

from functools import cache
from math import isqrt

import numpy as np

from kohorte.kernels.arrays import Counts
from kohorte.parties.ciphers import ristretto
from kohorte.parties.ciphers.counters.base import too_large
from kohorte.parties.ciphers.ristretto import Points

_LEAST_TABLE, _MOST_TABLE = 2**10, 2**16
_STRETCH = 16
"""The table is this many times as long as the square root of the largest count: it is computed once, steps often."""


def small_logarithms(points: Points, most: int) -> Counts:
    """Return the logarithm of each point; one above `most` is refused."""
    table = _table(_length(most))
    step = ristretto.multiply_base(ristretto.scalars_of([len(table)]))
    found = np.zeros(len(points), dtype=np.int64)
    pending = np.arange(len(points))
    for lowered in range(0, most + 1, len(table)):
        known = np.array([table.get(point.tobytes(), -1) for point in points], dtype=np.int64)
        found[pending] = lowered + known
        pending, points = pending[known < 0], points[known < 0]
        if not len(pending):
            break
        points = ristretto.subtract(points, step)
    refused = [*pending[:1].tolist(), *np.flatnonzero(found > most)[:1].tolist()]
    if refused:
        raise too_large(min(refused))
    return found


def _length(most: int) -> int:
    """Return the length of the table: a power of two, so that few tables are computed."""
    wanted = min(max(_STRETCH * isqrt(most), _LEAST_TABLE), _MOST_TABLE)
    return 1 << (wanted - 1).bit_length()


@cache
def _table(length: int) -> dict[bytes, int]:
    multiples = ristretto.multiply_base(ristretto.scalars_of(range(length)))
    return {point.tobytes(): count for count, point in enumerate(multiples)}
