"""Risk policies: the weight of each measure of risk, and a limit for the weighted risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Self

from kohorte.data import strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, nearest, refuse_unknown_keys
from kohorte.plans.search_options import is_number

FORMAT = 1
KEYS = ("kohorte", "weights", "limit")
LARGEST_WEIGHT = 1_000_000
MEASURES = (
    "prosecutor_attacker_success_rate",
    "journalist_attacker_success_rate",
    "marketer_attacker_success_rate",
    "average_prosecutor_risk",
    "estimated_journalist_risk",
    "estimated_marketer_risk",
    "estimated_prosecutor_risk",
    "highest_journalist_risk",
    "highest_prosecutor_risk",
    "lowest_risk",
    "population_uniques",
    "records_affected_by_highest_journalist_risk",
    "records_affected_by_highest_prosecutor_risk",
    "records_affected_by_lowest_risk",
    "sample_uniques",
)
"""The measures of PRIORI (Leitner, Datenschutzgerechte Forschungsschnittstelle, 2020), all from 0 to 1."""


@dataclass(frozen=True)
class WeightedRisk:
    """The weighted mean of the measures of a policy; `within_limit` is None if the policy has no limit."""

    risk: float
    limit: float | None
    within_limit: bool | None
    parts: tuple[tuple[str, float, float], ...]  # measure, weight, figure

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data; `risk` is the figure that PRIORI returns."""
        return {
            "risk": self.risk,
            "limit": self.limit,
            "within_limit": self.within_limit,
            "parts": [{"measure": name, "weight": weight, "figure": figure} for name, weight, figure in self.parts],
        }


@dataclass(frozen=True)
class RiskPolicy:
    """Weights of at least 0 for measures, and an optional limit for the weighted risk."""

    weights: Mapping[str, float] = field(hash=False)
    limit: float | None = None

    def __post_init__(self) -> None:
        given: object = self.weights
        if not isinstance(given, Mapping) or not given:
            raise InputError("weights: is a mapping such as {highest_prosecutor_risk: 1}", code="policy-incomplete")
        for name, weight in self.weights.items():
            if name not in MEASURES:
                raise InputError(
                    f"weights: there is no measure {str(name)!r}{nearest(str(name), MEASURES)}", code="policy-measure"
                )
            if not is_number(weight) or not 0 <= weight <= LARGEST_WEIGHT:
                raise InputError(
                    f"weights: {name} must be a number from 0 to {LARGEST_WEIGHT:,}, not {weight!r}",
                    code="policy-weight",
                )
        if not sum(self.weights.values()):
            raise InputError("weights: at least one must be above 0", code="policy-weight")
        if self.limit is not None and (not is_number(self.limit) or not 0 <= self.limit <= 1):
            raise InputError(f"limit must be a number from 0 to 1, not {self.limit!r}", code="policy-limit")
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))

    def __repr__(self) -> str:
        return f"RiskPolicy(weights={dict(self.weights)!r}, limit={self.limit!r})"

    def weighted(self, measures: Mapping[str, float | None]) -> WeightedRisk:
        """The weighted mean of the measures of a profile; where it counts people, those of records are of people."""
        parts = []
        for given, weight in self.weights.items():
            name = given if given in measures else given.replace("records", "people")
            figure = measures[name]
            if figure is None and weight:
                raise InputError(
                    f"the policy has a weight for {name}, which needs a population: give its size, a sampling fraction "
                    "or a table",
                    code="policy-needs-population",
                )
            parts.append((name, float(weight), figure or 0.0))
        risk = sum(weight * figure for _, weight, figure in parts) / sum(weight for _, weight, _ in parts)
        within = None if self.limit is None else risk <= self.limit * (1 + 1e-12)
        return WeightedRisk(risk, self.limit, within, tuple(parts))

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Read a policy file: `kohorte: 1`, `weights: {measure: weight}` and, optionally, `limit: 0.2`."""
        path = Path(path)
        text = read_text(path, what="policy", code="policy-unreadable")
        return cls.from_dict(strict_yaml.load(text, source=path.name, code="policy-yaml"))

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read a policy from plain data, as loaded from YAML or JSON."""
        if not isinstance(data, Mapping):
            raise InputError("a policy is a mapping with the keys " + ", ".join(KEYS), code="policy-yaml")
        refuse_unknown_keys(data, KEYS, where="the policy", code="policy-unknown-key")
        if data.get("kohorte") != FORMAT or isinstance(data["kohorte"], bool):
            raise InputError(
                f"the policy must begin with 'kohorte: {FORMAT}', its format version", code="policy-version"
            )
        return cls(data.get("weights", {}), data.get("limit"))

    def to_dict(self) -> dict[str, object]:
        """The policy as plain data."""
        limit = {} if self.limit is None else {"limit": self.limit}
        return {"kohorte": FORMAT, "weights": dict(self.weights), **limit}
