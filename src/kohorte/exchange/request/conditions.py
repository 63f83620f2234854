"""Conditions of a request: a tree of comparisons, never a text in a query language."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kohorte.errors import InputError, refuse_unknown_keys
from kohorte.plans.search_options import is_number

COMPARISONS = ("is", "in", "at_least", "at_most", "starts_with")
GROUPS = ("all", "any", "not")
DEEPEST = 8
MOST_COMPARISONS = 100
MOST_VALUES = 1_000
LONGEST_VALUE = 200
EXAMPLE = "{attribute: drug, is: X}, {all: [...]}, {any: [...]} or {not: ...}"

Value = str | int | float


@dataclass(frozen=True)
class Condition:
    """One part of a condition: a comparison of an attribute, or a group of parts.

    `operator` is one of `COMPARISONS` or `GROUPS`. A comparison has an `attribute` and `values` (one, unless it is
    `in`); a group has `parts`.
    """

    operator: str
    attribute: str = ""
    values: tuple[Value, ...] = ()
    parts: tuple[Condition, ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that the condition looks at, in their order."""
        return tuple(dict.fromkeys(one.attribute for one in self.comparisons()))

    def comparisons(self) -> Iterator[Condition]:
        """All comparisons of the tree."""
        if self.operator in COMPARISONS:
            yield self
        for part in self.parts:
            yield from part.comparisons()

    def to_dict(self) -> dict[str, Any]:
        """The condition as a request writes it."""
        if self.operator in COMPARISONS:
            value: object = list(self.values) if self.operator == "in" else self.values[0]
            return {"attribute": self.attribute, self.operator: value}
        if self.operator == "not":
            return {"not": self.parts[0].to_dict()}
        return {self.operator: [part.to_dict() for part in self.parts]}

    @property
    def in_words(self) -> str:
        """The condition as a sentence part, for the people who decide."""
        return self.said_with(str)

    def said_with(self, word: Callable[[str], str]) -> str:
        """Return the condition as a sentence part; `word` translates what is no name and no value."""
        if self.operator in COMPARISONS:
            values = ", ".join(map(str, self.values))
            return f"{self.attribute} {word(_SAID[self.operator])} {values}"
        if self.operator == "not":
            return f"{word('not')} ({self.parts[0].said_with(word)})"
        between = word("and" if self.operator == "all" else "or")
        parts = [(part.operator in COMPARISONS, part.said_with(word)) for part in self.parts]
        return f" {between} ".join(said if single else f"({said})" for single, said in parts)


_SAID = {
    "is": "is",
    "in": "is one of",
    "at_least": "is at least",
    "at_most": "is at most",
    "starts_with": "starts with",
}


def condition_from(data: object) -> Condition:
    """Read a condition from plain data."""
    condition = _read(data, DEEPEST)
    if sum(1 for _ in condition.comparisons()) > MOST_COMPARISONS:
        raise _wrong(f"has at most {MOST_COMPARISONS} comparisons")
    return condition


def _read(data: object, depth: int) -> Condition:
    if not isinstance(data, Mapping) or not data:
        raise _wrong(f"is written as {EXAMPLE}")
    if depth == 0:
        raise _wrong(f"is nested at most {DEEPEST} deep")
    if "attribute" in data:
        return _comparison(data)
    refuse_unknown_keys(data, GROUPS, where="a condition", code="exchange-request-condition")
    if len(data) != 1:
        raise _wrong(f"is written as {EXAMPLE}")
    [(operator, parts)] = data.items()
    if operator == "not":
        return Condition("not", parts=(_read(parts, depth - 1),))
    if not isinstance(parts, list) or not parts:
        raise _wrong(f"{operator}: is a list of at least one condition")
    return Condition(operator, parts=tuple(_read(part, depth - 1) for part in parts))


def _comparison(data: Mapping[Any, Any]) -> Condition:
    refuse_unknown_keys(data, ("attribute", *COMPARISONS), where="a comparison", code="exchange-request-condition")
    operators = [name for name in COMPARISONS if name in data]
    name = data["attribute"]
    if len(operators) != 1 or not isinstance(name, str) or not name:
        raise _wrong(f"has one attribute and one of {', '.join(COMPARISONS)}")
    [operator] = operators
    given = data[operator]
    if operator == "in" and (not isinstance(given, list) or not 0 < len(given) <= MOST_VALUES):
        raise _wrong(f"in: is a list of 1 to {MOST_VALUES:,} values")
    values = tuple(given) if operator == "in" else (given,)
    if not all(map(_is_value, values)):
        raise _wrong(f"a value is a number, or a text with at most {LONGEST_VALUE} characters")
    if operator == "starts_with" and not isinstance(given, str):
        raise _wrong("starts_with: is a text")
    return Condition(operator, name, values)


def _is_value(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST_VALUE and value.isprintable()
    return is_number(value)


def _wrong(what: str) -> InputError:
    return InputError(f"condition: {what}", code="exchange-request-condition", field="condition")
