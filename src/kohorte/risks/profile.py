"""The risk profile of a table."""

from __future__ import annotations

from dataclasses import dataclass, field

from kohorte.errors import InputError
from kohorte.in_words import PEOPLE, Unit
from kohorte.kernels.arrays import Floats
from kohorte.plans.plan import Plan
from kohorte.plans.search_options import is_number
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.release import Release
from kohorte.risks.attackers import Attackers, attackers
from kohorte.risks.attribute_sets import AttributeSet, attribute_sets, checked_size, feasible_size
from kohorte.risks.distribution import RiskInterval, distribution
from kohorte.risks.policy import RiskPolicy, WeightedRisk
from kohorte.risks.population import people_of
from kohorte.risks.rows import RowRisk, rows_at_highest_risk
from kohorte.risks.shown.alike import Alike, JudgedBy, alike
from kohorte.risks.shown.table import ShownTable, checked_table
from kohorte.risks.shown.whom import people_in_doubt, shown_people
from kohorte.risks.special_uniques import SpecialUniques
from kohorte.risks.suspected import SuspectedIdentifier, suspected_identifiers
from kohorte.risks.uniqueness import Uniqueness, uniqueness


@dataclass(frozen=True, eq=False)
class RiskProfile:
    """The risk of a table, raw or released.

    `unit` says what the figures count: people, if the plan counts people and it is known whom the rows are about;
    otherwise rows. The risk of a person is the highest of their rows. `people_not_counted` is an open point: only rows
    are known, although the plan says that people are to be counted, or several rows may be about one person.
    `open_points` say why, and what else is to be thought about. `rows` and `suppressed` always count rows. `people` is
    the number of all people; `people_losing_all_rows` have suppressed rows only. Both are None if rows are counted. All
    other figures are about the rows that are not suppressed. The profile contains no value of the table, only numbers
    and names of attributes.
    """

    quasi_identifiers: tuple[str, ...]
    rows: int
    suppressed: int
    classes: int
    smallest_class: int | None
    attackers: Attackers
    distribution: tuple[RiskInterval, ...] = field(repr=False)
    uniqueness: Uniqueness
    attribute_sets: tuple[AttributeSet, ...] = field(repr=False)
    special_uniques: SpecialUniques = field(repr=False)
    suspected_identifiers: tuple[SuspectedIdentifier, ...] = field(repr=False)
    weighted: WeightedRisk | None
    people_not_counted: bool
    open_points: tuple[str, ...]
    _table: ShownTable = field(repr=False)
    _groups: Alike = field(repr=False)
    _journalist: Floats = field(repr=False)

    @property
    def unit(self) -> Unit:
        """What the figures count: rows or people."""
        return self._groups.unit

    @property
    def judged_by(self) -> JudgedBy:
        """What looks alike: rows; people, by each of their rows; or people, by the set of classes of all their rows."""
        return self._groups.judged_by

    @property
    def people(self) -> int | None:
        """The number of people; None if rows are counted."""
        return None if self._table.people is None else self._table.people.everybody

    @property
    def people_losing_all_rows(self) -> int | None:
        """The number of people of whom every row is suppressed; None if rows are counted."""
        return None if self.people is None else self.people - self.counted

    @property
    def counted(self) -> int:
        """The rows that are not suppressed, or the people who have one: the whole of every share."""
        return self._groups.count

    def riskiest_rows(self, count: int) -> tuple[RowRisk, ...]:
        """The rows at the highest risk, at most `count`."""
        return rows_at_highest_risk(self._table, self._groups, self.special_uniques, self._journalist, count)

    @property
    def telling_sets(self) -> tuple[AttributeSet, ...]:
        """The attribute sets, sorted by the number of people whom they single out, then by size."""
        return tuple(
            sorted(
                self.attribute_sets, key=lambda found: (-found.singled_out, len(found.attributes), -found.separation)
            )
        )

    @property
    def measures(self) -> dict[str, float | None]:
        """The measures of PRIORI (see policy.py) by name: shares from 0 to 1, None if the population is unknown.

        Where people are counted, names that say records say people instead.
        """
        return {**self._success_rates(), **self._re_identification_risk()}

    def risk_profile(self) -> dict[str, object]:
        """The profile with the names of PRIORI (Leitner, Datenschutzgerechte Forschungsschnittstelle, 2020, app. E)."""
        return {
            "attacker_success_rate": self._success_rates(),
            "distribution_of_risk": [interval.to_dict() for interval in self.distribution],
            "re_identification_risk": self._re_identification_risk(),
        }

    @property
    def shown(self) -> ShownTable:
        """The classes that the figures are about."""
        return self._table

    @property
    def alike(self) -> Alike:
        """The groups of rows or people that the figures are about."""
        return self._groups

    def to_dict(self, *, rows: int = 0) -> dict[str, object]:
        """The profile as plain data, with up to `rows` rows at the highest risk."""
        return {
            "quasi_identifiers": list(self.quasi_identifiers),
            "rows": self.rows,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "unit": self.unit.many,
            "judged_by": self.judged_by,
            "people": self.people,
            "people_losing_all_rows": self.people_losing_all_rows,
            **({"people_not_counted": True} if self.people_not_counted else {}),
            "open_points": list(self.open_points),
            "risk_profile": self.risk_profile(),
            "attackers": self.attackers.to_dict(),
            "uniqueness": self.uniqueness.to_dict(),
            "attribute_sets": [found.to_dict() for found in self.attribute_sets],
            "special_uniques": self.special_uniques.to_dict(),
            "suspected_identifiers": [suspected.to_dict() for suspected in self.suspected_identifiers],
            "weighted_risk": None if self.weighted is None else self.weighted.to_dict(),
            "riskiest_rows": [row.to_dict() for row in self.riskiest_rows(rows)] if rows else [],
        }

    def _success_rates(self) -> dict[str, float | None]:
        return {
            "journalist_attacker_success_rate": self.attackers.journalist.success_rate,
            "marketer_attacker_success_rate": self.attackers.marketer.success_rate,
            "prosecutor_attacker_success_rate": self.attackers.prosecutor.success_rate,
        }

    def _re_identification_risk(self) -> dict[str, float | None]:
        prosecutor, journalist = self.attackers.prosecutor, self.attackers.journalist
        who = "people" if self.unit is PEOPLE else "records"
        return {
            "average_prosecutor_risk": prosecutor.average_risk,
            "estimated_journalist_risk": journalist.highest_risk,
            "estimated_marketer_risk": self.attackers.marketer.average_risk,
            "estimated_prosecutor_risk": prosecutor.highest_risk,
            "highest_journalist_risk": journalist.highest_risk,
            "highest_prosecutor_risk": prosecutor.highest_risk,
            "lowest_risk": prosecutor.lowest_risk,
            "population_uniques": self.uniqueness.population_share,
            f"{who}_affected_by_highest_journalist_risk": journalist.share(journalist.at_highest_risk),
            f"{who}_affected_by_highest_prosecutor_risk": prosecutor.share(prosecutor.at_highest_risk),
            f"{who}_affected_by_lowest_risk": prosecutor.share(prosecutor.at_lowest_risk),
            "sample_uniques": self.uniqueness.sample_share,
        }


