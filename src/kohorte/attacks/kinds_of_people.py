"""Kinds of people who can be in a class, by the knowledge that applies to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

from kohorte.attacks.conditions import Conditions, Met
from kohorte.attacks.knowledge import Knowledge
from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.plans.plan import Plan
from kohorte.risks.shown.table import ShownTable

MOST_KINDS = 100_000


@dataclass(frozen=True, eq=False)
class KindsOfPeople:
    """For every kind the numbers of the entries that apply to it, and the classes in which such a person can be.

    `classes[kind]` has one Boolean per class. A person is of exactly one kind: the set of all entries whose conditions
    the person meets.
    """

    entries: tuple[frozenset[int], ...] = field(repr=False)
    classes: tuple[Bools, ...] = field(repr=False)


def kinds_of_people(
    knowledge: Sequence[Knowledge], conditions: Mapping[str, Conditions], shown: ShownTable
) -> KindsOfPeople:
    """Find the kinds of people that the cells of a class allow, attribute by attribute."""
    names = tuple(conditions)
    met = [_met_by_class(conditions[name], shown, name) for name in names]
    patterns, pattern_of = _patterns([codes for codes, _ in met], shown.classes)
    found: dict[frozenset[int], list[int]] = {}
    for number, pattern in enumerate(patterns.tolist()):
        for kind in _kinds(knowledge, conditions, [sets[code] for code, (_, sets) in zip(pattern, met, strict=True)]):
            found.setdefault(kind, []).append(number)
    return KindsOfPeople(tuple(found), tuple(np.isin(pattern_of, numbers) for numbers in found.values()))


def conditions_of(knowledge: Sequence[Knowledge], shown: ShownTable, plan: Plan) -> dict[str, Conditions]:
    """The conditions of all entries, by attribute; refuse values that an attribute cannot have."""
    names = dict.fromkeys(name for piece in knowledge for name in piece.when)
    found = {}
    for name in names:
        cells = shown.texts[shown.names.index(name)]
        wanted = [piece.when[name] for piece in knowledge if name in piece.when]
        found[name] = Conditions(cells, wanted, plan.attributes[name].hierarchy, attribute=name)
        for number, piece in enumerate(knowledge, start=1):
            if piece.when.get(name) in found[name].unknown:
                raise InputError(
                    f"entry {number} of the knowledge: when: has a value of {name!r} that occurs neither in the table "
                    "nor in the hierarchy",
                    code="knowledge-value",
                )
    return found


def _met_by_class(conditions: Conditions, shown: ShownTable, name: str) -> tuple[Codes, list[frozenset[Met]]]:
    """The conditions that people of each class can meet in a column: a code per class, and the meaning of codes."""
    column = shown.names.index(name)
    numbers: dict[frozenset[Met], int] = {}
    codes = [numbers.setdefault(conditions.met(cell), len(numbers)) for cell in shown.texts[column]]
    return np.array(codes, dtype=np.uint32)[shown.cells[:, column]], list(numbers)


def _patterns(columns: Sequence[Codes], classes: int) -> tuple[Codes, Counts]:
    stacked = np.stack([np.zeros(classes, dtype=np.uint32), *columns], axis=1)
    patterns, pattern_of = np.unique(stacked, axis=0, return_inverse=True)
    return patterns[:, 1:], pattern_of.reshape(-1)


def _kinds(
    knowledge: Sequence[Knowledge], conditions: Mapping[str, Conditions], allowed: Sequence[frozenset[Met]]
) -> set[frozenset[int]]:
    """The kinds of people who meet one of the allowed sets of conditions in each attribute."""
    if prod(map(len, allowed)) > MOST_KINDS:
        raise InputError(
            f"the knowledge distinguishes more than {MOST_KINDS:,} kinds of people in one class; give fewer entries",
            code="attack-too-large",
        )
    kinds = set()
    for combination in product(*allowed):
        met = {
            (name, conditions[name].wanted[number])
            for name, numbers in zip(conditions, combination, strict=True)
            for number in numbers
        }
        kinds.add(frozenset(number for number, piece in enumerate(knowledge) if met.issuperset(piece.when.items())))
    return kinds
