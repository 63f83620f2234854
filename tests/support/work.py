"""How much work something is, counted instead of timed: the same on every machine, however busy it is."""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def counted_calls(work: Callable[[], Result]) -> tuple[Result, int]:
    """The result of some work, and how many functions of Python and C it called.

    A loop over a million rows in Python calls at least a million functions, one in a compiled library calls one.
    """
    profile = cProfile.Profile()
    result = profile.runcall(work)
    return result, sum(entry.callcount for entry in profile.getstats())
