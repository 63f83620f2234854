"""The outcome of an attack: how many people or rows it harms, how, and what would prevent it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kohorte.attacks.tables.members import Members
from kohorte.in_words import ROWS


@dataclass(frozen=True)
class Attack:
    """The outcome of an attack that was run; it contains no value of a table.

    `hurt` is the number of people, or rows, about whom the attacker learns something. `unit` says what was counted:
    different people if it is known whom each row is about, otherwise rows. `rows_tried` and
    `people_tried` (None if rows were counted) are those attacked. `notes` point out probable mistakes in the given
    knowledge, and where rows were counted although the plan counts people.
    """

    name: str
    hurt: int
    rows_tried: int
    how: str
    prevented_by: str
    facts: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unit: str = ROWS.many
    people_tried: int | None = None

    @classmethod
    def on(cls, members: Members, **outcome: Any) -> Attack:
        """The outcome of an attack on members of classes, in their unit."""
        return cls(
            **{"rows_tried": members.shown.kept_rows, **outcome},
            unit=members.unit.many,
            people_tried=members.count if members.are_people else None,
        )

    def to_dict(self) -> dict[str, object]:
        """The outcome as plain data; `people_hurt` or `rows_hurt` names what was counted."""
        found = {(f"{self.unit}_hurt" if name == "hurt" else name): value for name, value in vars(self).items()}
        return {**found, "facts": dict(self.facts), "notes": list(self.notes)}


@dataclass(frozen=True)
class SkippedAttack:
    """An attack that was not run, the reason, and what it needs."""

    name: str
    reason: str
    give: str

    def to_dict(self) -> dict[str, object]:
        """The attack as plain data."""
        return dict(vars(self))


@dataclass(frozen=True)
class Attacks:
    """The attacks that were run (also by iteration and index), and those that were `skipped`.

    `open_points` say which of them counted rows although several may be about one person, and why: the verdict on the
    table is then amber at best.
    """

    run: tuple[Attack, ...]
    skipped: tuple[SkippedAttack, ...] = ()
    open_points: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Attack]:
        return iter(self.run)

    def __len__(self) -> int:
        return len(self.run)

    def __getitem__(self, number: int) -> Attack:
        return self.run[number]

    def to_dict(self) -> dict[str, object]:
        """All attacks as plain data."""
        return {
            "attacks": [attack.to_dict() for attack in self.run],
            "skipped": [attack.to_dict() for attack in self.skipped],
            "open_points": list(self.open_points),
        }
