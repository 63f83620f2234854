"""What an attacker knows of sensitive values besides the table: which ones a person cannot have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from kohorte.data import Role, strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, nearest
from kohorte.release.plan import Plan

EXAMPLE = "{attribute: diagnosis, when: {sex: male}, excludes: [C50]}"
KEYS = ("attribute", "when", "excludes")


@dataclass(frozen=True)
class Knowledge:
    """Whoever has these values of quasi-identifiers (`when`) has none of those of a sensitive attribute (`excludes`).

    The values are not part of its repr: they could be those of a table.
    """

    attribute: str
    excludes: Sequence[str] = field(repr=False)
    when: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        given: object = self.excludes
        if isinstance(given, str) or not isinstance(given, Sequence) or not given:
            raise InputError(f"excludes: is a list of values, as in {EXAMPLE}", code="knowledge-entry")
        if not isinstance(self.when, Mapping):
            raise InputError(f"when: is a mapping of columns to values, as in {EXAMPLE}", code="knowledge-entry")
        object.__setattr__(self, "excludes", tuple(str(value) for value in self.excludes))
        object.__setattr__(self, "when", {str(name): str(value) for name, value in self.when.items()})

    def check(self, plan: Plan) -> None:
        """Refuse attributes that the plan does not have in that role."""
        for name, role in ((self.attribute, Role.SENSITIVE), *((name, Role.QUASI_IDENTIFYING) for name in self.when)):
            if name not in plan.names(role):
                raise InputError(
                    f"the knowledge names {name!r}, which is not a {role} attribute of the plan"
                    f"{nearest(name, plan.names(role))}",
                    code="knowledge-attribute",
                )

    @classmethod
    def from_dict(cls, entry: Any) -> Self:
        """Read one entry of a file."""
        if not isinstance(entry, Mapping) or "attribute" not in entry or "excludes" not in entry:
            raise InputError(f"an entry is written as {EXAMPLE}", code="knowledge-entry")
        for key in entry:
            if key not in KEYS:
                raise InputError(
                    f"an entry has no key {str(key)!r}{nearest(str(key), KEYS)}; known are {', '.join(KEYS)}",
                    code="knowledge-entry",
                )
        return cls(str(entry["attribute"]), entry["excludes"], entry.get("when", {}))


def read_knowledge(path: str | Path) -> tuple[Knowledge, ...]:
    """Read a file: `kohorte: 1`, and under `knowledge` a list of entries."""
    path = Path(path)
    text = read_text(path, what="file", code="knowledge-unreadable")
    data = strict_yaml.load(text, source=path.name, code="knowledge-yaml")
    if not isinstance(data, Mapping) or set(data) != {"kohorte", "knowledge"} or data["kohorte"] != 1:
        raise InputError(
            f"{path.name}: has 'kohorte: 1' and 'knowledge:' with a list of entries, as {EXAMPLE}",
            code="knowledge-yaml",
        )
    entries = data["knowledge"]
    if isinstance(entries, str | Mapping) or not isinstance(entries, Sequence) or not entries:
        raise InputError(f"{path.name}: knowledge: is a list of entries, as {EXAMPLE}", code="knowledge-entry")
    return tuple(Knowledge.from_dict(entry) for entry in entries)
