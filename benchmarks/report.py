"""How benchmarks report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One measurement: was the answer right, and were time and memory within their targets?"""

    what: str
    right: bool
    seconds: float
    target: float
    note: str = ""
    megabytes: float | None = None
    megabytes_target: float | None = None

    @property
    def within(self) -> bool:
        """Whether time and memory are within their targets."""
        memory = self.megabytes is None or self.megabytes_target is None or self.megabytes <= self.megabytes_target
        return self.seconds <= self.target and memory

    def text(self) -> str:
        """The line as printed."""
        verdict = "WRONG ANSWER" if not self.right else "ok" if self.within else "SLOW"
        memory = "" if self.megabytes is None else f"  {self.megabytes:6.0f} MB (target {self.megabytes_target:.0f})"
        time = f"{self.seconds * 1e3:9.2f} ms (target {self.target * 1e3:8.2f})"
        return f"{verdict:<12} {self.what:<58} {time}{memory}  {self.note}"