def risk(
    frame: object,
    plan: Plan,
    *,
    population_size: float | None = None,
    sampling_fraction: float | None = None,
    population: object = None,
    original: object = None,
    threshold: float = 0.2,
    largest_set: int | None = None,
    policy: RiskPolicy | None = None,
    in_rows: bool = False,
    progress: ProgressCallback | None = None,
) -> RiskProfile:
    """Measure the risk of a table (polars, pandas or arrow) or of a `Release`.

    If the plan says with `person` whom a row is about, people are counted: in a raw table, which has that column; in a
    `Release`, which was just made; and in a released table if the `original` is given from which it was made. Otherwise
    rows are counted, and `people_not_counted` says so. `in_rows` counts rows in any case, to compare with such a table.
    If the plan does not have `person`, the `original` says whether several rows of a release are about one person.

    Rows look alike if they show the same text in all quasi-identifiers of the plan. Rows that show only `*` are
    suppressed, and no figure counts them, as long as the plan's suppression limit allows that many; otherwise they are
    a class like any other, as for `verify`. Give at most one of `population_size`, `sampling_fraction` and
    `population`; without any, the journalist has the same risk as the prosecutor. Attribute sets are assessed up to
    the size `largest_set`, by default four, or fewer if there are too many sets. `progress` is called when a stage
    begins, and several times a second while attribute sets are assessed.
    """
    made = frame if isinstance(frame, Release) else None
    table = checked_table(frame if made is None else made.data, plan)
    if not is_number(threshold) or not 0 < threshold <= 1:
        raise InputError(
            f"threshold (--threshold) must be above 0 and at most 1, not {threshold!r}", code="risk-threshold"
        )
    if policy is not None and not isinstance(policy, RiskPolicy):
        raise InputError("give a RiskPolicy, for example RiskPolicy.from_yaml('policy.yaml')", code="policy-type")
    if largest_set is None:
        largest_set = feasible_size(len(plan.quasi_identifiers))
    checked_size(largest_set, len(plan.quasi_identifiers))
    tell(progress, Stage.COUNTING, f"classes of {table.height:,} rows")
    most = plan.most_suppressed(table.height)
    known = None if made is None else made.people
    if in_rows:
        shown = ShownTable.of(table, plan.quasi_identifiers, most_suppressed=most, ties=plan.unit.links)
    else:
        shown = shown_people(table, plan, original=original, known=known, most_suppressed=most)
    doubts = people_in_doubt(table, plan, original) if made is None else made.person_notes
    groups = alike(shown)
    people = people_of(shown, groups, plan, size=population_size, fraction=sampling_fraction, population=population)
    sets, uniques = attribute_sets(groups, shown.names, largest_set, progress=progress)
    tell(progress, Stage.ESTIMATING, "how likely people are to be found")
    profile = RiskProfile(
        quasi_identifiers=shown.names,
        rows=shown.rows,
        suppressed=shown.suppressed,
        classes=shown.classes,
        smallest_class=int(groups.sizes.min()) if shown.classes else None,
        attackers=attackers(groups, people, threshold=float(threshold)),
        distribution=distribution(groups),
        uniqueness=uniqueness(groups, people),
        attribute_sets=sets,
        special_uniques=uniques.with_fraction(groups, people.fraction),
        suspected_identifiers=suspected_identifiers(table, plan),
        weighted=None,
        people_not_counted=shown.people is None and (plan.unit.counts_people or bool(doubts)),
        open_points=doubts,
        _table=shown,
        _groups=groups,
        _journalist=people.risks(groups),
    )
    return profile if policy is None else _weighted(profile, policy)


def _weighted(profile: RiskProfile, policy: RiskPolicy) -> RiskProfile:
    return RiskProfile(**{**vars(profile), "weighted": policy.weighted(profile.measures)})
