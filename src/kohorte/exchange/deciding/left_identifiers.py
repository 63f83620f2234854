"""The last look at a written answer: none of its columns may identify anybody, by name or by content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from kohorte.data import as_text
from kohorte.errors import PrivacyViolation
from kohorte.exchange.checking.forms import LIMITED, UNKNOWN, forms_of, too_fine
from kohorte.exchange.contents import WORDS, Content
from kohorte.exchange.policies import CheckPolicy
from kohorte.hierarchies import SUPPRESSED
from kohorte.in_words import listed


def refuse_identifiers(frame: pl.DataFrame, policy: CheckPolicy, verdicts: Sequence[Mapping[str, Any]]) -> None:
    """Refuse an answer with a column that looks like one of the 18 classes of identifiers, whatever people decided.

    Dates, ages and ZIP codes are refused if they show more than the policy allows, and so are columns that no verdict
    lets through, and values without statistics of which nothing tells that they name nobody.
    """
    sent = {one["attribute"]: one for one in verdicts if one["treatment"] != "drop"}
    columns = map(as_text, frame.get_columns())
    found = [one.name for one in columns if _identifies(one, frame.height, policy, sent.get(one.name))]
    if found:
        raise PrivacyViolation(
            f"the answer would contain what can identify people in {listed([repr(name) for name in found])}; nothing "
            "was sent",
            code="exchange-identifiers",
        )


def _identifies(column: pl.Series, rows: int, policy: CheckPolicy, verdict: Mapping[str, Any] | None) -> bool:
    stated = (verdict or {}).get("content") or {"statistics": None, "contents": WORDS}
    content = Content(stated["statistics"], stated["contents"])
    found = forms_of(column, rows).stated(content.form)
    if found.first(policy.dropped) is not None or too_fine(column, found.forms, policy) is not None:
        return True
    if bool((column.drop_nulls() == SUPPRESSED).all()):
        return False
    if verdict is None:
        return True
    by_others = content.trusts_statistics or verdict["level"] > 0 or any(form in LIMITED for form in found.forms)
    return not by_others and not _is_known(column, content)


def _is_known(column: pl.Series, content: Content) -> bool:
    """Whether everything that a column shows is known to name nobody."""
    shown = column.drop_nulls().unique()
    told = shown.filter(~shown.str.strip_chars().str.to_lowercase().str.contains(UNKNOWN))
    return all(map(content.is_known, told))
