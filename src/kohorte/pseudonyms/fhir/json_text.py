"""JSON as FHIR needs it: decimal numbers keep their digits (1.00 is not 1.0), and errors show no value."""

from __future__ import annotations

import json
import re
from typing import Any

from kohorte.errors import InputError

_MARK = "\0n"
_MARKED = re.compile(r'"\\u0000n([^"]*)"')


class Decimal(str):
    """The digits of a decimal number."""

    __slots__ = ()


def parsed(data: bytes, where: str) -> Any:
    """Read JSON; `where` names the place in messages."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise _wrong(where, "is not UTF-8") from None
    if "\\u0000" in text or "\0" in text:
        raise _wrong(where, "has the character U+0000, which FHIR forbids")
    doubled: list[dict[str, Any]] = []

    def together(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            doubled.append(made)
        return made

    try:
        value = json.loads(text, parse_float=_decimal, parse_constant=_constant, object_pairs_hook=together)
        place = _place(value, doubled[0], where) if doubled else where
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except (ValueError, RecursionError):
        raise _wrong(where, "is not JSON") from None
    if doubled:
        raise _wrong(place, "names an element of an object twice")
    return value


def written(value: Any) -> bytes:
    """Write JSON in one line."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return (_MARKED.sub(r"\1", text) if "\\u0000" in text else text).encode()


def _place(value: Any, doubled: Any, where: str) -> str:
    """The place of an object; in a Bundle with the number of the entry."""
    entries = value.get("entry") if isinstance(value, dict) else None
    for number, entry in enumerate(entries if isinstance(entries, list) else (), start=1):
        if _contains(entry, doubled):
            return f"{where}, entry {number}"
    return where


def _contains(value: Any, part: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is part or any(_contains(one, part) for one in inner)


def _decimal(digits: str) -> Decimal:
    return Decimal(_MARK + digits)


def _constant(name: str) -> Any:
    raise ValueError(name)


def _wrong(where: str, reason: str) -> InputError:
    return InputError(f"{where}: {reason}", code="fhir-json")
