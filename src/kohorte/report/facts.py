"""What a report is about: a table or two, their risk, the verdict of the models, and who may read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

import polars as pl

from kohorte.data import TableFile, to_polars
from kohorte.errors import InputError, nearest
from kohorte.release import Plan, Release, Verification, verify
from kohorte.release.certificate import FileFacts
from kohorte.release.population import flagged_rows, without_flag
from kohorte.release.verification import verify_table
from kohorte.report.contributions import Contribution, contributions
from kohorte.report.figures import View
from kohorte.report.rounding import LEAST, Figures
from kohorte.risks import RiskProfile
from kohorte.risks.attacks import Attack, homogeneity_attack
from kohorte.risks.shown_table import ShownTable


def view_named(name: object) -> View:
    """Return a view by its name, or refuse a stranger."""
    if name not in tuple(View):
        raise InputError(
            f"unknown view {str(name)!r}{nearest(str(name), View)}; known are {', '.join(View)}", code="report-view"
        )
    return View(str(name))


@dataclass(frozen=True, eq=False)
class Measured:
    """A table, its risk, and the file that it is read from, if any."""

    frame: pl.DataFrame = field(repr=False)
    profile: RiskProfile
    file: FileFacts | None = None

    @classmethod
    def of_file(cls, file: TableFile, profile: RiskProfile) -> Measured:
        """A table that was read from a file."""
        return cls(file.frame, profile, FileFacts(file.path.name, file.sha256))

    @property
    def kept(self) -> int:
        """The rows that are not suppressed."""
        return self.profile.rows - self.profile.suppressed

    @cached_property
    def shown(self) -> ShownTable:
        """The classes of the table."""
        return ShownTable.of(self.frame, self.profile.quasi_identifiers)

    @cached_property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each quasi-identifier contributes."""
        return contributions(self.shown, self.profile)


@dataclass(frozen=True, eq=False)
class Facts:
    """All that a report tells.

    Without `after` it is about one table, raw or released. `made` is the release that `after` belongs to, where the
    program has just made it; `original` the table of which a part is released. `listed` rows at the highest risk are in
    the internal view. `plan_sha256` stands in place of the plan's own hash, where readers see only a part of the plan.
    """

    plan: Plan
    view: View
    table: Measured
    after: Measured | None = None
    made: Release | None = None
    original: pl.DataFrame | None = field(default=None, repr=False)
    listed: int = 10
    plan_sha256: str | None = None
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def judged(self) -> Measured:
        """The table that the verdict is about: the release, where there is one."""
        return self.after or self.table

    @property
    def sides(self) -> tuple[Measured, ...]:
        """The table, and its release where there is one."""
        return (self.table,) if self.after is None else (self.table, self.after)

    @property
    def internal(self) -> bool:
        """Whether only the house reads it."""
        return self.view is View.INTERNAL

    @property
    def threshold(self) -> float:
        """The risk above which a row is at too high a risk."""
        return self.judged.profile.attackers.threshold

    @property
    def least(self) -> int:
        """The rows that a group needs to be named."""
        return max(self.plan.smallest_class, LEAST)

    @property
    def figures(self) -> Figures:
        """How counts are written."""
        return Figures(self.least, exact=self.internal)

    @cached_property
    def _checked(self) -> tuple[Verification | None, str]:
        """The verification, or why there is none."""
        try:
            return _verified(self), ""
        except InputError as error:
            return None, error.message

    @property
    def verification(self) -> Verification | None:
        """The verdict of the models, counted anew; None where it cannot be given."""
        return self._checked[0]

    @property
    def unverified(self) -> str:
        """Why there is no verdict of the models; for the public without the rows that an error names."""
        return self._checked[1] if self.internal else "the internal view says why"

    @cached_property
    def homogeneity(self) -> Attack | None:
        """Whose sensitive value is known because the whole class has it; None without sensitive attributes."""
        try:
            return homogeneity_attack(self.judged.frame, self.plan)
        except InputError:
            return None

    @property
    def known_values(self) -> bool:
        """Whether a sensitive value is known of somebody without finding the row."""
        return self.homogeneity is not None and self.homogeneity.people_hurt > 0

    @property
    def holds(self) -> bool:
        """Whether the judged table satisfies a plan that promises something."""
        promised = not all(model.promises_nothing for model in self.plan.models)
        return promised and self.verification is not None and self.verification.satisfied

    @property
    def suspected_problems(self) -> int:
        """How many columns of the judged table seem to name people, and are not treated so."""
        return len({found.attribute for found in self.judged.profile.suspected_identifiers if found.problem})


def _verified(facts: Facts) -> Verification:
    if facts.made is not None:
        made = facts.made
        return verify_table(to_polars(made.data)[0], facts.plan, made.populations, levels=made.levels)
    original = facts.table.frame if facts.original is None else facts.original
    return verify(facts.judged.frame, facts.plan, population=None if facts.plan.subset is None else original)


def rows_to_release(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """The rows of a raw table that its release holds."""
    return without_flag(flagged_rows(frame, plan), plan)
