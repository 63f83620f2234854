"""Similarity attack: the sensitive values of a class differ, but are similar."""

from __future__ import annotations

import numpy as np

from kohorte.attacks.attack import Attack
from kohorte.attacks.sensitive_values import sensitive_names
from kohorte.data import as_text
from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools, Codes
from kohorte.plans.plan import Plan
from kohorte.risks.shown.table import ShownTable, checked_table
from kohorte.sources import encode_sensitive


def similarity_attack(frame: object, plan: Plan, *, level: int = 1) -> Attack:
    """Count the rows of classes whose values differ but belong to one group at a level of the hierarchy.

    Classes with one value belong to the homogeneity attack.

    Source
        Li, Li and Venkatasubramanian, t-Closeness: Privacy Beyond k-Anonymity and l-Diversity, ICDE 2007.
    """
    if type(level) is not int or level < 1:
        raise InputError(f"level must be a whole number of at least 1, not {level!r}", code="attack-parameter")
    table = checked_table(frame, plan)
    names = [name for name in sensitive_names(table, plan) if plan.attributes[name].hierarchy is not None]
    if not names:
        raise InputError(
            "no sensitive attribute has a hierarchy in the plan, so it is unknown which values are similar",
            code="attack-no-hierarchy",
        )
    shown = ShownTable.of(table, plan.quasi_identifiers)
    hurt = np.zeros(shown.classes, dtype=bool)
    facts = []
    for name in names:
        column = encode_sensitive(as_text(table[name]), plan.attributes[name].hierarchy)
        codes = column.codes[shown.kept]
        several = ~_all_alike(shown, codes)
        for number, groups in enumerate(column.domain.maps[1:-1], start=1):  # between the value and *
            alike = several & _all_alike(shown, groups[codes])
            if number == level:
                hurt |= alike
            facts.append(
                {"attribute": name, "level": number, "classes": int(alike.sum()), "rows": int(shown.sizes[alike].sum())}
            )
    return Attack(
        name="similarity",
        people_hurt=int(shown.sizes[hurt].sum()),
        rows_tried=shown.kept_rows,
        how=f"the sensitive values of the person's class differ, but at level {level} of their hierarchy they are one "
        "group: the attacker learns the kind of disease, though not which one",
        prevented_by="t-closeness with the hierarchical distance, or l-diversity of a sensitive attribute that is "
        "generalized to that level",
        facts={"level": level, "levels": facts},
    )


def _all_alike(shown: ShownTable, codes: Codes) -> Bools:
    """Which classes have the same code in all rows."""
    least = np.full(shown.classes, np.iinfo(np.int64).max)
    most = np.full(shown.classes, -1)
    np.minimum.at(least, shown.class_of, codes)
    np.maximum.at(most, shown.class_of, codes)
    return np.asarray(least == most, dtype=bool)
