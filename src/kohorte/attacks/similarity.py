"""Similarity attack: the sensitive values of a class differ, but are similar."""

from __future__ import annotations

import numpy as np
import polars as pl

from kohorte.attacks.attack import Attack
from kohorte.attacks.tables.attacked import AttackedTable
from kohorte.attacks.tables.members import Members
from kohorte.attacks.tables.sensitive_values import count_values
from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Bools, Codes
from kohorte.plans.plan import Plan
from kohorte.sources import encode_sensitive


def similarity_attack(frame: object, plan: Plan, *, level: int = 1, original: object = None) -> Attack:
    """Count the people of classes without a common value, but with a group of values that everybody has one of.

    Groups are those of a level of the hierarchy. Classes with a value that everybody has belong to the homogeneity
    attack. If it is not known whom the rows are about (by the table or by its `original`), rows are counted: those of
    classes whose values differ but belong to one group.

    Source
        Li, Li and Venkatasubramanian, t-Closeness: Privacy Beyond k-Anonymity and l-Diversity, ICDE 2007.
    """
    return attack_by_similarity(AttackedTable.of(frame, plan, original=original), level=level)


def attack_by_similarity(attacked: AttackedTable, *, level: int = 1) -> Attack:
    """The attack on a table whose members are known."""
    if type(level) is not int or level < 1:
        raise InputError(f"level must be a whole number of at least 1, not {level!r}", code="attack-parameter")
    plan, members = attacked.plan, attacked.members
    names = [name for name in attacked.sensitive_names if plan.attributes[name].hierarchy is not None]
    if not names:
        raise InputError(
            "no sensitive attribute has a hierarchy in the plan, so it is unknown which values are similar",
            code="attack-no-hierarchy",
        )
    hurt = np.zeros(members.classes, dtype=bool)
    facts = []
    for name in names:
        text = members.text(name)
        column = encode_sensitive(text, plan.attributes[name].hierarchy)
        told = text.is_not_null().to_numpy() & text.ne_missing(pl.Series([SUPPRESSED])).to_numpy()
        several = ~_common(members, column.codes, told)
        for number, groups in enumerate(column.domain.maps[1:-1], start=1):  # between the value and *
            alike = several & _common(members, groups[column.codes], told)
            if number == level:
                hurt |= alike
            facts.append({"attribute": name, "level": number, **members.figures(alike)})
    return Attack.on(
        members,
        name="similarity",
        hurt=members.in_classes(hurt),
        how=f"the sensitive values of the person's class differ, but at level {level} of their hierarchy they are one "
        "group: the attacker learns the kind of disease, though not which one",
        prevented_by="t-closeness with the hierarchical distance, or l-diversity of a sensitive attribute that is "
        "generalized to that level",
        facts={"level": level, "levels": facts},
    )


def _common(members: Members, codes: Codes, told: Bools) -> Bools:
    """Which classes have a code, of a known value, that all members have."""
    names = ["known" if known else None for known in _known(codes, told)]
    return count_values(members, "", codes, tuple(names)).common


def _known(codes: Codes, told: Bools) -> Bools:
    """Which codes are those of known values."""
    found = np.zeros(int(codes.max(initial=0)) + 1, dtype=bool)
    found[codes[told]] = True
    return found
