"""Names of institutions and people: which are valid, and which are spellings of one."""

from __future__ import annotations

import polars as pl

from kohorte.data import spelling_keys
from kohorte.errors import InputError

LONGEST = 200


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
