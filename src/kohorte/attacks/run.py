"""Run all attacks for which the input is given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from kohorte.attacks.attack import Attack, Attacks, SkippedAttack
from kohorte.attacks.background_knowledge import attack_by_background_knowledge
from kohorte.attacks.complementary_release import attack_by_complementary_release
from kohorte.attacks.homogeneity import attack_by_homogeneity
from kohorte.attacks.knowledge import Knowledge, checked_knowledge
from kohorte.attacks.linkage import attack_by_linkage
from kohorte.attacks.rows_of_one_person import rows_of_one_person_attack
from kohorte.attacks.similarity import attack_by_similarity
from kohorte.attacks.skewness import attack_by_skewness
from kohorte.attacks.tables.attacked import IN_ROWS, AttackedTable
from kohorte.attacks.unsorted_matching import attack_by_unsorted_matching
from kohorte.errors import InputError, nearest
from kohorte.in_words import ROWS, count
from kohorte.plans.plan import Plan
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.risks.shown.whom import people_in_doubt

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

UNCLEAR = "people-unclear"

GIVE = {
    "attack-no-sensitive": "a table with a sensitive column of the plan",
    "attack-no-hierarchy": "a hierarchy for a sensitive attribute, in the plan",
    "attack-no-person": "person in the plan, the column that says whom a row is about",
    UNCLEAR: "the original table of this very release",
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


Run = Callable[[AttackedTable], Attack]
"""An attack on a table; of a table whose people are unclear it counts rows."""


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

    If the plan counts people, so do the attacks: whom a row is about is said by the table or, for a release, by its
    `original`. An attack for which it is not known counts rows, with a note, and is an open point. So is every attack
    if the plan does not say whom a row is about and several rows may be about one person.
    """
    attacked, unclear = _attacked(frame, plan, original)
    doubts = people_in_doubt(attacked.table, plan, original)
    runs: Mapping[str, Run] = {
        "linkage": lambda table: attack_by_linkage(table, register),
        "homogeneity": attack_by_homogeneity,
        "background-knowledge": lambda table: attack_by_background_knowledge(table, knowledge=knowledge),
        "skewness": attack_by_skewness,
        "similarity": attack_by_similarity,
        "unsorted-matching": lambda table: attack_by_unsorted_matching(table, other_release),
        "complementary-release": lambda table: attack_by_complementary_release(table, other_release),
    }
    known: Mapping[str, Callable[[], Attack]] = {
        **{name: partial(_counted, run, attacked, unclear, doubted=bool(doubts)) for name, run in runs.items()},
        "rows-of-one-person": lambda: rows_of_one_person_attack(attacked.table, plan, original),
    }
    if knowledge is not None:
        checked_knowledge(knowledge, plan)
    given = {"register": register, "release": other_release, "original": original}
    lacking = {name for name, table_given in given.items() if table_given is None}
    if not plan.unit.counts_people:  # an original would not help: the attack itself says what is missing
        lacking.discard("original")
    if only is not None:
        return _together([known[name]() for name in _told(_chosen(only, lacking), progress)], doubts)
    runnable = _told([name for name in known if NEEDS[name] not in lacking], progress)
    run = {name: _run(name, known[name]) for name in runnable}
    return _together([run[name] if name in run else _skipped(name, NEEDS[name]) for name in known], doubts)


def _together(outcomes: Sequence[Attack | SkippedAttack], doubts: Sequence[str]) -> Attacks:
    run = tuple(outcome for outcome in outcomes if isinstance(outcome, Attack))
    skipped = tuple(outcome for outcome in outcomes if isinstance(outcome, SkippedAttack))
    by_rows = [attack.name for attack in run if any(note.startswith(IN_ROWS) for note in attack.notes)]
    point = f"{count(len(by_rows), 'attack counts', 'attacks count')} rows, not people: {', '.join(by_rows)}"
    return Attacks(run, skipped, (*((point,) if by_rows else ()), *doubts))


def _attacked(frame: object, plan: Plan, original: object) -> tuple[AttackedTable, str]:
    """The table with its people, if they are known; otherwise why they are unclear."""
    try:
        return AttackedTable.of(frame, plan, original=original), ""
    except InputError as error:
        if error.code != UNCLEAR:
            raise
        return AttackedTable.of(frame, plan), error.message


def _counted(run: Run, attacked: AttackedTable, unclear: str, *, doubted: bool) -> Attack:
    """Run an attack; if the people it needs are unclear, or rows are `doubted` to be people, say so."""
    try:
        attack = run(attacked)
    except InputError as error:
        if error.code != UNCLEAR:
            raise
        attack, unclear = run(attacked.in_rows()), error.message
    if attack.unit != ROWS.many or not (attacked.plan.unit.counts_people or doubted):
        return attack
    return replace(attack, notes=(*attack.notes, f"{IN_ROWS}; {unclear}" if unclear else IN_ROWS))


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
