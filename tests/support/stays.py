"""Random hospital stays, several of one patient, with a plan, and their classes in plain Python."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

import kohorte as ko

WARDS = ("11", "12", "21", "22", "23")
Node = tuple[int, int, int]


@dataclass(frozen=True)
class Stays:
    """Rows (patient, ward, age, sex, blood group); people have one blood group, or one in each row."""

    rows: tuple[tuple[str, str, int, str, str], ...]

    @classmethod
    def drawn(cls, seed: int, *, people: int = 40, rows: int = 100, constant: bool = False) -> Stays:
        chance = random.Random(seed)
        blood = {number: chance.choice("AB0") for number in range(people)}
        whom = [*range(people), *(chance.randrange(people) for _ in range(rows - people))]
        chance.shuffle(whom)
        return cls(
            tuple(
                (
                    f"patient-{number}",
                    chance.choice(WARDS),
                    chance.randrange(40, 80),
                    chance.choice("fm"),
                    blood[number] if constant else chance.choice("AB0"),
                )
                for number in whom
            )
        )

    @property
    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(self.rows, schema=["patient", "ward", "age", "sex", "blood"], orient="row")

    @property
    def persons(self) -> list[str]:
        return [row[0] for row in self.rows]

    def plan(self, k: int = 3, *, models: Sequence[Any] = (), limit: float = 0.2, **more: Any) -> ko.Plan:
        """Three quasi-identifiers with four, three and two levels."""
        attributes: dict[str, Any] = {
            "patient": {"role": "identifying"},
            "ward": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
            "age": {
                "role": "quasi-identifying",
                "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [10, 20]}},
            },
            "sex": {"role": "quasi-identifying"},
            "blood": {"role": "sensitive"},
        }
        person = more.pop("person", "patient")
        return ko.Plan.from_dict(
            {
                "kohorte": 1,
                "attributes": attributes | more.pop("attributes", {}),
                "models": [{"model": "k-anonymity", "k": k}, *models],
                "suppression_limit": limit,
                **({} if person is None else {"person": person}),
                **more,
            }
        )

    def classes(self, node: Node) -> list[Hashable]:
        """What each row shows at the levels of ward, age and sex, as a key."""
        of_ward, of_age, of_sex = node
        width = (1, 10, 20, 1000)[of_age]
        return [(ward[: 2 - of_ward], age // width, sex if of_sex == 0 else "*") for _, ward, age, sex, _ in self.rows]

    @staticmethod
    def nodes() -> list[Node]:
        return [(ward, age, sex) for ward in range(3) for age in range(4) for sex in range(2)]


def different(groups: Sequence[Hashable], members: Sequence[Hashable]) -> dict[Hashable, set[Hashable]]:
    """The different members of each group."""
    found: dict[Hashable, set[Hashable]] = defaultdict(set)
    for group, member in zip(groups, members, strict=True):
        found[group].add(member)
    return found


def judged(stays: Stays, node: Node, k: int, *, all_rows: bool) -> tuple[int, int, int | None]:
    """The suppressed rows, the kept classes and the fewest people in one, or alike in all their rows."""
    shown, persons = stays.classes(node), stays.persons
    kept = set(range(len(shown)))
    while True:
        rows = sorted(kept)
        of_class = different([shown[row] for row in rows], [persons[row] for row in rows])
        of_person = different([persons[row] for row in rows], [shown[row] for row in rows])
        alike = Counter(frozenset(classes) for classes in of_person.values())
        sets = {person: alike[frozenset(classes)] for person, classes in of_person.items()}
        bad = {row for row in rows if len(of_class[shown[row]]) < k or (all_rows and sets[persons[row]] < k)}
        if not bad:
            fewest = alike.values() if all_rows else map(len, of_class.values())
            return len(shown) - len(kept), len(of_class), min(fewest, default=None)
        kept -= bad
