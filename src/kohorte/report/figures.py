"""Who reads a report, and figures in words; imports nothing heavy, because the help of the command needs it."""

from __future__ import annotations

from enum import StrEnum


class View(StrEnum):
    """Who may read a report: everybody who gets the release, or the house alone."""

    PUBLIC = "public"
    INTERNAL = "internal"


def percent(share: float | None) -> str:
    """A share for people."""
    if share is None:
        return "unknown"
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    return "below 0.001 %" if 0 < share < 1e-5 else f"{100 * share:.3g} %"


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
