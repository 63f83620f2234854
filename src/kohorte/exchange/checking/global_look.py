"""Steps 3 to 5: what the statistics of the world say about the condition and the attributes of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from math import prod
from typing import Any

from kohorte.exchange.holding import Holding
from kohorte.exchange.request import Condition, Request
from kohorte.exchange.statistics import Frequency, Gap, Statistics
from kohorte.exchange.statistics.entries import OLDEST, comparable
from kohorte.exchange.statistics.typical import ALIKE, Typicality, typicality


@dataclass(frozen=True)
class GlobalLook:
    """What is known of the world: of the condition, and of the values of attributes, in tables that are not too old.

    `selected` has the values of the attributes of the condition that the people have here whom it selects: `not
    ibuprofen` is as rare as the drugs that they get, not as frequent as everything but ibuprofen. `grouped` has the
    columns whose hierarchy groups the values that people here have, which is not used.
    """

    holding: Holding
    statistics: Statistics
    request: Request
    today: date
    selected: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    grouped: frozenset[str] = frozenset()
    used: set[str] = field(default_factory=set, repr=False, compare=False)
    """The names of the tables that gave a figure so far."""

    def __post_init__(self) -> None:
        self.statistics.refuse_unfit(self._kinds, self.holding.policy.statistics_years, self.today)

    @property
    def _kinds(self) -> set[str]:
        """The kinds of statistics that the request needs."""
        names = (*self.request.attributes, *self.request.condition.attributes)
        return {self.holding.statistics[name] for name in names if name in self.holding.statistics}

    @property
    def rough(self) -> list[str]:
        """The tables that gave a figure and that are only the small set that comes with Kohorte."""
        tables = [table for table in self.statistics.tables if table.origin.name in self.used]
        return sorted(table.origin.name for table in tables if table.origin.is_rough)

    def frequency(self, name: str, value: str) -> Frequency | Gap | None:
        """How frequent a value of a column is in the world; None if the column has no statistics."""
        kind = self.holding.statistics.get(name)
        if kind is None:
            return None
        return self._noted(self.statistics.frequency(kind, value, self.holding.known_by))

    def _noted(self, found: Frequency | Gap) -> Frequency | Gap:
        if isinstance(found, Frequency):
            self.used.add(found.name)
        return found

    def judges_fit(self, name: str) -> bool:
        """Whether the statistics can say for whom the values of a column are typical."""
        kind = self.holding.statistics.get(name)
        return kind is not None and self.statistics.tells_people_apart(kind)

    def age_bounds(self, name: str) -> tuple[int, ...]:
        """The ages at which figures about the values of a column change."""
        return self.statistics.age_bounds(self.holding.statistics[name])

    def typicality(self, name: str, value: str, by: Mapping[str, str | int]) -> Typicality | None:
        """How a value of a column fits people of this age and sex; None if nothing is known."""
        kind = self.holding.statistics.get(name)
        if kind is None:
            return None
        limit = self.holding.policy.conspicuous
        found = typicality(self.statistics, kind, value, {**self.holding.known_by, **by}, conspicuous=limit)
        if found is not None:
            self.used.add(found.name)
        return found

    @cached_property
    def fits(self) -> tuple[dict[str, Any], ...]:
        """For each value that the condition names: whether it is typical for the age and sex that it names, too."""
        fixed = fixed_values(self.request.condition)
        by = {kind: fixed[name] for name, kind in self.holding.statistics.items() if kind in ALIKE and name in fixed}
        people = ", ".join(f"{kind} {value}" for kind, value in by.items())
        found = []
        for one in self.request.condition.comparisons():
            judged = [self.typicality(one.attribute, str(value), by) for value in _values_of(one)]
            known = [fit for fit in judged if fit is not None]
            if known:
                worst = min(known, key=lambda fit: fit.share / fit.highest)
                found.append({"comparison": one.in_words, "people": people, **worst.to_dict()})
        return tuple(found)

    @cached_property
    def comparisons(self) -> tuple[tuple[Condition, Frequency | Gap | None], ...]:
        """Each comparison of the condition with what is known about its values."""
        return tuple((one, self._compared(one)) for one in self.request.condition.comparisons())

    @property
    def condition_share(self) -> float | None:
        """The share of the world that satisfies the condition, as if its parts were independent; None: not known."""
        return self._share(self.request.condition)

    @cached_property
    def selected_share(self) -> float | None:
        """The share of the world with the values that the selected people have, by the rarest attribute."""
        sums = [self._sum(name, values) for name, values in self.selected.items() if values]
        return min(sums, default=None)

    def _sum(self, name: str, values: Sequence[str]) -> float:
        found = [self.frequency(name, value) for value in _different(values)]
        return min(1.0, sum(one.share for one in found if isinstance(one, Frequency)))

    @property
    def condition_has_gaps(self) -> bool:
        """Whether the statistics do not know some part of the condition."""
        return any(not isinstance(found, Frequency) for _, found in self.comparisons)

    @property
    def needed(self) -> int:
        """How many people must satisfy the condition."""
        policy, share = self.holding.policy, self.condition_share
        needed = policy.base_set.needed(share)
        if (seen := self.selected_share) is not None and (seen or policy.gaps == "rare"):
            needed = max(needed, policy.base_set.needed(seen or None))
        return max(needed, policy.base_set.unknown) if self.condition_has_gaps and policy.gaps == "rare" else needed

    def to_dict(self) -> dict[str, Any]:
        """What was found, as plain data."""
        return {
            "condition": [
                {"comparison": one.in_words, **({"gap": "no statistics"} if found is None else found.to_dict())}
                for one, found in self.comparisons
            ],
            "fits": list(self.fits),
            "condition_share": self.condition_share,
            "selected_share": self.selected_share,
            "needed_people": self.needed,
            "rough": self.rough,
            "tables": [table.title for table in self.statistics.tables],
        }

    def _share(self, condition: Condition) -> float | None:
        if not condition.parts:
            found = next(found for one, found in self.comparisons if one is condition)
            return found.share if isinstance(found, Frequency) else None
        shares = [self._share(part) for part in condition.parts]
        known = [share for share in shares if share is not None]
        if condition.operator == "all":
            return prod(known) if known else None
        if len(known) < len(shares):
            return None
        return 1 - known[0] if condition.operator == "not" else max(known)

    def _compared(self, one: Condition) -> Frequency | Gap | None:
        kind = self.holding.statistics.get(one.attribute)
        if kind is None:
            return None
        if one.operator in ("is", "in"):
            if kind == "age" and len({str(value).strip().isdigit() for value in one.values}) > 1:
                return Gap("single ages and other texts in one list")  # a column has one or the other
            return _together([self._known(one.attribute, value) for value in _different(one.values)])
        if kind == "age" and one.operator != "starts_with":
            bound = int(float(one.values[0]))
            span = f"{max(bound, 0)}-{OLDEST}" if one.operator == "at_least" else f"0-{min(max(bound, 0), OLDEST)}"
            return self._known(one.attribute, span)
        if one.operator == "starts_with":
            return self._noted(self.statistics.beginning(kind, str(one.values[0]), self.holding.known_by))
        return Gap("the statistics do not order these values")

    def _known(self, name: str, value: object) -> Frequency | Gap:
        found = self.frequency(name, str(value))
        assert found is not None, "the column has statistics"
        return found


def fixed_values(condition: Condition) -> dict[str, str]:
    """The attributes of which a condition allows one value only, with this value."""
    parts = condition.parts if condition.operator == "all" else (condition,)
    return {part.attribute: str(part.values[0]) for part in parts if part.operator == "is"}


def _different(values: Sequence[object]) -> list[str]:
    """The values without other spellings of the same one: a value that is named twice is not twice as frequent."""
    return list({comparable(str(value)): str(value) for value in values}.values())


def _values_of(one: Condition) -> Sequence[object]:
    return one.values if one.operator in ("is", "in") else ()


def _together(found: Sequence[Frequency | Gap]) -> Frequency | Gap:
    """Several values as one: their shares are added; one gap makes a gap of all."""
    gaps = [one for one in found if isinstance(one, Gap)]
    if gaps:
        return gaps[0]
    known = [one for one in found if isinstance(one, Frequency)]
    first = min(known, key=lambda one: one.date)
    return replace(first, share=min(1.0, sum(one.share for one in known)))
