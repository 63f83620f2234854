"""Background knowledge: of the sensitive values of a class all but one can be excluded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools
from kohorte.release.plan import Plan
from kohorte.risks.attacks.attack import Attack
from kohorte.risks.attacks.knowledge import Knowledge
from kohorte.risks.attacks.meaning import overlap
from kohorte.risks.attacks.sensitive_values import ValueCounts, sensitive_values
from kohorte.risks.shown_table import ShownTable, checked_table

NAME = "background knowledge"
PREVENTED_BY = "l-diversity: with l different values in every class, l - 1 of them have to be excluded"


def background_knowledge_attack(
    frame: object, plan: Plan, *, knowledge: Sequence[Knowledge] | None = None, values_excluded: int = 1
) -> Attack:
    """Count the rows whose sensitive value is the only one left.

    With `knowledge`, each piece of it is used by itself: on the classes in which somebody with its quasi-identifiers
    can be. Without, the attacker is able to exclude any `values_excluded` values of a class: the worst that so much
    knowledge can do. Classes of one value are left to the homogeneity attack.

    Source
        Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-Diversity: Privacy Beyond k-Anonymity, TKDD 1(1), 2007.
    """
    table = checked_table(frame, plan)
    shown = ShownTable.of(table, plan.quasi_identifiers)
    if knowledge is not None:
        return _with(tuple(knowledge), table, shown, plan)
    if type(values_excluded) is not int or values_excluded < 1:
        raise InputError(
            f"the number of excluded values must be at least 1, not {values_excluded!r}", code="attack-parameter"
        )
    hurt = np.zeros(shown.classes, dtype=bool)
    for values in sensitive_values(table, shown, plan):
        hidden = np.zeros(shown.classes, dtype=bool)
        hidden[values.classes[~values.told]] = True
        hurt |= (values.distinct > 1) & (values.distinct <= values_excluded + 1) & ~hidden
    return Attack(
        name=NAME,
        people_hurt=int(shown.sizes[hurt].sum()),
        rows_tried=shown.kept_rows,
        how=f"somebody who can exclude {values_excluded} of the sensitive values in the person's class is left with 1",
        prevented_by=PREVENTED_BY,
        facts={"values_excluded": values_excluded, "classes": int(hurt.sum())},
    )


def _with(knowledge: Sequence[Knowledge], table: pl.DataFrame, shown: ShownTable, plan: Plan) -> Attack:
    for piece in knowledge:
        if not isinstance(piece, Knowledge):
            raise InputError("knowledge: give a list of Knowledge(...)", code="knowledge-entry")
        piece.check(plan)
    by_name = {values.name: values for values in sensitive_values(table, shown, plan)}
    if lacking := [piece.attribute for piece in knowledge if piece.attribute not in by_name]:
        raise InputError(
            f"the table has no column {lacking[0]!r}, which the knowledge is about", code="knowledge-attribute"
        )
    hurt = np.zeros(shown.kept_rows, dtype=bool)
    facts = []
    for number, piece in enumerate(knowledge, start=1):
        values = by_name[piece.attribute]
        last = _last_ones(piece, values, shown, plan)
        rows = last[values.cell_of_row]
        hurt |= rows
        facts.append(
            {
                "entry": number,
                "attribute": piece.attribute,
                "classes": len(np.unique(values.classes[last])),
                "rows": int(rows.sum()),
            }
        )
    return Attack(
        name=NAME,
        people_hurt=int(hurt.sum()),
        rows_tried=shown.kept_rows,
        how="of the sensitive values in the person's class all but one are excluded by what the attacker knows",
        prevented_by=PREVENTED_BY,
        facts={"knowledge": facts},
    )


def _last_ones(piece: Knowledge, values: ValueCounts, shown: ShownTable, plan: Plan) -> Bools:
    """The cells (class, value) that are the only ones left in classes where the person can be."""
    excluded = np.isin(values.values, [number for number, text in enumerate(values.texts) if text in piece.excludes])
    left = np.bincount(values.classes[~excluded], minlength=shown.classes)
    person_fits = np.ones(shown.classes, dtype=bool)
    for name, value in piece.when.items():
        column = shown.names.index(name)
        fitting = overlap(
            shown.texts[column], (value,), plan.attributes[name].hierarchy, attribute=name, right_are_values=True
        )
        person_fits &= fitting.matrix[shown.cells[:, column], 0]
    found = (left[values.classes] == 1) & (values.distinct[values.classes] > 1) & person_fits[values.classes]
    return np.asarray(found & ~excluded & values.told, dtype=bool)
