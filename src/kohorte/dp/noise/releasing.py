"""From a plan to noisy numbers: the mechanisms, their shares of the cost, and the release."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np

from kohorte.dp.budget.budget import Cost, checked_delta, checked_epsilon
from kohorte.dp.noise.exact import ExactTable, Key, all_public_keys
from kohorte.dp.noise.measurements import (
    ROWS,
    Kind,
    Measurement,
    candidates,
    euclidean_sensitivity,
    measurements_of,
    public_keys,
    query_hash,
    sensitivity,
)
from kohorte.dp.noise.mechanisms import Noise, Share, ThresholdedNoise, shares
from kohorte.dp.noise.quantiles import QuantileChoice
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.dp.schema.typed import TypedTable
from kohorte.dp.sql.plan import QueryPlan
from kohorte.errors import InputError, InternalError

Mechanism: TypeAlias = Noise | ThresholdedNoise | QuantileChoice
MOST_GROUPS = 10_000
MOST_NUMBERS = 50_000
MOST_QUANTILES = 5_000
"""Limits for groups times measurements, and groups times quantiles; one quantile may take a third of a millisecond."""


@dataclass(frozen=True)
class Released:
    """The released data: keys, and one noisy whole number for each key and measurement."""

    keys: tuple[Key, ...]
    numbers: Mapping[Measurement, Sequence[int]]

    def to_json(self) -> str:
        """Return a text for the record."""
        return json.dumps(
            {"keys": self.keys, "numbers": {part.name: list(found) for part, found in self.numbers.items()}}
        )

    @classmethod
    def from_json(cls, text: str, measurements: Sequence[Measurement]) -> Released:
        """Read a record."""
        data = json.loads(text)
        return cls(tuple(map(tuple, data["keys"])), {part: data["numbers"][part.name] for part in measurements})


@dataclass(frozen=True)
class Releaser:
    """A plan with its mechanisms; every measurement gets an equal share of the cost."""

    plan: QueryPlan
    metadata: QueryMetadata
    cost: Cost

    @property
    def thresholded(self) -> bool:
        """Whether keys are not public, so that delta is spent."""
        return not public_keys(self.plan, self.metadata)

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        """All measurements, each once."""
        return measurements_of(self.plan, thresholded=self.thresholded)

    @cached_property
    def share(self) -> Share:
        """The share of each measurement."""
        return shares(self.cost.amount, len(self.measurements), self.metadata.budget.composition)

    @cached_property
    def mechanisms(self) -> dict[Measurement, Mechanism]:
        """The mechanism of each measurement."""
        return {measurement: _kept(self._mechanism(measurement)) for measurement in self.measurements}

    def check_noise(self) -> None:
        """Build all mechanisms before anything is paid, and compare their cost by OpenDP's maps with the price."""
        costs = [mechanism.cost for mechanism in self.mechanisms.values()]
        amount = sum((Fraction(cost[0] if isinstance(cost, tuple) else cost) for cost in costs), Fraction(0))
        delta = sum((Fraction(cost[1]) for cost in costs if isinstance(cost, tuple)), Fraction(0))
        if amount > self.cost.amount or delta > self.cost.delta:
            raise InternalError("the noise costs more than the query", code="query-noise-cost")

    def _mechanism(self, measurement: Measurement) -> Mechanism:
        most = self.metadata.max_contributions
        if measurement == ROWS and self.thresholded:
            return ThresholdedNoise(self.share, float(self.cost.delta), most)
        if measurement.kind is Kind.QUANTILE:
            column = self.metadata.columns[measurement.column]
            return QuantileChoice(self.share, measurement.quantile, candidates(column), most)
        bound = sensitivity if self.share.is_pure else euclidean_sensitivity
        return Noise(self.share, bound(measurement, self.metadata, grouped=bool(self.plan.keys)))

    def query_hash(self, table: TypedTable) -> str:
        """The hash that identifies the query in a ledger."""
        return query_hash(self.plan, self.measurements, self.metadata, cost=self.cost, table=table.sha256)

    @cached_property
    def known_keys(self) -> list[Key] | None:
        """The keys of all groups; None if they are not public."""
        return None if self.thresholded else all_public_keys(self.plan, self.metadata, most=MOST_GROUPS)

    def refuse_too_much(self) -> None:
        """Refuse more groups and numbers than an answer may have, before anything is spent."""
        groups = len(self.known_keys or [()])
        quantiles = sum(part.kind is Kind.QUANTILE for part in self.measurements)
        for what, number, most in (
            ("numbers", groups * len(self.measurements), MOST_NUMBERS),
            ("quantiles", groups * quantiles, MOST_QUANTILES),
        ):
            if number > most:
                raise InputError(
                    f"the query asks for more than {most:,} {what}; use fewer aggregates or fewer groups",
                    code="query-keys",
                )

    def release(self, table: TypedTable) -> Released:
        """Measure the table and add noise."""
        exact = ExactTable(table, self.plan, self.metadata)
        added = [part for part in self.measurements if part.kind is not Kind.QUANTILE]
        sums = exact.measure(added) if added else {}
        numbers: dict[Measurement, list[int]] = {}
        keys = self.known_keys
        if keys is None:
            mechanism = self.mechanisms[ROWS]
            assert isinstance(mechanism, ThresholdedNoise)
            shown = mechanism.release(sums.pop(ROWS))
            keys, numbers[ROWS] = list(shown), list(shown.values())
        for measurement, found in sums.items():
            noise = self.mechanisms[measurement]
            assert isinstance(noise, Noise)
            numbers[measurement] = noise.release([found.get(key, 0) for key in keys])
        for measurement in self.measurements:
            if measurement.kind is Kind.QUANTILE:
                numbers[measurement] = self._quantiles(measurement, exact.values(measurement.column), keys)
        return Released(tuple(keys), numbers)

    def _quantiles(self, measurement: Measurement, values: Mapping[Key, Any], keys: Sequence[Key]) -> list[int]:
        choice = self.mechanisms[measurement]
        assert isinstance(choice, QuantileChoice)
        nothing = np.empty(0, dtype=np.int64)
        return [choice.release(values.get(key, nothing)) for key in keys]


@lru_cache(maxsize=256)
def _kept(mechanism: Mechanism) -> Mechanism:
    """Return an equal mechanism from the cache, if any, because finding its scale takes time."""
    return mechanism


def releaser(plan: QueryPlan, metadata: QueryMetadata, *, epsilon: object, delta: object) -> Releaser:
    """Prepare the release of a plan at this epsilon and, if keys are not public, this delta."""
    wanted = checked_epsilon(epsilon, what="epsilon", code="query-epsilon")
    allowed = checked_delta(delta, what="delta", code="query-delta")
    needed = not public_keys(plan, metadata)
    if needed and not allowed:
        raise InputError(
            "the values of GROUP BY are not public (the metadata list none), so a delta above 0 is needed",
            code="query-delta",
        )
    ready = Releaser(plan, metadata, metadata.budget.price(wanted, allowed if needed else 0.0))
    ready.refuse_too_much()
    ready.check_noise()
    return ready
