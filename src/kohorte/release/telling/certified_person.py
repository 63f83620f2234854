"""Whether a certificate confirms what a plan says about people, where the table itself cannot tell it."""

from __future__ import annotations

from collections.abc import Iterable

from kohorte.plans.plan import Plan


def certified_person_points(plan: Plan, columns: Iterable[str], *, certified: bool) -> list[str]:
    """Return an open point if only the plan says that every row of a table with these columns is another person.

    `certified` tells whether the table was certified for this plan. A release has no identifying columns any more:
    somebody who passes it on with another plan, or without its certificate, can state of stays that they are people.
    A table that still has such a column says by itself whether it contradicts the plan.
    """
    if certified or plan.person is None or not plan.person.rows_are_people or set(plan.removed_columns) & set(columns):
        return []
    return [
        "only the plan says that every row is another person (person: none): no certificate next to the table confirms "
        "that it was made with this plan; put the certificate beside it, or give the original table (--population)"
    ]
