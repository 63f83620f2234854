"""The settings that are tried: values of k, suppression limits and epsilons, and the plan that each of them gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from kohorte.errors import InputError
from kohorte.models import KAnonymity
from kohorte.plans.plan import Plan

KS = (2, 3, 5, 10, 15, 20, 30, 50, 100)
LIMITS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
MOST_SETTINGS = 40
LARGEST_K = 1_000_000
Number = TypeVar("Number", int, float)


def tried_ks(given: Sequence[int] | None, plan: Plan, size: int) -> tuple[int, ...]:
    """Return the values of k, with that of the plan; by default those that a table of this size can reach."""
    if given is not None:
        return _sorted([_whole(k) for k in given], "k")
    own = [] if k_of(plan) is None else [k_of(plan) or 0]
    return _sorted([*(k for k in KS if 2 * k <= size), *own], "k")


def tried_limits(given: Sequence[float] | None, plan: Plan) -> tuple[float, ...]:
    """Return the suppression limits, as shares of the rows, with that of the plan."""
    if given is None:
        return _sorted([*LIMITS, float(plan.suppression_limit)], "limits")
    return _sorted([_share(limit) for limit in given], "limits")


def tried_epsilons(given: Sequence[float] | None) -> tuple[float, ...]:
    """Return the values of epsilon."""
    return _sorted([_positive(epsilon) for epsilon in (EPSILONS if given is None else given)], "epsilons")


def k_of(plan: Plan) -> int | None:
    """The largest k of the plan's k-anonymity; None if it has no such model."""
    return max((int(model.k) for model in plan.models if isinstance(model, KAnonymity)), default=None)


def with_k(plan: Plan, k: int) -> Plan:
    """Return the plan with this k; k-anonymity is added if the plan does not ask for it."""
    others = [model for model in plan.models if not isinstance(model, KAnonymity)]
    return replace(plan, models=[KAnonymity(k=k), *others])


def with_limit(plan: Plan, limit: float) -> Plan:
    """Return the plan with this suppression limit."""
    return replace(plan, suppression_limit=limit)


def _sorted(values: Sequence[Number], what: str) -> tuple[Number, ...]:
    found = tuple(sorted(set(values)))
    if len(found) > MOST_SETTINGS:
        raise InputError(f"{what}: at most {MOST_SETTINGS} values are tried at once", code="tradeoff-setting")
    return found


def _whole(k: object) -> int:
    if type(k) is not int or not 1 <= k <= LARGEST_K:
        raise InputError(f"k is a whole number from 1 to {LARGEST_K:,}", code="tradeoff-setting")
    return k


def _share(limit: object) -> float:
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit <= 1:
        raise InputError(
            "a suppression limit is a share of the rows from 0 to 1 (0.05 is 5 %)", code="tradeoff-setting"
        )
    return float(limit)


def _positive(epsilon: object) -> float:
    known = isinstance(epsilon, int | float) and not isinstance(epsilon, bool)
    if not known or not math.isfinite(float(epsilon)) or float(epsilon) <= 0:  # type: ignore[arg-type]
        raise InputError("an epsilon is a number above 0", code="tradeoff-setting")
    return float(epsilon)  # type: ignore[arg-type]
