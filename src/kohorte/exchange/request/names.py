"""Names of institutions and people: which are valid, and which are spellings of one."""

from __future__ import annotations

import re

import polars as pl

from kohorte.data import spelling_keys
from kohorte.errors import InputError

LONGEST = 200
TITLE = re.compile(
    "dr|prof|mag|dipl|ing|di|med|univ|phil|rer|nat|habil|pd|priv|doz|prim|phd|msc|bsc|mba|md|herr|frau|mr|mrs|ms"
)
"""Words of a name that do not tell people apart."""


def checked_institution(name: object) -> str:
    """Return the name of an institution: one line of text."""
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST or not name.isprintable():
        raise InputError(
            f"the name of an institution is one line of text with at most {LONGEST} characters",
            code="exchange-peer-value",
        )
    return name.strip()


def same_name(one: str, other: str) -> bool:
    """Whether two names are spellings of one."""
    keys = spelling_keys(pl.Series([one, other], dtype=pl.String))
    return bool(keys[0] == keys[1])


def same_person(one: str, other: str) -> bool:
    """Whether two names can be those of one person: titles, commas, dots and the order of the words do not count.

    Of an e-mail address, the part before the @ is compared.
    """
    return same_name(one, other) or (bool(_words(one)) and _words(one) == _words(other))


def _words(name: str) -> frozenset[str]:
    key = spelling_keys(pl.Series([name], dtype=pl.String))[0] or ""
    words = re.findall(r"[^\W_]+", key.partition("@")[0])
    return frozenset(word for word in words if not TITLE.fullmatch(word))
