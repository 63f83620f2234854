"""Homogeneity attack: all members of a class have the same sensitive value, so the exact row need not be known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kohorte.attacks.attack import Attack
from kohorte.attacks.tables.attacked import AttackedTable
from kohorte.attacks.tables.sensitive_values import sensitive_values
from kohorte.data import as_text
from kohorte.hierarchies import SUPPRESSED
from kohorte.plans.plan import Plan


def homogeneity_attack(frame: object, plan: Plan, *, original: object = None) -> Attack:
    """Count the people in classes with a sensitive value that everybody in the class has.

    Suppressed rows look alike and are one more class: an attacker who knows that somebody is in the table, and finds no
    class that fits, knows that the row is suppressed. They are left out if the release says whom its other rows are
    about; then a note says what all of them share.

    If it is not known whom the rows are about, the rows in classes of one value. Whom they are about is said by the
    table or, for a release, by the `original` table. A class of one person has only values that everybody has.

    Source
        Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-Diversity: Privacy Beyond k-Anonymity, TKDD 1(1), 2007.
    """
    return attack_by_homogeneity(AttackedTable.of(frame, plan, original=original))


def attack_by_homogeneity(attacked: AttackedTable) -> Attack:
    """The attack on a table whose members are known."""
    whole = attacked.with_suppressed
    members = whole.members
    hurt = np.zeros(members.classes, dtype=bool)
    facts = []
    for values in sensitive_values(whole):
        hurt |= values.common
        facts.append({"attribute": values.name, **members.figures(values.common)})
    return Attack.on(
        members,
        name="homogeneity",
        hurt=members.in_classes(hurt),
        how="an attacker who knows a person's quasi-identifiers finds the class; its rows share one sensitive value",
        prevented_by="l-diversity (l of at least 2) for each sensitive attribute",
        facts={
            "classes": members.classes,
            "homogeneous_classes": int(hurt.sum()),
            "suppressed_rows_as_class": members.shown.kept_rows - attacked.shown.kept_rows,
            "attributes": facts,
        },
        notes=tuple(_left_out(attacked)) if whole is attacked else (),
    )


def _left_out(attacked: AttackedTable) -> Iterator[str]:
    """Say what suppressed rows share that do not say whom they are about."""
    hidden = np.setdiff1d(np.arange(attacked.shown.rows), attacked.shown.kept)
    for name in attacked.sensitive_names if len(hidden) else ():
        values = as_text(attacked.table[name])[hidden].unique().to_list()
        if len(values) == 1 and values[0] not in (None, SUPPRESSED):
            yield (
                f"all suppressed rows share a value of {name!r}; whom they are about is not known, so they are not "
                "among those hurt"
            )
