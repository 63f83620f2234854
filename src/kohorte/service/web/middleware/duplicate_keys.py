"""Find keys that occur twice in one object of a JSON text: readers disagree on which of the two counts.

Source: RFC 8259, The JavaScript Object Notation (JSON) Data Interchange Format, 2017, section 4.
"""

from __future__ import annotations

import json
import re
from typing import Any

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]')
"""Texts, and what begins, divides and ends objects and lists; numbers, words and colons do not matter."""


class _Twice(Exception):
    """A key occurs twice."""


def duplicate_key(body: bytes) -> str | None:
    """Return where the first key is that its object has already, or None; for a body that is not JSON None.

    The key itself is not shown: in a hierarchy it is a value of the data.
    """
    try:
        json.loads(body, object_pairs_hook=_refuse_twice)
    except _Twice:
        return _place(body.decode(json.detect_encoding(body), "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return None


def _refuse_twice(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        raise _Twice


def _place(text: str) -> str:
    """Walk through the text, which is JSON up to the key, with the keys of every open object (None for a list)."""
    opened: list[set[str] | None] = []
    key_comes = False
    for token in TOKEN.finditer(text):
        sign = token.group()
        if sign in "{[":
            opened.append(set() if sign == "{" else None)
            key_comes = sign == "{"
        elif sign in "}]":
            opened.pop()
            key_comes = False
        elif sign == ",":
            key_comes = opened[-1] is not None
        elif key_comes:
            keys, key = opened[-1], json.loads(sign)
            assert keys is not None
            if key in keys:
                break
            keys.add(key)
            key_comes = False
    before = text[: token.start()]
    line, column = before.count("\n") + 1, token.start() - (before.rfind("\n") + 1) + 1
    return f"line {line}, column {column}"
