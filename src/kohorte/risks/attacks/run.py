"""All attacks that can be run with what is at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kohorte.errors import InputError, nearest
from kohorte.release.plan import Plan
from kohorte.risks.attacks.attack import Attack
from kohorte.risks.attacks.background_knowledge import background_knowledge_attack
from kohorte.risks.attacks.complementary_release import complementary_release_attack
from kohorte.risks.attacks.homogeneity import homogeneity_attack
from kohorte.risks.attacks.knowledge import Knowledge
from kohorte.risks.attacks.linkage import linkage_attack
from kohorte.risks.attacks.similarity import similarity_attack
from kohorte.risks.attacks.skewness import skewness_attack
from kohorte.risks.attacks.unsorted_matching import unsorted_matching_attack

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

UNABLE = ("attack-no-sensitive", "attack-no-hierarchy", "attack-too-large", "value-not-in-hierarchy")


def run_attacks(
    frame: object,
    plan: Plan,
    *,
    only: Sequence[str] | None = None,
    register: object = None,
    other_release: object = None,
    knowledge: Sequence[Knowledge] | None = None,
) -> tuple[Attack, ...]:
    """Run the attacks for which all is at hand, or `only` those that are named.

    The linkage attack needs a register, unsorted matching and complementary release need another release. What cannot
    be run is left out, unless it was named.
    """
    known: Mapping[str, Callable[[], Attack]] = {
        "linkage": lambda: linkage_attack(frame, plan, register),
        "homogeneity": lambda: homogeneity_attack(frame, plan),
        "background-knowledge": lambda: background_knowledge_attack(frame, plan, knowledge=knowledge),
        "skewness": lambda: skewness_attack(frame, plan),
        "similarity": lambda: similarity_attack(frame, plan),
        "unsorted-matching": lambda: unsorted_matching_attack(frame, plan, other_release),
        "complementary-release": lambda: complementary_release_attack(frame, plan, other_release),
    }
    at_hand = {
        None,
        *(["register"] if register is not None else []),
        *(["release"] if other_release is not None else []),
    }
    for name in only or ():
        if name not in NEEDS:
            raise InputError(
                f"unknown attack {name!r}{nearest(name, NEEDS)}; known are {', '.join(NEEDS)}", code="attack-unknown"
            )
        if NEEDS[name] not in at_hand:
            raise InputError(f"the attack {name} needs a second table: --{NEEDS[name]} FILE", code="attack-needs-table")
    if only is not None:
        return tuple(known[name]() for name in only)
    found = []
    for name, attack in known.items():
        if NEEDS[name] in at_hand:
            try:
                found.append(attack())
            except InputError as error:
                if error.code not in UNABLE:
                    raise
    return tuple(found)
