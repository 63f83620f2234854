"""A clock that is moved by hand."""

from __future__ import annotations

from datetime import UTC, datetime


class Clock:
    """Shows the time that was set."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time
