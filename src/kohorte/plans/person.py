"""Whom a row is about: the part of a plan that makes every model count people instead of rows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kohorte.errors import InputError, nearest

NONE = "none"
"""How a plan states that every row is another person."""

EXAMPLE = "patient, [clinic, patient] or {column: patient, attacker_knows: one_row}"
SIMPLE = re.compile(r"(?!(?i:true|false|null|yes|no|on|off|none|[yn])$)[A-Za-z_][A-Za-z_0-9 ]*(?<! )")
"""Names that YAML needs no quotes for."""
KEYS = ("column", "attacker_knows", "stays_because", "counted_because")


class Knowledge(StrEnum):
    """How many rows of a person an attacker knows."""

    ONE_ROW = "one_row"  # the quasi-identifiers of one row of a person
    ALL_ROWS = "all_rows"  # the quasi-identifiers of all rows of a person, who is judged by the set of their classes


@dataclass(frozen=True)
class Person:
    """The columns whose values together say whom a row is about; without columns, every row is another person.

    The columns are identifying, and so removed, unless the plan gives all of them another role; then `stays_because`
    states why the rows of a person may stay tied together. `counted_because` states why identifiers that differ in
    little (spelling, leading zeros, punctuation, a suffix) count people rightly.
    """

    columns: tuple[str, ...] = ()
    attacker_knows: Knowledge = Knowledge.ONE_ROW
    stays_because: str = ""
    counted_because: str = ""

    def __post_init__(self) -> None:
        given: object = self.columns  # a text is accepted, too
        columns = (given,) if isinstance(given, str) else tuple(self.columns)
        object.__setattr__(self, "columns", columns)
        if not all(map(_is_name, columns)) or len(set(columns)) < len(columns):
            raise InputError(f"is the name of a column, or different names: {EXAMPLE}", code="plan-person")
        known = [str(choice) for choice in Knowledge]
        if str(self.attacker_knows) not in known:
            raise InputError(
                f"attacker_knows is {' or '.join(known)}{nearest(str(self.attacker_knows), known)}", code="plan-person"
            )
        object.__setattr__(self, "attacker_knows", Knowledge(str(self.attacker_knows)))
        reasons: dict[str, tuple[object, str]] = {
            "stays_because": (self.stays_because, "why the column may stay in the release"),
            "counted_because": (self.counted_because, "why identifiers that differ in little count people rightly"),
        }
        for key, (reason, why) in reasons.items():
            if not isinstance(reason, str):
                raise InputError(f"{key} is a text: {why}", code="plan-person")
            object.__setattr__(self, key, reason.strip())

    @property
    def rows_are_people(self) -> bool:
        """Whether the plan states that every row is another person."""
        return not self.columns

    @property
    def line(self) -> str:
        """The person as one line of a plan."""
        names = [name if SIMPLE.fullmatch(name) else json.dumps(name, ensure_ascii=False) for name in self.columns]
        whom = NONE if self.rows_are_people else names[0] if len(names) == 1 else f"[{', '.join(names)}]"
        return f"person: {whom}"

    def to_dict(self) -> object:
        """The person as a plan writes it."""
        column: object = self.columns[0] if len(self.columns) == 1 else list(self.columns)
        if self.rows_are_people:
            return NONE
        given = {"stays_because": self.stays_because, "counted_because": self.counted_because}
        reasons = {key: reason for key, reason in given.items() if reason}
        if self.attacker_knows is Knowledge.ONE_ROW and not reasons:
            return column
        return {"column": column, "attacker_knows": str(self.attacker_knows), **reasons}


def as_person(entry: Any) -> Person | None:
    """Return the person of a plan, given as an object or as a plan writes it; None if the plan does not say."""
    if entry is None or isinstance(entry, Person):
        return entry
    if entry == NONE:
        return Person()
    if isinstance(entry, Mapping):
        return _from_mapping(entry)
    return Person(_columns(entry))


def _from_mapping(entry: Mapping[Any, Any]) -> Person:
    for key in entry:
        if key not in KEYS:
            raise InputError(
                f"has no key {str(key)!r}{nearest(str(key), KEYS)}; known are {', '.join(KEYS)}",
                code="plan-unknown-key",
            )
    if "column" not in entry:
        raise InputError(f"column is missing, as in {EXAMPLE}", code="plan-person")
    options = {key: value for key, value in entry.items() if key != "column"}
    return Person(_columns(entry["column"]), **options)


def _columns(entry: object) -> tuple[str, ...]:
    if isinstance(entry, str):
        return (entry,)
    if not isinstance(entry, Sequence) or not entry:
        raise InputError(f"is written as {EXAMPLE}; {NONE} states that every row is another person", code="plan-person")
    return tuple(entry)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name)
