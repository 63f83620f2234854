"""Background knowledge attack: the attacker can exclude all but one of the sensitive values of a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kohorte.attacks.attack import Attack
from kohorte.attacks.conditions import Conditions
from kohorte.attacks.kinds_of_people import KindsOfPeople, conditions_of, kinds_of_people
from kohorte.attacks.knowledge import Knowledge, checked_knowledge
from kohorte.attacks.tables.attacked import AttackedTable
from kohorte.attacks.tables.members import Members
from kohorte.attacks.tables.sensitive_values import ValueCounts, sensitive_values
from kohorte.data import spelling_keys
from kohorte.errors import InputError
from kohorte.in_words import count
from kohorte.kernels.arrays import Bools
from kohorte.plans.plan import Plan

NAME = "background knowledge"
PREVENTED_BY = "l-diversity: with l different values in every class, l - 1 of them have to be excluded"
MOST_STEPS = 2_000_000_000


def background_knowledge_attack(
    frame: object,
    plan: Plan,
    *,
    knowledge: Sequence[Knowledge] | None = None,
    values_excluded: int = 1,
    original: object = None,
) -> Attack:
    """Count the people whose sensitive value is the only one left.

    With `knowledge`, the attacker uses every entry whose conditions (`when`) a person meets, and excludes all values
    that any of them excludes. The cells of a class determine who can be in it. Without `knowledge`, the attacker can
    exclude any `values_excluded` values of a class, the worst case for this amount of knowledge. Classes with a value
    that everybody has belong to the homogeneity attack. If it is not known whom the rows are about (by the table or by
    its `original`), every row is taken for a person.

    Counted
        A person is harmed if their own value is the only one of a class that is left for them. Nobody has a value that
        is excluded for them, so a person with two values in a class is not harmed there. If the class shows that
        everyone in it meets a condition (`male`), or that nobody does, this is certain. If not (`*`, an interval, a
        label), the person may meet it or not, separately in each of their classes, because they can change.
        `hurt` counts the people who are harmed in every possible case; `at_most` in the facts adds those who are
        harmed in some case. Both bounds are sharp: the table is consistent with either.
    Source
        Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-Diversity: Privacy Beyond k-Anonymity, TKDD 1(1), 2007.
    """
    attacked = AttackedTable.of(frame, plan, original=original)
    return attack_by_background_knowledge(attacked, knowledge=knowledge, values_excluded=values_excluded)


def attack_by_background_knowledge(
    attacked: AttackedTable, *, knowledge: Sequence[Knowledge] | None = None, values_excluded: int = 1
) -> Attack:
    """The attack on a table whose members are known."""
    if knowledge is not None:
        return _with(checked_knowledge(knowledge, attacked.plan), attacked)
    if type(values_excluded) is not int or values_excluded < 1:
        raise InputError(
            f"the number of excluded values must be at least 1, not {values_excluded!r}", code="attack-parameter"
        )
    members = attacked.members
    hurt = np.zeros(len(members.whom), dtype=bool)
    for values in sensitive_values(attacked):
        few = (values.distinct > 1) & (values.distinct <= values_excluded + 1) & ~values.hidden & ~values.common
        hurt |= few[members.class_of] & _with_one_value(values)
    return Attack.on(
        members,
        name=NAME,
        hurt=members.different(hurt),
        how=f"an attacker who can exclude {count(values_excluded, 'sensitive value')} of the person's class is left "
        "with 1",
        prevented_by=PREVENTED_BY,
        facts={"values_excluded": values_excluded, "classes": len(np.unique(members.class_of[hurt]))},
    )


def _with_one_value(values: ValueCounts) -> Bools:
    """The entries of members who have one value of the attribute in their class."""
    pairs = values.members.in_class
    keys = np.unique(pairs * max(1, len(values.classes)) + values.cell_of)
    return np.asarray((np.bincount(keys // max(1, len(values.classes))) == 1)[pairs], dtype=bool)


def _with(knowledge: Sequence[Knowledge], attacked: AttackedTable) -> Attack:
    members, shown, plan = attacked.members, attacked.shown, attacked.plan
    by_name = {values.name: values for values in sensitive_values(attacked)}
    _refuse_unknown(knowledge, by_name, plan)
    conditions = conditions_of(knowledge, shown, plan)
    kinds = kinds_of_people(knowledge, conditions, shown)
    learnt = _Learnt.of(kinds, knowledge, by_name, members)
    entries = _entries(kinds, knowledge, by_name, members)
    return Attack.on(
        members,
        name=NAME,
        hurt=members.different(learnt.certain),
        how="the attacker's knowledge excludes all but one of the sensitive values in the person's class",
        prevented_by=PREVENTED_BY,
        facts={
            "at_most": members.different(learnt.possible),
            "classes": len(np.unique(members.class_of[learnt.certain])),
            "classes_at_most": len(np.unique(members.class_of[learnt.possible])),
            "rows_that_contradict": int(members.rows[~learnt.consistent].sum()),
            "knowledge": entries,
        },
        notes=(*_notes(entries, knowledge, conditions, by_name), *_contradiction(learnt, members)),
    )


def _refuse_unknown(knowledge: Sequence[Knowledge], by_name: Mapping[str, ValueCounts], plan: Plan) -> None:
    """Refuse attributes that the table lacks, and excluded values that the attribute cannot have."""
    for number, piece in enumerate(knowledge, start=1):
        if piece.attribute not in by_name:
            raise InputError(
                f"the table has no column {piece.attribute!r}, which entry {number} of the knowledge is about",
                code="knowledge-attribute",
            )
        builder = plan.attributes[piece.attribute].hierarchy
        absent = _absent(piece, by_name[piece.attribute])
        if builder is not None and absent:
            known = set(builder.label(absent, attribute=piece.attribute).columns.to_series(0).to_list())
            if lacking := len(set(absent) - known):
                raise InputError(
                    f"entry {number} of the knowledge: excludes: {lacking} of {len(piece.excludes)} values are neither "
                    f"in the column {piece.attribute!r} of the table nor in its hierarchy",
                    code="knowledge-value",
                )


@dataclass(frozen=True, eq=False)
class _Learnt:
    """The entries whose members are certainly or possibly harmed in their class, and those that fit the knowledge."""

    certain: Bools = field(repr=False)
    possible: Bools = field(repr=False)
    consistent: Bools = field(repr=False)

    @classmethod
    def of(
        cls,
        kinds: KindsOfPeople,
        knowledge: Sequence[Knowledge],
        by_name: Mapping[str, ValueCounts],
        members: Members,
    ) -> _Learnt:
        """Find for every kind of person who can be of this kind in which class, and the values that are left."""
        if len(kinds.entries) * len(members.whom) > MOST_STEPS:
            raise InputError(
                f"the knowledge distinguishes {len(kinds.entries):,} kinds of people, too many for "
                f"{len(members.whom):,} rows; give fewer entries",
                code="attack-too-large",
            )
        possible, spared, consistent = (np.zeros(len(members.whom), dtype=bool) for _ in range(3))
        for entries, classes in zip(kinds.entries, kinds.classes, strict=True):
            fits = classes[members.class_of]
            hurt = np.zeros(len(members.whom), dtype=bool)
            for values in by_name.values():
                excluded = _excluded([knowledge[entry] for entry in entries], values)
                fits &= ~_somewhere(members, excluded[values.cell_of])
                hurt |= _somewhere(members, _last(values, excluded)[values.cell_of])
            possible |= fits & hurt
            spared |= fits & ~hurt
            consistent |= fits
        return cls(possible & ~spared, possible, consistent)


def _somewhere(members: Members, entries: Bools) -> Bools:
    """The entries of members of whom one of these entries is in the same class."""
    if not members.are_people:
        return entries
    found = np.zeros(int(members.in_class.max(initial=-1)) + 1, dtype=bool)
    found[members.in_class[entries]] = True
    return found[members.in_class]


def _excluded(pieces: Sequence[Knowledge], values: ValueCounts) -> Bools:
    """Which cells (class, value) have a value that one of the entries excludes."""
    excluded = {key for piece in pieces if piece.attribute == values.name for key in _keys(piece.excludes)}
    keys = enumerate(_keys(values.texts))
    return np.isin(values.values, [number for number, key in keys if key is not None and key in excluded])


def _absent(piece: Knowledge, values: ValueCounts) -> list[str]:
    """The excluded values of an entry that the table does not have in any spelling."""
    known = set(_keys(values.texts))
    return [text for text, key in zip(piece.excludes, _keys(piece.excludes), strict=True) if key not in known]


def _keys(texts: Sequence[str | None]) -> list[str | None]:
    return spelling_keys(pl.Series(texts, dtype=pl.String)).to_list()


def _last(values: ValueCounts, excluded: Bools) -> Bools:
    """The cells (class, value) that are the only ones left in a class of several values."""
    left = np.bincount(values.classes[~excluded], minlength=values.members.classes)
    several = (values.distinct[values.classes] > 1) & ~values.common[values.classes]
    return np.asarray(several & (left[values.classes] == 1) & ~excluded & values.told, dtype=bool)


def _entries(
    kinds: KindsOfPeople, knowledge: Sequence[Knowledge], by_name: Mapping[str, ValueCounts], members: Members
) -> list[dict[str, object]]:
    """For every entry the classes in which it can be used: with an excluded value, and possibly with such people."""
    found: list[dict[str, object]] = []
    for number, piece in enumerate(knowledge):
        usable = np.zeros(members.classes, dtype=bool)
        for entries, classes in zip(kinds.entries, kinds.classes, strict=True):
            usable |= classes & (number in entries)
        values = by_name[piece.attribute]
        with_value = np.zeros(members.classes, dtype=bool)
        with_value[values.classes[_excluded([piece], values)]] = True
        found.append(
            {"entry": number + 1, "attribute": piece.attribute, **members.figures(usable & with_value)},
        )
    return found


def _contradiction(learnt: _Learnt, members: Members) -> list[str]:
    """Report rows that contradict the knowledge: either the knowledge or the rows are wrong."""
    if learnt.consistent.all():
        return []
    rows = int(members.rows[~learnt.consistent].sum())
    what = "1 row has a value that is" if rows == 1 else f"{rows:,} rows have a value that is"
    if members.are_people:
        people = count(members.different(~learnt.consistent), "person", "people")
        what = f"{count(rows, 'row')} of {people} {'has' if rows == 1 else 'have'} values that are together"
    return [f"{what} excluded for everyone who can be in its class: the knowledge contradicts the table"]


def _notes(
    entries: Sequence[Mapping[str, object]],
    knowledge: Sequence[Knowledge],
    conditions: Mapping[str, Conditions],
    by_name: Mapping[str, ValueCounts],
) -> tuple[str, ...]:
    """Probable mistakes: entries that cannot be used, and values that do not occur."""
    notes = []
    for entry, piece in zip(entries, knowledge, strict=True):
        if absent := len(_absent(piece, by_name[piece.attribute])):
            are = "is" if absent == 1 else "are"
            notes.append(
                f"entry {entry['entry']}: {absent} of {len(piece.excludes)} excluded values {are} not in the column "
                f"{piece.attribute!r}"
            )
        notes += [
            f"entry {entry['entry']}: no row shows its value of {name!r}"
            for name, text in piece.when.items()
            if not conditions[name].shown(text)
        ]
        if not entry["classes"]:
            notes.append(f"entry {entry['entry']} cannot be used in any class")
    return tuple(notes)
