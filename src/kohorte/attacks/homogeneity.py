"""Homogeneity attack: all rows of a class have the same sensitive value, so the exact row need not be known."""

from __future__ import annotations

import numpy as np

from kohorte.attacks.attack import Attack
from kohorte.attacks.sensitive_values import sensitive_values
from kohorte.plans.plan import Plan
from kohorte.risks.shown.table import ShownTable, checked_table


def homogeneity_attack(frame: object, plan: Plan) -> Attack:
    """Count the rows in classes of one sensitive value.

    Source
        Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-Diversity: Privacy Beyond k-Anonymity, TKDD 1(1), 2007.
    """
    table = checked_table(frame, plan)
    shown = ShownTable.of(table, plan.quasi_identifiers)
    hurt = np.zeros(shown.classes, dtype=bool)
    facts = []
    for values in sensitive_values(table, shown, plan):
        alone = values.classes[(values.distinct[values.classes] == 1) & values.told]
        hurt[alone] = True
        facts.append({"attribute": values.name, "classes": len(alone), "rows": int(shown.sizes[alone].sum())})
    return Attack(
        name="homogeneity",
        people_hurt=int(shown.sizes[hurt].sum()),
        rows_tried=shown.kept_rows,
        how="an attacker who knows a person's quasi-identifiers finds the class; its rows share one sensitive value",
        prevented_by="l-diversity (l of at least 2) for each sensitive attribute",
        facts={"classes": shown.classes, "homogeneous_classes": int(hurt.sum()), "attributes": facts},
    )
