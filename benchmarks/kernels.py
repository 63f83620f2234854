"""Every kernel against its NumPy twin, on the same input and with the same answer."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.report import Line
from kohorte.kernels import KERNELS, csv_scan, csv_scan_reference, reference

REPETITIONS = 7


def _best(action: Callable[[], object]) -> tuple[float, object]:
    seconds = []
    for _ in range(REPETITIONS):
        started = perf_counter()
        answer = action()
        seconds.append(perf_counter() - started)
    return min(seconds), answer


def run() -> list[Line]:
    """Time grouping, cover and CSV scan; the compiled kernel must not be slower than its twin."""
    if KERNELS != "native":
        return []
    return [_grouping(), _cover(), _likely(), _guess(), _scan()]


def _grouping() -> Line:
    from kohorte.kernels import Grouper

    random = np.random.default_rng(1)
    domains = (72, 41, 16, 14, 7, 7, 5, 2, 2)
    maps = [
        [np.arange(size, dtype=np.uint32), np.arange(size, dtype=np.uint32) // 4, np.zeros(size, np.uint32)]
        for size in domains
    ]
    codes = np.stack([random.integers(0, size, 200_000).astype(np.uint32) for size in domains], axis=1)
    weights = np.ones(len(codes), dtype=np.int64)
    levels = np.array([1, 2, 1, 1, 2, 1, 0, 0, 2], dtype=np.uint32)
    compiled, twin = Grouper(maps), reference.Grouper(maps)
    rows, twin_rows = compiled.pack(codes), twin.pack(codes)
    seconds, answer = _best(lambda: compiled.group(rows, weights, levels, True))
    twin_seconds, expected = _best(lambda: twin.group(twin_rows, weights, levels, True))
    right = all(np.array_equal(a, b) for a, b in zip(answer, expected, strict=True))  # type: ignore[call-overload]
    return Line("kernel group, 200,000 rows", right=right, seconds=seconds, target=twin_seconds)


SHAPE = (2, 5, 2, 3, 4, 3, 3, 3, 2)


def _lattice() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    size = int(np.prod(SHAPE))
    flags = (random.random(size) < 0.3).astype(np.uint8)
    return flags, random.random(size), random.normal(size=60), random.normal(size=216)


def _cover() -> Line:
    from kohorte.kernels import best_covers

    flags, _, left, right = _lattice()
    barred = np.zeros_like(flags)
    seconds, answer = _best(lambda: best_covers(list(SHAPE), flags, barred, left, right, False, 1))
    twin_seconds, expected = _best(lambda: reference.best_covers(list(SHAPE), flags, barred, left, right, False, 1))
    return Line(
        "kernel best_covers, 12,960 nodes",
        right=answer == expected,
        seconds=seconds,
        target=twin_seconds,
        note="target: NumPy twin",
    )


def _likely() -> Line:
    from kohorte.kernels import least_likely

    _, values, left, right = _lattice()
    flags = (values < 0.02).astype(np.uint8)  # for most of a search few nodes are open
    sure = np.zeros_like(flags)
    seconds, answer = _best(lambda: least_likely(values, flags, sure, left, right))
    twin_seconds, expected = _best(lambda: reference.least_likely(values, flags, sure, left, right))
    return Line(
        "kernel least_likely, 12,960 nodes",
        right=answer == expected,
        seconds=seconds,
        target=twin_seconds,
        note="target: NumPy twin",
    )


def _learn(kernel: Any) -> tuple[object, ...]:
    guess = kernel.Guess(list(SHAPE), np.zeros(sum(SHAPE) + 1), np.ones(sum(SHAPE) + 1))
    for level in range(200):
        guess.learn([level % length for length in SHAPE], float(level % 7), 0.5)
    left, right = guess.scores(1.0, 0.7)
    return np.asarray(left).tolist(), np.asarray(right).tolist()


def _guess() -> Line:
    import kohorte.kernels

    seconds, answer = _best(lambda: _learn(kohorte.kernels))
    twin_seconds, expected = _best(lambda: _learn(reference))
    right = np.allclose(np.concatenate(answer), np.concatenate(expected))  # type: ignore[call-overload]
    return Line(
        "kernel Guess, 200 updates", right=right, seconds=seconds, target=twin_seconds, note="target: NumPy twin"
    )


def _scan() -> Line:
    data = np.frombuffer(b'12345,"a ""b"" c",x,2024-01-01\n' * 300_000, dtype=np.uint8)
    seconds, answer = _best(lambda: csv_scan(data, ord(","), 0))
    twin_seconds, expected = _best(lambda: csv_scan_reference.csv_scan(data, ord(","), 0))
    return Line(
        "kernel csv_scan, 9 MB",
        right=answer == expected,
        seconds=seconds,
        target=twin_seconds,
        note="target: NumPy twin",
    )
