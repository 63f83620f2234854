"""What a page tells of a series: its releases, one after another, and the one that would come next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kohorte.kernels.arrays import Floats
from kohorte.series.definition import Definition
from kohorte.series.domain.region_cells import region_losses
from kohorte.series.domain.regions import Regions
from kohorte.series.memory.state import State
from kohorte.series.status.status import SeriesStatus
from kohorte.series.target.target_distance import TargetDistance


@dataclass(frozen=True, eq=False)
class Chapter:
    """A release: its figures and regions; `time` is None for the one that would come next.

    A full-domain series has classes to count, but no regions to draw.
    """

    number: int
    time: str | None
    shown: int
    held: int
    loss: float
    count: int
    regions: Regions | None = field(repr=False)

    @property
    def title(self) -> str:
        """What it is called."""
        return f"release {self.number}" if self.time is not None else f"release {self.number}, next"


@dataclass(frozen=True, eq=False)
class Story:
    """The releases of a series, the next one last; no row is in it."""

    definition: Definition
    chapters: Sequence[Chapter]

    @classmethod
    def of(cls, definition: Definition, state: State, status: SeriesStatus) -> Story:
        """Replay the releases."""
        drawn = bool(definition.axes)
        chapters, regions = [], definition.initial if drawn else None
        for entry in state.releases:
            regions = None if regions is None else regions.divided(entry.splits)
            figures = (entry.shown, entry.held, entry.loss, entry.regions)
            chapters.append(Chapter(entry.number, entry.time, *figures, regions))
        if (coming := status.coming) is not None:
            next_ = coming.figures
            figures = (next_.shown, next_.held, next_.loss, next_.regions)
            chapters.append(Chapter(next_.number, None, *figures, coming.regions))
        return cls(definition, chapters)

    @property
    def least(self) -> int:
        """The fewest rows that are told."""
        return self.definition.plan.smallest_class

    def some(self, most: int) -> list[Chapter]:
        """The first, the last, and some between, evenly."""
        if len(self.chapters) <= most:
            return list(self.chapters)
        last = len(self.chapters) - 1
        return [self.chapters[round(number * last / (most - 1))] for number in range(most)]

    def distances(self, most: int) -> list[tuple[int, TargetDistance]]:
        """The distance to the target, release by release; of some of them where there are many."""
        target = self.definition.target
        if target is None:
            return []
        some = ((chapter.number, chapter.regions) for chapter in self.some(most))
        return [(number, TargetDistance.of(target.guide(regions))) for number, regions in some if regions is not None]

    def losses(self, regions: Regions) -> Floats:
        """What a row of each region loses, in the mean over its cells."""
        return region_losses(self.definition.axes, self.definition.weights, regions)
