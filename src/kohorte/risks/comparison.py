"""Compare two risk profiles: before and after anonymization."""

from __future__ import annotations

from dataclasses import dataclass, field

from kohorte.errors import InputError
from kohorte.risks.profile import RiskProfile


@dataclass(frozen=True, eq=False)
class RiskComparison:
    """The profiles of a table before and after; `figures` contains each measure with both figures.

    Figures about the population are None if nothing is known about it.
    """

    before: RiskProfile = field(repr=False)
    after: RiskProfile = field(repr=False)
    figures: tuple[tuple[str, int | float | None, int | float | None], ...]

    def to_dict(self, *, rows: int = 0) -> dict[str, object]:
        """The comparison as plain data, with up to `rows` rows at the highest risk for both."""
        return {
            "measures": [{"measure": name, "before": before, "after": after} for name, before, after in self.figures],
            "before": self.before.to_dict(rows=rows),
            "after": self.after.to_dict(rows=rows),
        }


def compare_risks(before: RiskProfile, after: RiskProfile) -> RiskComparison:
    """Compare a table and its release by all measures; they must have the same quasi-identifiers."""
    if not all(isinstance(profile, RiskProfile) for profile in (before, after)):
        raise InputError("give two profiles, as ko.risk makes them", code="risk-compare")
    if set(before.quasi_identifiers) != set(after.quasi_identifiers):
        raise InputError(
            "the two profiles have different quasi-identifiers, so their figures cannot be compared",
            code="risk-compare",
        )
    both = [{**_counts(profile), **profile.measures} for profile in (before, after)]
    figures = tuple((name, both[0][name], both[1][name]) for name in both[0])
    return RiskComparison(before, after, figures)


def _counts(profile: RiskProfile) -> dict[str, int | float | None]:
    return {
        "rows": profile.rows,
        "suppressed": profile.suppressed,
        "classes": profile.classes,
        "smallest_class": profile.smallest_class,
        "rows_above_threshold": profile.attackers.prosecutor.rows_above_threshold,
        "unique_rows": profile.uniqueness.sample_uniques,
        "special_unique_rows": profile.special_uniques.rows,
        "weighted_risk": None if profile.weighted is None else profile.weighted.risk,
    }
