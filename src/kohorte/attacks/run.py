"""Run all attacks for which the input is given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from kohorte.attacks.attack import Attack, Attacks, SkippedAttack
from kohorte.attacks.background_knowledge import background_knowledge_attack
from kohorte.attacks.complementary_release import complementary_release_attack
from kohorte.attacks.homogeneity import homogeneity_attack
from kohorte.attacks.knowledge import Knowledge, checked_knowledge
from kohorte.attacks.linkage import linkage_attack
from kohorte.attacks.rows_of_one_person import ROWS_OF_ONE_PERSON, rows_of_one_person_attack
from kohorte.attacks.similarity import similarity_attack
from kohorte.attacks.skewness import skewness_attack
from kohorte.attacks.unsorted_matching import unsorted_matching_attack
from kohorte.errors import InputError, nearest
from kohorte.plans.plan import Plan
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.risks.shown.table import checked_table

NEEDS = {
    "linkage": "register",
    "homogeneity": None,
    "background-knowledge": None,
    "skewness": None,
    "similarity": None,
    "unsorted-matching": "release",
    "complementary-release": "release",
    "rows-of-one-person": "original",
}
"""The attacks by their names on the command line, and the second table that each of them needs."""

GIVE = {
    "attack-no-sensitive": "a table with a sensitive column of the plan",
    "attack-no-hierarchy": "a hierarchy for a sensitive attribute, in the plan",
    "attack-no-person": "person in the plan, the column that says whom a row is about",
    "people-unclear": "the original table of this very release",
    "attack-too-large": "a part of the rows, or fewer entries of knowledge",
    "value-not-in-hierarchy": "a hierarchy that contains all values of the column",
    "value-is-star": "a hierarchy that contains all values of the column",
}
"""What to give if an attack cannot be run, by the code of the error."""

TABLES = {
    "register": ("it needs a second table, with names", "--register FILE (register=)"),
    "release": ("it needs another release of the same rows", "--release FILE (other_release=)"),
    "original": ("it needs the original table, which says whom a row is about", "--original FILE (original=)"),
}
"""Why an attack needs a second table, and the option that gives it."""


IN_ROWS = "counts rows, not people: a person with several rows counts several times"


def run_attacks(
    frame: object,
    plan: Plan,
    *,
    only: Sequence[str] | None = None,
    register: object = None,
    other_release: object = None,
    knowledge: Sequence[Knowledge] | None = None,
    original: object = None,
    progress: ProgressCallback | None = None,
) -> Attacks:
    """Run the attacks for which the input is given, or `only` those that are named.

    The linkage attack needs a register; unsorted matching and complementary release need another release; the attack
    with all rows of one person needs the original table. An attack that cannot be run is `skipped`, with the reason; if
    it was named in `only`, an error is raised. `progress` is called when an attack begins.
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
        "rows-of-one-person": lambda: rows_of_one_person_attack(table, plan, original),
    }
    if knowledge is not None:
        checked_knowledge(knowledge, plan)
    given = {"register": register, "release": other_release, "original": original}
    lacking = {name for name, table_given in given.items() if table_given is None}
    if only is not None:
        return Attacks(tuple(_noted(known[name](), plan) for name in _told(_chosen(only, lacking), progress)))
    runnable = _told([name for name in known if NEEDS[name] not in lacking], progress)
    run = {name: _run(name, known[name]) for name in runnable}
    outcomes = [run[name] if name in run else _skipped(name, NEEDS[name]) for name in known]
    return Attacks(
        tuple(_noted(outcome, plan) for outcome in outcomes if isinstance(outcome, Attack)),
        tuple(outcome for outcome in outcomes if isinstance(outcome, SkippedAttack)),
    )


def _noted(attack: Attack, plan: Plan) -> Attack:
    """Say that an attack counts rows where the plan counts people; only one attack counts people."""
    if not plan.unit.counts_people or attack.name == ROWS_OF_ONE_PERSON:
        return attack
    return replace(attack, notes=(*attack.notes, IN_ROWS))


def _told(names: Sequence[str], progress: ProgressCallback | None) -> Iterator[str]:
    """The names of attacks; before each, the progress is reported."""
    for number, name in enumerate(names, start=1):
        tell(progress, Stage.ATTACKING, f"by {name.replace('-', ' ')}, attack {number} of {len(names)}")
        yield name


def _chosen(only: object, lacking: Collection[str]) -> tuple[str, ...]:
    """The names of the requested attacks, each once, if they can be run."""
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
