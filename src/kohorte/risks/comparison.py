"""Compare two risk profiles: before and after anonymization."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from kohorte.errors import InputError
from kohorte.in_words import PEOPLE
from kohorte.risks.profile import RiskProfile
from kohorte.risks.shown.whom import UNCLEAR


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


class Measure(Protocol):
    """Measures a table, as `risk` does with the plan and all other options given."""

    def __call__(self, frame: object, /, *, original: object = None, in_rows: bool = False) -> RiskProfile:
        """Return the profile of a table or of a `Release`."""


def before_and_after(table: object, release: object, measure: Measure) -> tuple[RiskProfile, RiskProfile]:
    """Measure a table and its release in the same unit.

    People are counted if they are known in both: the table says whom the rows of its release are about. If that is
    unclear (`people-unclear`), rows are counted in both.
    """
    before = measure(table)
    if before.unit is PEOPLE:
        try:
            return before, measure(release, original=table)
        except InputError as error:
            if error.code not in UNCLEAR:
                raise
        before = measure(table, in_rows=True)
    return before, measure(release, original=table, in_rows=True)


def compare_risks(before: RiskProfile, after: RiskProfile) -> RiskComparison:
    """Compare a table and its release by all measures; they must have the same quasi-identifiers."""
    if not all(isinstance(profile, RiskProfile) for profile in (before, after)):
        raise InputError("give two profiles, as ko.risk makes them", code="risk-compare")
    if set(before.quasi_identifiers) != set(after.quasi_identifiers):
        raise InputError(
            "the two profiles have different quasi-identifiers, so their figures cannot be compared",
            code="risk-compare",
        )
    if before.unit is not after.unit:
        raise InputError(
            "one profile counts people and the other rows, so their figures cannot be compared; give the original "
            "table for the release (original=)",
            code="risk-compare",
        )
    both = [{**_counts(profile), **profile.measures} for profile in (before, after)]
    figures = tuple((name, both[0][name], both[1][name]) for name in both[0])
    return RiskComparison(before, after, figures)


def _counts(profile: RiskProfile) -> dict[str, int | float | None]:
    many = profile.unit.many
    whom = {"people": profile.people, "people_losing_all_rows": profile.people_losing_all_rows}
    return {
        **({} if profile.people is None else whom),
        "rows": profile.rows,
        "suppressed": profile.suppressed,
        "classes": profile.classes,
        "smallest_class": profile.smallest_class,
        f"{many}_above_threshold": profile.attackers.prosecutor.above_threshold,
        f"unique_{many}": profile.uniqueness.sample_uniques,
        f"special_unique_{many}": profile.special_uniques.count,
        "weighted_risk": None if profile.weighted is None else profile.weighted.risk,
    }
