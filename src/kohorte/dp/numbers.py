"""Checks for numbers in metadata, budgets and queries."""

from __future__ import annotations

LARGEST = 1e100
"""Bounds lie within, and steps are at least 1 / LARGEST, so that no sum, square or quotient overflows."""


def is_whole(number: object) -> bool:
    """Whether something is a whole number (not a boolean) that a float represents exactly."""
    return isinstance(number, int) and not isinstance(number, bool) and abs(number) < 2**53


def is_finite(number: object) -> bool:
    """Whether something is a number (not a boolean) whose square does not overflow a float."""
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= LARGEST
