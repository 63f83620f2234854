"""All attacks that can be run with what is at hand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from kohorte.errors import InputError, nearest
from kohorte.release.plan import Plan
from kohorte.risks.attacks.attack import Attack, Attacks, SkippedAttack
from kohorte.risks.attacks.background_knowledge import background_knowledge_attack
from kohorte.risks.attacks.complementary_release import complementary_release_attack
from kohorte.risks.attacks.homogeneity import homogeneity_attack
from kohorte.risks.attacks.knowledge import Knowledge, checked_knowledge
from kohorte.risks.attacks.linkage import linkage_attack
from kohorte.risks.attacks.similarity import similarity_attack
from kohorte.risks.attacks.skewness import skewness_attack
from kohorte.risks.attacks.unsorted_matching import unsorted_matching_attack
from kohorte.risks.shown_table import checked_table

NEEDS = {
    "linkage": "register",
    "homogeneity": None,
    "background-knowledge": None,
    "skewness": None,
    "similarity": None,
    "unsorted-matching": "release",
    "complementary-release": "release",
}
"""The attacks by their names on the command line, and what else each of them needs."""

GIVE = {
    "attack-no-sensitive": "a table with a column that the plan calls sensitive",
    "attack-no-hierarchy": "a hierarchy for a sensitive attribute, in the plan",
    "attack-too-large": "a part of the rows, or fewer entries of knowledge",
    "value-not-in-hierarchy": "a hierarchy that has all values of the column",
}
"""What would help where an attack cannot be run, by the code of the error."""

TABLES = {
    "register": ("it needs a second table, with names", "--register FILE (register=)"),
    "release": ("it needs another release of the same rows", "--release FILE (other_release=)"),
}
"""Why an attack cannot be run without a second table, and how that is given."""


def run_attacks(
    frame: object,
    plan: Plan,
    *,
    only: Sequence[str] | None = None,
    register: object = None,
    other_release: object = None,
    knowledge: Sequence[Knowledge] | None = None,
) -> Attacks:
    """Run the attacks for which all is at hand, or `only` those that are named.

    The linkage attack needs a register, unsorted matching and complementary release need another release. What cannot
    be run is `skipped`, with the reason, unless it was named: then it is refused.
    """
    table = checked_table(frame, plan)
    known: Mapping[str, Callable[[], Attack]] = {
        "linkage": lambda: linkage_attack(table, plan, register),
        "homogeneity": lambda: homogeneity_attack(table, plan),
        "background-knowledge": lambda: background_knowledge_attack(table, plan, knowledge=knowledge),
        "skewness": lambda: skewness_attack(table, plan),
        "similarity": lambda: similarity_attack(table, plan),
        "unsorted-matching": lambda: unsorted_matching_attack(table, plan, other_release),
        "complementary-release": lambda: complementary_release_attack(table, plan, other_release),
    }
    if knowledge is not None:
        checked_knowledge(knowledge, plan)
    lacking = {name for name, given in (("register", register), ("release", other_release)) if given is None}
    if only is not None:
        return Attacks(tuple(known[name]() for name in _chosen(only, lacking)))
    outcomes = [
        _skipped(name, NEEDS[name]) if NEEDS[name] in lacking else _run(name, attack) for name, attack in known.items()
    ]
    return Attacks(
        tuple(outcome for outcome in outcomes if isinstance(outcome, Attack)),
        tuple(outcome for outcome in outcomes if isinstance(outcome, SkippedAttack)),
    )


def _chosen(only: object, lacking: Collection[str]) -> tuple[str, ...]:
    """The names of the attacks that are asked for, each once, if they can be run."""
    if isinstance(only, str) or not isinstance(only, Sequence) or not only:
        raise InputError("only: give a list of names of attacks, at least one", code="attack-parameter")
    for name in only:
        if name not in NEEDS:
            raise InputError(
                f"unknown attack {name!r}{nearest(str(name), NEEDS)}; known are {', '.join(NEEDS)}",
                code="attack-unknown",
            )
        needed = NEEDS[name]
        if needed is not None and needed in lacking:
            reason, how = TABLES[needed]
            raise InputError(f"the attack {name} cannot be run: {reason}: {how}", code="attack-needs-table")
    return tuple(dict.fromkeys(only))


def _skipped(name: str, needed: str | None) -> SkippedAttack:
    reason, how = TABLES[str(needed)]
    return SkippedAttack(name.replace("-", " "), reason, how)


def _run(name: str, attack: Callable[[], Attack]) -> Attack | SkippedAttack:
    try:
        return attack()
    except InputError as error:
        if error.code not in GIVE:
            raise
        return SkippedAttack(name.replace("-", " "), error.message, GIVE[error.code])
