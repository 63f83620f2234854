"""Texts that identify somebody by themselves, whatever else their column contains."""

from __future__ import annotations

import re

import polars as pl

from kohorte.identifiers.classes import Form
from kohorte.identifiers.common_names import NAMES
from kohorte.identifiers.contents import CONTENTS

_ALSO_OTHERS = ("names of people", "numbers of nine digits, as social security numbers are")
"""Vague patterns that diseases and codes have, too: `Hepatitis, Viral`."""
_PATTERNS = [one for one in CONTENTS if one.form is Form.DIRECT and not (one.vague and one.what in _ALSO_OTHERS)]


def identify_alone(texts: pl.Series) -> pl.Series:
    """Tell of each text whether it is an identifier, such as an e-mail address, or a full name of frequent names.

    Small letters hide nothing: statistics are compared without regard to capital letters.
    """
    written = (texts, texts.str.to_uppercase())
    found = [pl.Series([_is_full_name(text) for text in texts], dtype=pl.Boolean)]
    found += [pattern.hits(own) for pattern in _PATTERNS for own in written]
    return pl.DataFrame([one.alias(f"{at}") for at, one in enumerate(found)]).max_horizontal()


def _is_full_name(text: str) -> bool:
    parts = re.findall(r"[^\W_]+", text.casefold())
    return len(parts) > 1 and all(part in NAMES for part in parts)
