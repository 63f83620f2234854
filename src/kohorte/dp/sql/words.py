"""The words that a query may contain; all others are refused before it is parsed."""

from __future__ import annotations

from typing import Any

from kohorte.dp.libraries import sqlglot
from kohorte.dp.sql.positions import Positions, first_comment, first_lone_surrogate, open_quote

MOST_LETTERS = 10_000
MOST_WORDS = 1_000
DEEPEST = 20
CLAUSES = {"SELECT", "DISTINCT", "FROM", "WHERE", "GROUP_BY", "HAVING", "ORDER_BY", "ASC", "DESC", "LIMIT", "ALIAS"}
CONDITIONS = {"AND", "OR", "NOT", "IN", "BETWEEN", "IS", "EQ", "NEQ", "LT", "LTE", "GT", "GTE"}
ATOMS = {"NULL", "TRUE", "FALSE", "NUMBER", "STRING", "VAR", "IDENTIFIER"}
SIGNS = {"STAR", "L_PAREN", "R_PAREN", "COMMA", "DASH", "SEMICOLON"}
KNOWN = CLAUSES | CONDITIONS | ATOMS | SIGNS
QUANTILE = "QUANTILE(column, q) needs a number q between 0 and 1"
REASONS = {
    "UNION": "only one SELECT is allowed, without UNION",
    "EXCEPT": "only one SELECT is allowed, without EXCEPT",
    "INTERSECT": "only one SELECT is allowed, without INTERSECT",
    "JOIN": "only one table is allowed, without JOIN",
    "WITH": "WITH is not allowed",
    "OVER": "window functions are not allowed",
    "PARAMETER": "parameters are not allowed; write the constant",
    "PLACEHOLDER": "parameters are not allowed; write the constant",
    "DOT": "names with a dot are not allowed; write the column alone",
    "CASE": "CASE is not allowed",
    "LIKE": "LIKE is not allowed; compare with =, <>, <, <=, >, >=, IN or BETWEEN",
    "EXISTS": "subqueries are not allowed",
    "OFFSET": "OFFSET is not allowed",
    "PLUS": "arithmetic is not allowed",
    "SLASH": "arithmetic is not allowed",
    "MOD": "arithmetic is not allowed",
    "DIV": "arithmetic is not allowed",
    "DPIPE": "arithmetic is not allowed",
    "CARET": "arithmetic is not allowed",
    "DSTAR": "arithmetic is not allowed",
}


def checked_words(positions: Positions) -> list[Any]:
    """Return the words; refuse a query that is too long, has a comment, several statements or an unknown word."""
    sql = positions.sql
    if len(sql) > MOST_LETTERS:
        raise positions.not_allowed(MOST_LETTERS, f"a query has at most {MOST_LETTERS:,} characters")
    surrogate = first_lone_surrogate(sql)
    if surrogate is not None:
        raise positions.refusal(surrogate, "this is a lone surrogate, not a character", code="query-syntax")
    comment = first_comment(sql)
    if comment is not None:
        raise positions.not_allowed(comment, "comments are not allowed")
    words = _words(positions)
    if not words:
        raise positions.refusal(0, "the query is empty", code="query-syntax")
    if len(words) > MOST_WORDS:
        raise positions.not_allowed(words[MOST_WORDS].start, f"a query has at most {MOST_WORDS:,} words")
    for word in words:
        if word.token_type.name not in KNOWN:
            reason = REASONS.get(word.token_type.name, "this word is not allowed in a query")
            raise positions.not_allowed(word.start, reason)
        if word.comments:
            raise positions.not_allowed(word.start, "comments are not allowed")
    _check_statements(words, positions)
    _check_brackets(words, positions)
    _check_quantiles(words, positions)
    return words


def _words(positions: Positions) -> list[Any]:
    library = sqlglot()
    try:
        words: list[Any] = library.tokenize(positions.sql, read="duckdb")
    except library.errors.SqlglotError:
        start = open_quote(positions.sql)
        reason = "the query cannot be read here" if start is None else "this quote is not closed"
        raise positions.refusal(start or 0, reason, code="query-syntax") from None
    return words


def _check_statements(words: list[Any], positions: Positions) -> None:
    ends = [number for number, word in enumerate(words) if word.token_type.name == "SEMICOLON"]
    if ends and ends[0] < len(words) - 1:
        raise positions.not_allowed(words[ends[0]].start, "only one statement is allowed")
    selects = [word for word in words if word.token_type.name == "SELECT"]
    if words[0].token_type.name != "SELECT":
        raise positions.not_allowed(words[0].start, "a query begins with SELECT")
    if len(selects) > 1:
        raise positions.not_allowed(selects[1].start, "subqueries are not allowed")


def _check_brackets(words: list[Any], positions: Positions) -> None:
    """Refuse brackets that do not match, which sqlglot sometimes overlooks, and nesting that is too deep."""
    opened: list[Any] = []
    before = 0
    for word in words:
        kind = word.token_type.name
        if kind == "L_PAREN":
            opened.append(word)
        elif kind == "R_PAREN" and not opened:
            raise positions.refusal(word.start, "this bracket was never opened", code="query-syntax")
        elif kind == "R_PAREN":
            opened.pop()
        before = before + 1 if kind in ("NOT", "DASH") else 0
        if len(opened) + before > DEEPEST:
            raise positions.not_allowed(word.start, f"brackets, NOT or signs are nested more than {DEEPEST} deep")
    if opened:
        raise positions.refusal(opened[-1].start, "this bracket is not closed", code="query-syntax")


def _check_quantiles(words: list[Any], positions: Positions) -> None:
    """Refuse QUANTILE with anything but a column and a number: sqlglot drops other arguments."""
    for number, word in enumerate(words):
        kinds = [other.token_type.name for other in words[number + 1 : number + 6]]
        if word.text.upper() != "QUANTILE" or kinds[:1] != ["L_PAREN"]:
            continue
        if kinds[2:] != ["COMMA", "NUMBER", "R_PAREN"]:
            raise positions.not_allowed(word.start, QUANTILE)
