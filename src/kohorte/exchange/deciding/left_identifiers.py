"""The last look at a written answer: none of its columns may identify anybody, by name or by content."""

from __future__ import annotations

import polars as pl

from kohorte.data import as_text
from kohorte.errors import PrivacyViolation
from kohorte.exchange.checking.forms import forms_of, too_fine
from kohorte.exchange.policies import CheckPolicy
from kohorte.in_words import listed


def refuse_identifiers(frame: pl.DataFrame, policy: CheckPolicy) -> None:
    """Refuse an answer with a column that looks like one of the 18 classes of identifiers, whatever people decided.

    Dates, ages and ZIP codes are refused if they show more than the policy allows.
    """
    found = [column.name for column in map(as_text, frame.get_columns()) if _identifies(column, frame.height, policy)]
    if found:
        raise PrivacyViolation(
            f"the answer would contain what can identify people in {listed([repr(name) for name in found])}; nothing "
            "was sent",
            code="exchange-identifiers",
        )


def _identifies(column: pl.Series, rows: int, policy: CheckPolicy) -> bool:
    found = forms_of(column, rows)
    return found.first(policy.dropped) is not None or too_fine(column, found.forms, policy) is not None
