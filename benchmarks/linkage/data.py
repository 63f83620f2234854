"""The patients of the benchmark: a list, and a table in which half of the rows are people of the list again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from testbed import identities
from testbed.identities import Person

PEOPLE, ROWS = 100_000, 20_000
"""The people of the list; the rows about some of them, and as many about strangers."""


@dataclass(frozen=True)
class Data:
    """The list, the rows to register, and for each row the position of the person in the list, or None."""

    known: list[Person]
    rows: list[Person]
    truth: list[int | None]

    def without(self, *fields: str) -> Data:
        """The same without some columns."""
        empty = dict.fromkeys(fields, "")
        known, rows = ([replace(person, **empty) for person in people] for people in (self.known, self.rows))
        return Data(known, rows, self.truth)


def draw(people: int = PEOPLE, rows: int = ROWS, *, seed: int = 2026) -> Data:
    """Draw people and rows."""
    everybody = identities.people(people + rows, seed=seed)
    known, strangers = everybody[:people], everybody[people:]
    who, described = identities.registrations(known, rows, seed=seed + 100)
    return Data(known, described + strangers, [*who, *[None] * rows])
