"""Labels that the program makes of values: spans, lists, and texts of which only some signs are shown."""

from __future__ import annotations

import re
from collections.abc import Callable

from kohorte.exchange.contents.everyday_texts import begins_everyday
from kohorte.exchange.contents.measures import ends_a_span

_NUMBER = r"[-+−]?[0-9]+(?:\.[0-9]+)?"
_SPAN = re.compile(
    rf"[\[(\]]({_NUMBER}|-inf|-∞), ?({_NUMBER}|inf|∞)[\])\[]|({_NUMBER}) ?[-–] ?({_NUMBER})"
    rf"|(?:[<>]=?|[≤≥]) ?({_NUMBER})"
)
_PART = re.compile(r'"((?:[^"]|"")*)"|([^",]+)')
_CODE = re.compile(r"[A-Z]?[0-9][0-9.]{0,2}|[A-Z]{1,2}|[0-9]{1,3}")
MASK = "*"


def is_made_of_known(label: str, is_known: Callable[[str], bool]) -> bool:
    """Whether a label of the program names numbers of few digits, known values, or the first signs of such.

    `is_known` says it of a value.
    """
    if (span := _SPAN.fullmatch(label)) is not None:
        return all(ends_a_span(number) for number in span.groups() if number and number[-1].isdigit())
    if MASK in label:
        kept = label.strip(MASK).strip()
        return not kept or _CODE.fullmatch(kept) is not None or begins_everyday(kept)
    if label.startswith("{") and label.endswith("}"):
        return all(map(is_known, _values(label[1:-1])))
    ends = label.split(" – ")
    return len(ends) == 2 and all(is_known(_unquoted(end)) for end in ends)


def _values(text: str) -> list[str]:
    found = [quoted.replace('""', '"') or plain.strip() for quoted, plain in _PART.findall(text)]
    return [value for value in found if value]


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') and text.endswith('"') else text
