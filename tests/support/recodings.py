"""Releases of small tables by one recoder or search, for tests."""

from typing import Any

import kohorte as ko
from kohorte.models import KAnonymity

QUASI = {"role": "quasi-identifying"}


def recode(
    table: Any, attributes: Any, algorithm: Any, *, k: int, limit: float = 0.0, metric: Any = "loss", **options: Any
) -> ko.Release:
    """Release a table that is k-anonymous, in the order of its rows."""
    plan = ko.Plan(
        attributes=attributes,
        models=[KAnonymity(k=k)],
        suppression_limit=limit,
        metric=metric,
        search=algorithm,
        order="input",
        **options,
    )
    return ko.anonymize(table, plan)
