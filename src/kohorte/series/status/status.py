"""The status of a series: its releases, what the next one would gain, and which rows are missing for more.

It is meant for the holder of the table only: how many rows a part of a region lacks tells how few it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kohorte.errors import NoSolution, PrivacyViolation
from kohorte.in_words import percent
from kohorte.kernels.arrays import Bools
from kohorte.plans.people.unstated_person import plan_note
from kohorte.release.certificate import plan_warnings
from kohorte.release.telling.verdict import Standing, Verdict
from kohorte.series.definition import Definition
from kohorte.series.domain.regions import OUTSIDE, Regions
from kohorte.series.drafting.growing_table import Draft, Figures, GrowingTable
from kohorte.series.drafting.open_points import points_of_table, verdict_on
from kohorte.series.drafting.region_table import RegionTable
from kohorte.series.memory.state import Entry, State
from kohorte.series.status.held_rows import HeldBack, RowsInRegions
from kohorte.series.status.missing_splits import MissingRows, missing_splits
from kohorte.series.status.region_names import few
from kohorte.series.target.target_distance import TargetDistance

TOP = 10
"""How many regions are named by default."""


@dataclass(frozen=True)
class Coming:
    """The next release as it would be, and the same rows in the regions (or at the levels) of the last one."""

    figures: Figures
    regions_before: int
    target: TargetDistance | None = None
    missing: tuple[MissingRows, ...] = ()
    regions: Regions | None = field(default=None, repr=False, compare=False)

    @property
    def gain(self) -> float:
        """The share by which the splits reduce the loss."""
        before = self.figures.loss_before
        return 1 - self.figures.loss / before if before else 0.0

    def to_dict(self) -> dict[str, object]:
        """The figures, as `kohorte series status --json` prints them."""
        figures = self.figures.told()
        target = None if self.target is None else vars(self.target)
        before = {"regions_before": self.regions_before, "gain": self.gain}
        return figures | before | {"target": target, "missing": [one.to_dict() for one in self.missing]}


@dataclass(frozen=True)
class SeriesStatus:
    """The releases so far, and with a table what the next one would be, or why it would be refused.

    `verdict` is that on the next release, red if it would be refused; None without a table. `open_points` are known
    without a table, too. `held` lists where rows would be held back. `outside` counts rows that lie in gaps or lack a
    value: None if there are fewer than `least`, the fewest rows that the models allow in a region.
    """

    releases: tuple[Entry, ...]
    least: int
    target: TargetDistance | None = None
    coming: Coming | None = None
    refused: NoSolution | PrivacyViolation | None = None
    held: tuple[HeldBack, ...] = ()
    outside: int | None = 0
    verdict: Verdict | None = None
    open_points: Sequence[str] = ()

    def to_dict(self) -> dict[str, object]:
        """As `kohorte series status --json` prints it."""
        refused = self.refused
        return {
            "releases": [entry.figures() for entry in self.releases],
            "target": None if self.target is None else vars(self.target),
            "next": None if self.coming is None else self.coming.to_dict(),
            "refused": None if refused is None else {"error": refused.code, "message": refused.message},
            "held": [one.to_dict() for one in self.held],
            "outside": self.outside,
            "verdict": None if self.verdict is None else self.verdict.to_dict(),
            "open_points": list(self.open_points),
        }

    def in_words(self) -> list[str]:
        """The status in lines for people, without the figures of the releases."""
        lines = [] if self.target is None else [f"target: {self.target.in_words()}"]
        if self.coming is not None:
            lines += _gained(self.coming)
        if self.held:
            lines += ["rows held back:", *(f"  {one.in_words()}" for one in self.held)]
        if self.outside != 0:
            lines.append(f"in a gap or without a value: {few(self.outside, self.least)}; no release will show them")
        if self.coming is not None and self.coming.missing:
            lines += ["what more rows would allow:", *(f"  {one.in_words()}" for one in self.coming.missing)]
        if self.held or (self.coming is not None and self.coming.missing):
            lines.append("do not publish these lines: what a group lacks tells how small it is")
        return lines


def _gained(coming: Coming) -> list[str]:
    lines = [
        f"regions {coming.regions_before:,} -> {coming.figures.regions:,}, loss of the same rows "
        f"{coming.figures.loss_before:.6g} -> {coming.figures.loss:.6g} ({percent(coming.gain)} better)"
    ]
    if coming.target is not None:
        lines.append(f"target after it: {coming.target.in_words()}")
    return lines


def status_of(
    definition: Definition, state: State, table: GrowingTable | None = None, *, top: int = TOP
) -> SeriesStatus:
    """Describe the releases of a series; with a table, try the next release."""
    regions = definition.regions(state, state.number - 1) if definition.axes else None
    target = definition.target
    distance = None if target is None or regions is None else TargetDistance.of(target.guide(regions))
    points = [*plan_warnings(definition.plan), *plan_note(definition.plan)] if table is None else points_of_table(table)
    status = SeriesStatus(state.releases, definition.plan.smallest_class, distance, open_points=points)
    if table is None:
        return status
    try:
        draft: Draft | None = table.draft(state)
    except (NoSolution, PrivacyViolation) as refused:
        verdict = Verdict(Standing.RED, (refused.message,))
        status, draft = replace(status, refused=refused, verdict=verdict), None
    outside = int((table.positions == OUTSIDE).any(axis=1).sum())
    status = replace(status, outside=None if 0 < outside < status.least else outside)
    if isinstance(table, RegionTable) and regions is not None:
        rows = RowsInRegions(table, regions, state.number)
        held = rows.failing() if draft is None else _left_out(draft)
        status = replace(status, held=rows.held_back(held, most=top))
    if draft is None:
        return status
    return replace(status, coming=_coming(draft, _regions_of(draft), top), verdict=verdict_on(draft))


def _left_out(draft: Draft) -> Bools:
    held = np.ones(draft.rows, dtype=bool)
    held[draft.shown.rows] = False
    return held


def _regions_of(draft: Draft) -> Regions | None:
    return draft.generalization if isinstance(draft.generalization, Regions) else None


def _coming(draft: Draft, regions: Regions | None, top: int) -> Coming:
    """Compare the draft with the same rows as the last release would show them."""
    if regions is None:
        return Coming(draft.figures, draft.before.regions)
    target = draft.table.definition.target
    guide = None if target is None else target.guide(regions)
    distance = None if guide is None else TargetDistance.of(guide)
    missing = missing_splits(draft, regions, guide, top)
    return Coming(draft.figures, draft.before.regions, distance, missing, regions)
