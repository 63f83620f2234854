"""Positions in the text of a query, and errors that name them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kohorte.errors import InputError


@dataclass(frozen=True)
class Positions:
    """The text of a query; messages contain positions, never the text itself."""

    sql: str

    def at(self, offset: int) -> str:
        """Return the line and column of a character, both from 1."""
        before = self.sql[: max(offset, 0)]
        return f"line {before.count(chr(10)) + 1}, column {len(before) - (before.rfind(chr(10)) + 1) + 1}"

    def refusal(self, where: Any, reason: str, *, code: str) -> InputError:
        """Return the error for a part of the query: an offset, or an expression of sqlglot."""
        offset = where if isinstance(where, int) else start_of(where)
        return InputError(f"{self.at(offset)}: {reason}", code=code)

    def not_allowed(self, where: Any, reason: str) -> InputError:
        """Return the error for a part of the query that is valid SQL but not supported."""
        return self.refusal(where, reason, code="query-not-allowed")


def start_of(expression: Any) -> int:
    """The offset of the first part of an expression with a known position; 0 if there is none."""
    nodes = expression.walk() if hasattr(expression, "walk") else ()
    starts = [node.meta["start"] for node in nodes if "start" in node.meta]
    return min(starts, default=0)


def first_lone_surrogate(sql: str) -> int | None:
    """The offset of the first lone surrogate, which cannot be encoded as UTF-8, or None."""
    return next((offset for offset, letter in enumerate(sql) if "\ud800" <= letter <= "\udfff"), None)


def first_comment(sql: str) -> int | None:
    """The offset of the first comment outside of quotes, or None."""
    quote = ""
    for offset, letter in enumerate(sql):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif sql.startswith(("--", "/*", "//"), offset):
            return offset
    return None


def open_quote(sql: str) -> int | None:
    """The offset of a quote that is never closed, or None."""
    quote, opened = "", 0
    for offset, letter in enumerate(sql):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote, opened = letter, offset
    return opened if quote else None
