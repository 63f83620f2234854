"""What a long computation is doing: its stage, how far it is, and the best result so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from kohorte.in_words import cost, count, percent

READABLE = 10**9
"""Larger numbers say nothing to people, and take the room of the other figures on a narrow terminal."""


class Stage(StrEnum):
    """The stages of long computations, as people read them."""

    READING = "reading"
    CHECKING = "checking"
    ENCODING = "encoding"
    SEARCHING = "searching"
    GENERALIZING = "generalizing"
    COUNTING = "counting"
    ESTIMATING = "estimating"
    ATTACKING = "attacking"
    COMPARING = "comparing"
    PSEUDONYMIZING = "pseudonymizing"
    WRITING = "writing"
    VERIFYING = "verifying"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a computation; of a search, the optimum costs at least `lower_bound` and at most `best_cost`.

    `settled` of `nodes` are done; `unit` says what they are. Without a unit nobody knows how far the stage is: `nodes`
    may then be more than will ever be looked at. `what` adds to the stage what it is about; it is never a cell value.
    A time limit ends the stage after `ends_in` seconds.
    """

    checked: int = 0
    nodes: int = 1
    settled: int = 0
    best_cost: float | None = None
    lower_bound: float = -math.inf
    stage: Stage = Stage.SEARCHING
    what: str = ""
    unit: str = "combinations"
    ends_in: float | None = None

    @property
    def share(self) -> float | None:
        """The share that is done; None if nobody knows."""
        return min(self.settled / max(self.nodes, 1), 1.0) if self.unit else None

    @property
    def in_words(self) -> str:
        """The progress for people; figures that say nothing are left out."""
        return self.with_time("")

    def with_time(self, left: str) -> str:
        """The same, with the time that is left before the costs: a narrow terminal shows what comes first."""
        title = f"{self.stage} {self.what}".rstrip()
        figures = [*self._counts(), *([left] if left else []), *self._costs()]
        return f"{title}: {', '.join(figures)}" if figures else title

    def _counts(self) -> list[str]:
        if self.unit and self.nodes <= READABLE:
            return [f"{count(self.settled)} of {count(self.nodes)} {self.unit}"]
        if self.unit and self.settled >= self.nodes / 1000:
            return [f"{percent(self.settled / self.nodes)} of {self.unit}"]
        return [f"{count(self.checked)} counted"] if self.checked else []

    def _costs(self) -> list[str]:
        best, least = self.best_cost, self.lower_bound
        if best is None or not math.isfinite(best):
            return []
        bounded = math.isfinite(least) and 0 < least < best
        return [f"best cost so far {cost(best)}", *([f"no better than {cost(least)} is possible"] if bounded else [])]


ProgressCallback = Callable[[Progress], object]
"""Called when a stage begins and several times a second; a search stops if it returns False, and returns the best."""


def tell(
    progress: ProgressCallback | None, stage: Stage, what: str = "", *, done: int = 0, of: int = 0, unit: str = ""
) -> None:
    """Call the callback, if there is one: a stage has begun, or `done` of so many units of it are done."""
    if progress is not None:
        progress(Progress(settled=done, nodes=max(of, 1), stage=stage, what=what, unit=unit if of else ""))
