"""Background knowledge of an attacker: sensitive values that a person cannot have."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from kohorte.data import Role, strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, nearest
from kohorte.hierarchies import SUPPRESSED
from kohorte.plans.plan import Plan

EXAMPLE = "{attribute: diagnosis, when: {sex: male}, excludes: [C50]}"
KEYS = ("attribute", "when", "excludes")


@dataclass(frozen=True)
class Knowledge:
    """A person with these quasi-identifiers (`when`) has none of these values of a sensitive attribute (`excludes`).

    Values are text as the table shows it, or whole numbers. The repr does not contain them, because they could come
    from a table.
    """

    attribute: str
    excludes: Sequence[str] = field(repr=False)
    when: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        given: object = self.excludes
        name: object = self.attribute
        if not isinstance(name, str):
            raise InputError(f"attribute: is the name of a column, as in {EXAMPLE}", code="knowledge-entry")
        if isinstance(given, str) or not isinstance(given, Sequence) or not given:
            raise InputError(f"excludes: is a list of values, as in {EXAMPLE}", code="knowledge-entry")
        conditions: object = self.when
        if not isinstance(conditions, Mapping) or not all(isinstance(name, str) for name in conditions):
            raise InputError(f"when: is a mapping of columns to values, as in {EXAMPLE}", code="knowledge-entry")
        if SUPPRESSED in conditions.values():
            raise InputError("when: * would mean everyone; leave that column out", code="knowledge-entry")
        excludes = tuple(_as_text(value, "excludes") for value in self.excludes)
        object.__setattr__(self, "excludes", tuple(dict.fromkeys(excludes)))
        object.__setattr__(self, "when", {name: _as_text(value, "when") for name, value in self.when.items()})

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
        return cls(entry["attribute"], entry["excludes"], entry.get("when", {}))


def _as_text(value: object, where: str) -> str:
    """A value as a table shows it; other types are refused, because YAML loses how they were written."""
    if type(value) is int:
        return str(value)
    if not isinstance(value, str):
        kinds = {bool: "true or false", float: "a number with a point", type(None): "nothing"}
        raise InputError(
            f"{where}: a value is {kinds.get(type(value), 'no text')}; put it in quotes, as the table shows it",
            code="knowledge-entry",
        )
    return value


def read_knowledge(path: str | Path) -> tuple[Knowledge, ...]:
    """Read a file: `kohorte: 1`, and under `knowledge` a list of entries."""
    if not isinstance(path, str | os.PathLike):
        raise InputError("give the name of a file with the attacker's knowledge", code="knowledge-unreadable")
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
    return tuple(_entry(entry, number, path.name) for number, entry in enumerate(entries, start=1))


def _entry(entry: object, number: int, source: str) -> Knowledge:
    try:
        return Knowledge.from_dict(entry)
    except InputError as error:
        raise InputError(f"{source}: entry {number}: {error.message}", code="knowledge-entry") from None


def checked_knowledge(given: object, plan: Plan) -> tuple[Knowledge, ...]:
    """Return the entries, if there are any and they fit the plan."""
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence) or not given:
        raise InputError("knowledge: give a list of Knowledge(...), as read_knowledge makes it", code="knowledge-entry")
    for number, piece in enumerate(given, start=1):
        if not isinstance(piece, Knowledge):
            raise InputError(f"knowledge: entry {number} is not a Knowledge(...)", code="knowledge-entry")
        piece.check(plan)
    return tuple(given)
