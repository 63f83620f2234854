"""The hierarchies of a plan's quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping

from kohorte.hierarchy import Builder, Ordering
from kohorte.release.plan import Plan

VALUE_OR_STAR = Ordering()
"""The hierarchy of a quasi-identifier for which the plan names none."""


def hierarchies(plan: Plan) -> Mapping[str, Builder]:
    """The hierarchy builder of every quasi-identifier."""
    return {name: plan.attributes[name].hierarchy or VALUE_OR_STAR for name in plan.quasi_identifiers}
