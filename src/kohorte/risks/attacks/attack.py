"""What an attack reports: how many people it hurts, how, and what would prevent it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Attack:
    """The outcome of an attack that was run. Nothing in it is a value of a table.

    `people_hurt` is the number of rows about which the attacker learns what the attack is after; `rows_tried` are all
    rows that it was run on.
    """

    name: str
    people_hurt: int
    rows_tried: int
    how: str
    prevented_by: str
    facts: Mapping[str, object] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """The outcome as plain data."""
        return {**vars(self), "facts": dict(self.facts)}
