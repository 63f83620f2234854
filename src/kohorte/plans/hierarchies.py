"""The hierarchies of a plan's quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping

from kohorte.hierarchies import Builder, Ordering
from kohorte.plans.plan import Plan

VALUE_OR_STAR = Ordering()
"""The hierarchy of a quasi-identifier without a hierarchy in the plan."""


def hierarchies(plan: Plan) -> Mapping[str, Builder]:
    """The hierarchy builder of every quasi-identifier."""
    return {name: plan.attributes[name].hierarchy or VALUE_OR_STAR for name in plan.quasi_identifiers}
