"""How many people would be alone with their answers: few, some or many."""

from __future__ import annotations

from enum import StrEnum

FEW, MANY = 1.0, 10.0
"""Percentages: the verdict says "few" up to the first, and "many" from the second on."""


class Standing(StrEnum):
    """The verdict in a word; `FEW` is only expected, and `FEW_AT_WORST` holds in the worst case, too."""

    FEW_AT_WORST = "few-at-worst"
    FEW = "few"
    SOME = "some"
    MANY = "many"


def standing_of(percent: float, worst: float) -> Standing:
    """Return the verdict for the expected percentage and the percentage of the worst case, or a bound of it."""
    if percent <= FEW:
        return Standing.FEW_AT_WORST if worst <= FEW else Standing.FEW
    return Standing.MANY if percent >= MANY else Standing.SOME
