"""Finds English in German texts, by words that German does not have."""

from __future__ import annotations

import re

ENGLISH = re.compile(
    r"\b(the|of|is|are|and|that|which|with|without|rows?|people|person's|not|by|every|each|to|levels?|above|below|"
    r"before|after|none|about|fewer|less|other|over|has|have|whom|whose|this|these|cannot|must|only|from|does|at)\b"
)
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\([a-z -]+\)|\w+: \w+|kohorte \w+")
"""Names, keys of plans, English terms in brackets and commands, which stay as they are."""


def english_words(text: str) -> list[str]:
    """The English words of a text that should be German."""
    return ENGLISH.findall(QUOTED.sub("", text))
