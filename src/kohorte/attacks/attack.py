"""The outcome of an attack: how many people it harms, how, and what would prevent it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Attack:
    """The outcome of an attack that was run; it contains no value of a table.

    `people_hurt` is the number of rows about which the attacker learns something; `rows_tried` is the number of rows
    attacked. `notes` point out probable mistakes in the given knowledge.
    """

    name: str
    people_hurt: int
    rows_tried: int
    how: str
    prevented_by: str
    facts: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The outcome as plain data."""
        return {**vars(self), "facts": dict(self.facts), "notes": list(self.notes)}


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
    """The attacks that were run (also by iteration and index), and those that were `skipped`."""

    run: tuple[Attack, ...]
    skipped: tuple[SkippedAttack, ...] = ()

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
        }
