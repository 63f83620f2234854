"""Skewness attack: a sensitive value is much more frequent in a class than in the table."""

from __future__ import annotations

import numpy as np

from kohorte.attacks.attack import Attack
from kohorte.attacks.tables.attacked import AttackedTable
from kohorte.attacks.tables.sensitive_values import sensitive_values
from kohorte.errors import InputError
from kohorte.in_words import number, percent
from kohorte.plans.plan import Plan
from kohorte.plans.search_options import is_number


def skewness_attack(
    frame: object, plan: Plan, *, likely: float = 0.5, times: float = 2.0, original: object = None
) -> Attack:
    """Count the people whose sensitive value can be guessed from the class, but not from the table.

    The value has at least the share `likely` in the class, and at least `times` its share in the table. Shares are
    people with the value / people of the class, or of the table. Others in the class are suspected wrongly; they are
    counted separately. If it is not known whom the rows are about (by the table or by its `original`), rows are
    counted.

    Source
        Li, Li and Venkatasubramanian, t-Closeness: Privacy Beyond k-Anonymity and l-Diversity, ICDE 2007.
    """
    return attack_by_skewness(AttackedTable.of(frame, plan, original=original), likely=likely, times=times)


def attack_by_skewness(attacked: AttackedTable, *, likely: float = 0.5, times: float = 2.0) -> Attack:
    """The attack on a table whose members are known."""
    if not is_number(likely) or not 0 < likely <= 1 or not is_number(times) or not times > 1:
        raise InputError("likely must be above 0 and at most 1, and times above 1", code="attack-parameter")
    members = attacked.members
    hurt, suspected = np.zeros(len(members.whom), dtype=bool), np.zeros(members.classes, dtype=bool)
    facts = []
    for values in sensitive_values(attacked):
        with_value = members.in_each(values.values[values.cell_of], len(values.texts))
        overall = with_value / max(1, members.count)
        share = values.counts / members.sizes[values.classes]
        skewed = values.told & (share >= likely * (1 - 1e-12)) & (share >= times * overall[values.values] * (1 - 1e-12))
        suspected[values.classes[skewed]] = True
        entries = skewed[values.cell_of]
        hurt |= entries
        facts.append(
            {
                "attribute": values.name,
                "classes": len(np.unique(values.classes[skewed])),
                "rows": int(members.rows[entries].sum()),
                **members.as_people(members.different(entries)),
            }
        )
    return Attack.on(
        members,
        name="skewness",
        hurt=members.different(hurt),
        how=f"in the person's class a sensitive value has a share of at least {percent(likely)}, and at least "
        f"{number(times)} times its share in the table: an attacker who knows the class guesses it, usually correctly",
        prevented_by="t-closeness, delta-disclosure or beta-likeness for each sensitive attribute",
        facts={
            "likely": likely,
            "times": times,
            "skewed_classes": int(suspected.sum()),
            "suspected_wrongly": members.in_classes(suspected) - members.different(hurt),
            "attributes": facts,
        },
    )
