"""Privacy budgets: the total, the cost of a query, and the composition of costs.

Composition
    `pure`: epsilons and deltas are added (basic composition of (epsilon, delta)-differential privacy).
    `zcdp`: queries are answered with Gaussian noise and cost rho of zero-concentrated differential privacy; rhos
    are added. Half of the delta of the budget turns the sum of the rhos into epsilon, the other half is for keys that
    are not public: a delta-approximate rho-zCDP mechanism is (epsilon(rho, delta'), delta + delta')-differentially
    private.
Source
    Bun and Steinke, Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds, TCC 2016; the
    conversion is OpenDP's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from kohorte.dp.libraries import opendp
from kohorte.dp.numbers import is_finite
from kohorte.errors import BudgetExceeded, InputError, InternalError

MOST_EPSILON = 100.0
LEAST_EPSILON = 1e-6
LEAST_DELTA = 1e-100


class Composition(StrEnum):
    """How the costs of queries add up."""

    PURE = "pure"
    ZCDP = "zcdp"


@dataclass(frozen=True)
class Cost:
    """The cost of a query: epsilon (pure) or rho (zcdp), and delta; exact fractions, so that sums are exact."""

    amount: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.amount + other.amount, self.delta + other.delta)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.amount - other.amount, self.delta - other.delta)


NOTHING = Cost(Fraction(0))


@dataclass(frozen=True)
class Budget:
    """The epsilon and delta that one researcher may spend on one project."""

    epsilon: float
    delta: float = 0.0
    composition: Composition = Composition.PURE

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon, what="budget: epsilon", code="query-metadata")
        checked_delta(self.delta, what="budget: delta", code="query-metadata")
        if self.composition not in list(Composition):
            raise InputError(f"budget: composition is one of {', '.join(Composition)}", code="query-metadata")
        object.__setattr__(self, "composition", Composition(self.composition))
        if self.composition is Composition.ZCDP and not self.delta:
            raise InputError("budget: composition zcdp needs a delta above 0", code="query-metadata")

    @property
    def is_pure(self) -> bool:
        """Whether epsilons are added."""
        return self.composition is Composition.PURE

    @cached_property
    def limit(self) -> Cost:
        """The total that may be spent."""
        return self.price(self.epsilon, self.delta if self.is_pure else self.delta / 2)

    def price(self, epsilon: float, delta: float) -> Cost:
        """Return the cost of a query that on its own is (epsilon, delta)-differentially private."""
        amount = exactly(epsilon) if self.is_pure else Fraction(rho_of(epsilon, self.delta / 2))
        return Cost(amount, exactly(delta))

    def epsilon_of(self, amount: Fraction) -> float:
        """Return the epsilon of an amount: the amount itself, or the conversion of rho by OpenDP."""
        return float(amount) if self.is_pure else epsilon_of(float(amount), self.delta / 2)

    def refuse_beyond(self, spent: Cost, cost: Cost) -> None:
        """Refuse a cost that exceeds what is left."""
        left = self.limit - spent
        if cost.amount <= left.amount and cost.delta <= left.delta:
            return
        refusal = BudgetExceeded(
            f"the budget is not sufficient, and nothing was spent: the query costs {self.in_words(cost)}, "
            f"{self.in_words(left)} are left of {self.in_words(self.limit)}",
            code="query-budget",
        )
        refusal.figures = {"cost": self.cost_to_dict(cost), "remaining": self.cost_to_dict(left)}
        raise refusal

    def in_words(self, cost: Cost) -> str:
        """An amount and a delta in words."""
        words = f"epsilon {self.epsilon_of(max(cost.amount, Fraction(0))):.6g}"
        if not self.is_pure:
            words += f" (rho {float(cost.amount):.6g})"
        return f"{words} and delta {float(cost.delta):.6g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the budget as a metadata file writes it."""
        return {"epsilon": self.epsilon, "delta": self.delta, "composition": str(self.composition)}

    def cost_to_dict(self, cost: Cost) -> dict[str, float]:
        """Return a cost as plain data: epsilon, delta, and for zcdp rho."""
        shown = {"epsilon": self.epsilon_of(max(cost.amount, Fraction(0))), "delta": float(cost.delta)}
        return shown if self.is_pure else {**shown, "rho": float(cost.amount)}


def exactly(number: float) -> Fraction:
    """Return the decimal number that was written: 0.1 is one tenth."""
    return Fraction(str(number))


def checked_epsilon(epsilon: object, *, what: str, code: str) -> float:
    """Return an epsilon, or refuse it."""
    if not is_finite(epsilon) or not LEAST_EPSILON <= float(str(epsilon)) <= MOST_EPSILON:
        raise InputError(f"{what} is a number from {LEAST_EPSILON} to {MOST_EPSILON:g}", code=code)
    return float(str(epsilon))


def checked_delta(delta: object, *, what: str, code: str) -> float:
    """Return a delta, or refuse it."""
    if not is_finite(delta) or not (float(str(delta)) == 0 or LEAST_DELTA <= float(str(delta)) < 1):
        raise InputError(f"{what} is 0, or a number from {LEAST_DELTA} to below 1", code=code)
    return float(str(delta))


@lru_cache(maxsize=1024)
def epsilon_of(rho: float, delta: float) -> float:
    """Return the least epsilon for which rho-zCDP implies (epsilon, delta)-differential privacy, by OpenDP's map."""
    if rho <= 0:
        return 0.0
    profile = _profile(rho)
    return float(profile.epsilon(delta))


def _profile(rho: float) -> Any:
    """OpenDP's privacy profile of Gaussian noise that costs this rho, and not less."""
    dp = opendp()
    noise = dp.m.make_gaussian(
        dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=(1 - 1e-12) / math.sqrt(2 * rho)
    )
    if noise.map(1) < rho:
        raise InternalError("Gaussian noise costs less than it should", code="query-noise-cost")
    return dp.c.make_zCDP_to_approxDP(noise).map(1)


@lru_cache(maxsize=1024)
def rho_of(epsilon: float, delta: float) -> float:
    """Return the greatest rho, up to a relative 1e-9, that OpenDP converts to at most this epsilon."""
    low, high = 0.0, epsilon
    while high - low > high * 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if _profile(middle).delta(epsilon) <= delta else (low, middle)
    return low
