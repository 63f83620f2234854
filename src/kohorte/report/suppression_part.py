"""Who is suppressed, by attribute: whether a minority was removed, and which values no longer appear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kohorte.data import Role
from kohorte.in_words import count, percent
from kohorte.release.telling.loss_words import LEAST_NAMED
from kohorte.release.telling.losses import ColumnLoss, Group
from kohorte.report.facts import Facts
from kohorte.report.figures.distributions import MISSING
from kohorte.report.verdict import lost_values

ROLES = (Role.QUASI_IDENTIFYING, Role.SENSITIVE)
MOST_GROUPS = 12
"""The number of groups of an attribute whose suppressed rows are compared."""


@dataclass(frozen=True, eq=False)
class SuppressionPart:
    """The content of the section about suppressed rows."""

    facts: Facts

    @property
    def known(self) -> bool:
        """Whether the losses could be determined."""
        return self.facts.losses is not None

    @property
    def lost(self) -> list[str]:
        """The values that no longer appear."""
        return lost_values(self.facts)

    @property
    def overall(self) -> str:
        """The share of all rows that is suppressed."""
        profile = self.facts.judged.profile
        return percent(profile.suppressed / profile.rows) if profile.rows else "none"

    @property
    def groups(self) -> list[tuple[str, list[Group]]]:
        """For each attribute its groups, if there are several."""
        found = [(one.attribute, self._groups(one)) for one in self.facts.losses or () if one.role in ROLES]
        return [(name, groups) for name, groups in found if len(groups) > 1]

    @property
    def unlisted(self) -> list[str]:
        """The attributes with several values of which nothing is told.

        They have too many groups, or the public would learn more than the release shows.
        """
        listed = {name for name, _ in self.groups}
        several = (one for one in self.facts.losses or () if one.role in ROLES and len(one.levels[0]) > 1)
        return [one.attribute for one in several if one.attribute not in listed]

    @property
    def tables(self) -> list[tuple[str, list[list[str]]]]:
        """For each attribute its groups, with their rows and the share that is suppressed."""
        return [(name, [self._line(group) for group in groups]) for name, groups in self.groups]

    def _groups(self, one: ColumnLoss) -> list[Group]:
        """The finest level with a few groups that may be named and have most rows; all others are one group.

        The public sees no level that is finer than the release. The choice depends on named groups alone, so that it
        tells nothing about the others.
        """
        levels = one.levels if self.facts.internal else one.levels[len(one.levels) - one.shown_levels :]
        for groups in levels:
            told = [group for group in groups if self._named(group)]
            if len(told) <= MOST_GROUPS and 2 * sum(group.kept for group in told) >= self.facts.judged.kept:
                rest = [group for group in groups if not self._named(group)]
                return [*told, *([self._together(rest)] if rest else [])]
        return []

    def _named(self, group: Group) -> bool:
        """Whether a group may be named: never if few rows have it, for the public if the release shows it often.

        Where people are known, the rows must be so many that they are about enough people in any case.
        """
        if self.facts.internal:
            return group.rows >= self.facts.rows_of(LEAST_NAMED)
        return group.kept >= self.facts.rows_of(self.facts.least)

    def _together(self, groups: Sequence[Group]) -> Group:
        label = count(len(groups), "other value") if self.facts.internal else "other values"
        rows, kept = sum(group.rows for group in groups), sum(group.kept for group in groups)
        return Group(self.facts.told(label), rows, kept, together=True)

    def _line(self, group: Group) -> list[str]:
        label = self.facts.told(MISSING) if group.label is None else group.label
        if self.facts.internal:
            suppressed = group.rows - group.kept
            return [label, count(group.rows), count(suppressed), percent(group.suppressed_share)]
        return [label, self.facts.row_figures.banded(group.suppressed_share, group.rows)]
