"""Skewness attack: a sensitive value is much more frequent in a class than in the table."""

from __future__ import annotations

import numpy as np

from kohorte.attacks.attack import Attack
from kohorte.attacks.sensitive_values import sensitive_values
from kohorte.errors import InputError
from kohorte.in_words import number, percent
from kohorte.plans.plan import Plan
from kohorte.plans.search_options import is_number
from kohorte.risks.shown.table import ShownTable, checked_table


def skewness_attack(frame: object, plan: Plan, *, likely: float = 0.5, times: float = 2.0) -> Attack:
    """Count the rows whose sensitive value can be guessed from the class, but not from the table.

    The value has at least the share `likely` in the class, and at least `times` its share in the table. Rows of the
    same class with another value are suspected wrongly; they are counted separately.

    Source
        Li, Li and Venkatasubramanian, t-Closeness: Privacy Beyond k-Anonymity and l-Diversity, ICDE 2007.
    """
    if not is_number(likely) or not 0 < likely <= 1 or not is_number(times) or not times > 1:
        raise InputError("likely must be above 0 and at most 1, and times above 1", code="attack-parameter")
    table = checked_table(frame, plan)
    shown = ShownTable.of(table, plan.quasi_identifiers)
    hurt, suspected = np.zeros(shown.kept_rows, dtype=bool), np.zeros(shown.classes, dtype=bool)
    facts = []
    for values in sensitive_values(table, shown, plan):
        overall = np.bincount(values.values, weights=values.counts) / max(1, shown.kept_rows)
        share = values.counts / shown.sizes[values.classes]
        skewed = values.told & (share >= likely * (1 - 1e-12)) & (share >= times * overall[values.values] * (1 - 1e-12))
        suspected[values.classes[skewed]] = True
        rows = skewed[values.cell_of_row]
        hurt |= rows
        classes = len(np.unique(values.classes[skewed]))
        facts.append({"attribute": values.name, "classes": classes, "rows": int(rows.sum())})
    return Attack(
        name="skewness",
        people_hurt=int(hurt.sum()),
        rows_tried=shown.kept_rows,
        how=f"in the person's class a sensitive value has a share of at least {percent(likely)}, and at least "
        f"{number(times)} times its share in the table: an attacker who knows the class guesses it, usually correctly",
        prevented_by="t-closeness, delta-disclosure or beta-likeness for each sensitive attribute",
        facts={
            "likely": likely,
            "times": times,
            "skewed_classes": int(suspected.sum()),
            "suspected_wrongly": int(shown.sizes[suspected].sum() - hurt.sum()),
            "attributes": facts,
        },
    )
