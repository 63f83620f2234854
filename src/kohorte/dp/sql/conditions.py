"""Conditions of WHERE and HAVING: comparisons with constants, joined by AND, OR and NOT."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kohorte.dp.schema.columns import Datatype, Value
from kohorte.dp.sql.plan import Among, Both, Compare, Condition, Either, IsMissing, Negation, Operator
from kohorte.dp.sql.positions import Positions

OPERATORS: dict[str, Operator] = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
MIRRORED: dict[Operator, Operator] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Named:
    """The column that a name in a condition refers to."""

    name: str
    datatype: Datatype


@dataclass(frozen=True)
class ConditionReader:
    """Reads conditions; `named` finds the column of an expression of sqlglot, or refuses it."""

    positions: Positions
    named: Callable[[Any], Named]

    def read(self, node: Any) -> Condition:
        """Return the condition, or refuse it with its position."""
        kind = type(node).__name__
        if kind == "Paren":
            return self.read(node.this)
        if kind == "Not":
            return Negation(self.read(node.this))
        if kind in ("And", "Or"):
            return self._joined(node, Both if kind == "And" else Either)
        if kind in OPERATORS:
            return self._comparison(node, OPERATORS[kind])
        if kind == "Between":
            return self._between(node)
        if kind == "In":
            return self._among(node)
        if kind == "Is" and type(node.expression).__name__ == "Null":
            return IsMissing(self.named(node.this).name)
        raise self.positions.not_allowed(
            node, "a condition compares a column with a constant: =, <>, <, <=, >, >=, IN, BETWEEN, IS NULL"
        )

    def _joined(self, node: Any, join: type[Both | Either]) -> Condition:
        """Read a chain of ANDs or ORs without recursion, because it may be long."""
        kind, waiting = type(node), [node]
        found: list[Condition] = []
        while waiting:
            part = waiting.pop()
            if type(part) is kind:
                waiting += [part.this, part.expression]
                continue
            condition = self.read(part)
            found += condition.conditions if isinstance(condition, join) else [condition]
        return join(tuple(found))

    def _comparison(self, node: Any, operator: Operator) -> Condition:
        left, right = node.this, node.expression
        if _is_constant(left):
            left, right, operator = right, left, MIRRORED[operator]
        named = self.named(left)
        if named.datatype is Datatype.BOOL and operator not in ("=", "<>"):
            raise self.positions.refusal(node, "TRUE and FALSE can be compared with = and <> only", code="query-type")
        return Compare(named.name, operator, self._constant(right, named, near=node))

    def _between(self, node: Any) -> Condition:
        self._refuse_other_arguments(node, {"this", "low", "high"})
        named = self.named(node.this)
        if named.datatype is Datatype.BOOL:
            raise self.positions.refusal(node, "TRUE and FALSE can be compared with = and <> only", code="query-type")
        low, high = (self._constant(node.args[name], named, near=node) for name in ("low", "high"))
        return Both((Compare(named.name, ">=", low), Compare(named.name, "<=", high)))

    def _among(self, node: Any) -> Condition:
        self._refuse_other_arguments(node, {"this", "expressions"})
        named = self.named(node.this)
        values = {self._constant(value, named, near=node) for value in node.expressions}
        if not values:
            raise self.positions.not_allowed(node, "IN needs a list of constants in brackets")
        return Among(named.name, tuple(sorted(values, key=repr)))

    def _refuse_other_arguments(self, node: Any, known: set[str]) -> None:
        if any(value for name, value in node.args.items() if name not in known):
            raise self.positions.not_allowed(node, "this form of the condition is not allowed")

    def _constant(self, node: Any, named: Named, *, near: Any) -> Value:
        """The constant, of the type of the column."""
        if not _is_constant(node):
            raise self.positions.not_allowed(near, "a column can only be compared with a constant")
        value = constant(node)
        numeric = named.datatype in (Datatype.INT, Datatype.FLOAT)
        fits = {
            Datatype.TEXT: isinstance(value, str),
            Datatype.BOOL: isinstance(value, bool),
        }.get(named.datatype, isinstance(value, float))
        if not fits:
            expected = (
                "a number" if numeric else {"text": "a text in single quotes"}.get(named.datatype, "TRUE or FALSE")
            )
            raise self.positions.refusal(near, f"this column is compared with {expected}", code="query-type")
        assert value is not None
        return value


def _is_constant(node: Any) -> bool:
    kind = type(node).__name__
    if kind == "Neg":
        return type(node.this).__name__ == "Literal" and not node.this.is_string
    return kind in ("Literal", "Boolean")


def constant(node: Any) -> Value | None:
    """The value of a constant: a text, a finite number as float, True or False; None for an unsupported number."""
    kind = type(node).__name__
    if kind == "Boolean":
        return bool(node.this)
    if kind == "Neg":
        value = constant(node.this)
        return -value if isinstance(value, float) else None
    if node.is_string:
        return str(node.this)
    number = float(node.this) if NUMBER.fullmatch(str(node.this)) else math.nan
    return number + 0.0 if math.isfinite(number) else None
