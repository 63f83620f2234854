"""Everything that an attacker can derive from told sets of people; uses no line of the package.

A person is a bit, a set of people a number. A release is a mapping from people to the set of classes that show them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

Release = Mapping[int, frozenset[int]]


def told_sets(releases: Iterable[Release]) -> set[int]:
    """The set of people of every class, and of every release as a whole."""
    told = set()
    for release in releases:
        classes: dict[int, int] = {}
        for person, shown_in in release.items():
            for one in shown_in:
                classes[one] = classes.get(one, 0) | 1 << person
        told |= set(classes.values())
        told.add(sum(1 << person for person, shown_in in release.items() if shown_in))
    return told - {0}


def algebra(told: Iterable[int], people: int) -> set[int]:
    """All sets that follow from the told ones by union, intersection and complement."""
    everybody = (1 << people) - 1
    found = {0, everybody} | set(told)
    while True:
        more = {everybody & ~one for one in found} | {one & other for one in found for other in told}
        more |= {one | other for one in found for other in told}
        if more <= found:
            return found
        found |= more


def smallest(sets: Iterable[int]) -> int:
    """The size of the smallest set that is not empty."""
    return min(one.bit_count() for one in sets if one)


def linear(told: Iterable[int], people: int, below: int) -> set[int]:
    """All sets with fewer than so many people whose size follows from the sizes of the told sets and of the table."""
    rows = _reduced([_vector(one, people) for one in (*told, (1 << people) - 1)])
    small = (sum(1 << one for one in group) for size in range(1, below) for group in combinations(range(people), size))
    return {group for group in small if not any(_rest(rows, _vector(group, people)))}


def values_in_common(told: Iterable[int], people: int, values: Sequence[int]) -> set[int]:
    """Derived sets of people who all have the same value."""
    derived = algebra(told, people)
    return {one for one in derived if one and len({values[p] for p in range(people) if one >> p & 1}) == 1}


def _vector(group: int, people: int) -> list[Fraction]:
    return [Fraction(group >> person & 1) for person in range(people)]


def _reduced(vectors: list[list[Fraction]]) -> dict[int, list[Fraction]]:
    """Rows with a leading one each, by the place of the one."""
    rows: dict[int, list[Fraction]] = {}
    for vector in vectors:
        rest = _rest(rows, vector)
        lead = next((place for place, number in enumerate(rest) if number), None)
        if lead is not None:
            rows[lead] = [number / rest[lead] for number in rest]
    return rows


def _rest(rows: Mapping[int, list[Fraction]], vector: list[Fraction]) -> list[Fraction]:
    rest = list(vector)
    for place in range(len(rest)):
        if rest[place] and place in rows:
            factor = rest[place]
            rest = [one - factor * other for one, other in zip(rest, rows[place], strict=True)]
    return rest
