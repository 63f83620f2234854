"""Loops over the functions of a library for a group of points, in Python; the compiled kernel uses all cores."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from kohorte.kernels.arrays import Bytes, Codes

POINT_BYTES = 32
SCALAR_BYTES = 32
HASH_BYTES = 64
NONE = -1

_OUT, _IN = ctypes.POINTER(ctypes.c_char), ctypes.c_char_p
_BINARY = ctypes.CFUNCTYPE(ctypes.c_int, _OUT, _IN, _IN)
_UNARY = ctypes.CFUNCTYPE(ctypes.c_int, _OUT, _IN)
_TEST = ctypes.CFUNCTYPE(ctypes.c_int, _IN)

Answers = tuple[Bytes, int]
"""The answers, and the first row that the library refused, or NONE. A refused row of the answers is zero."""


class Ristretto:
    """Operations on rows of points, given the addresses of the functions of the library.

    Where two matrices are taken, one of them may have a single row that stands for as many as are needed.
    """

    def __init__(
        self, *, multiply: int, multiply_base: int, add: int, subtract: int, from_hash: int, is_valid: int
    ) -> None:
        self._multiply, self._multiply_base = _BINARY(multiply), _UNARY(multiply_base)
        self._add, self._subtract = _BINARY(add), _BINARY(subtract)
        self._from_hash, self._is_valid = _UNARY(from_hash), _TEST(is_valid)

    def multiply(self, scalars: Bytes, points: Bytes) -> Answers:
        """Multiply points by scalars; a product that is the neutral element is refused."""
        return _each(self._multiply, _rows(scalars, SCALAR_BYTES), _rows(points, POINT_BYTES))

    def multiply_base(self, scalars: Bytes) -> Answers:
        """Multiply the generator of the group; a product that is the neutral element is refused."""
        return _each(self._multiply_base, _rows(scalars, SCALAR_BYTES))

    def add(self, one: Bytes, other: Bytes) -> Answers:
        """Add points row by row."""
        return _each(self._add, _rows(one, POINT_BYTES), _rows(other, POINT_BYTES))

    def subtract(self, one: Bytes, other: Bytes) -> Answers:
        """Subtract points row by row."""
        return _each(self._subtract, _rows(one, POINT_BYTES), _rows(other, POINT_BYTES))

    def from_hash(self, hashes: Bytes) -> Answers:
        """Map hashes of 64 bytes to points."""
        return _each(self._from_hash, _rows(hashes, HASH_BYTES))

    def first_invalid(self, points: Bytes) -> int:
        """Return the first row that is not the encoding of a point, or NONE."""
        valid = (self._is_valid(row) == 1 for row in _rows(points, POINT_BYTES))
        return next((row for row, good in enumerate(valid) if not good), NONE)

    def sum_groups(self, points: Bytes, group_of: Codes, groups: int) -> Answers:
        """Add the points of each group; refused points are left out, and an empty group has the sum zero."""
        if len(group_of) != len(points):
            raise ValueError("points and groups do not fit together")
        if len(group_of) and int(group_of.max()) >= groups:
            raise ValueError("a group that does not exist")
        sums, refused, sum_ = [bytes(POINT_BYTES)] * groups, [NONE], ctypes.create_string_buffer(POINT_BYTES)
        for row, (point, group) in enumerate(zip(_rows(points, POINT_BYTES), group_of.tolist(), strict=True)):
            if self._add(sum_, sums[group], point) == 0:
                sums[group] = sum_.raw
            else:
                refused.append(row)
        return _matrix(sums), refused[:2][-1]


def _rows(matrix: Bytes, width: int) -> list[bytes]:
    if matrix.shape[1] != width:
        raise ValueError("points, scalars or hashes of another length")
    return [row.tobytes() for row in matrix]


def _each(function: Callable[..., int], *arguments: list[bytes]) -> Answers:
    rows = next((len(some) for some in arguments if len(some) != 1), 1)
    if any(len(some) not in (1, rows) for some in arguments):
        raise ValueError("unequal numbers of rows")
    columns = [some * rows if len(some) == 1 else some for some in arguments]
    answers, refused, answer = [], [NONE], ctypes.create_string_buffer(POINT_BYTES)
    for row, values in enumerate(zip(*columns, strict=True)):
        if function(answer, *values) == 0:
            answers.append(answer.raw)
        else:
            answers.append(bytes(POINT_BYTES))
            refused.append(row)
    return _matrix(answers), refused[:2][-1]


def _matrix(rows: list[bytes]) -> Bytes:
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, POINT_BYTES).copy()
