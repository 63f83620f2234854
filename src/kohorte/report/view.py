"""The views of a report; imports nothing heavy, because the help of the command needs it."""

from __future__ import annotations

from enum import StrEnum


class View(StrEnum):
    """Who may read a report: everyone who gets the release, or only the institution."""

    PUBLIC = "public"
    INTERNAL = "internal"
