"""The last look at a written answer: none of its columns may identify anybody, by name or by content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from kohorte.data import as_text
from kohorte.errors import PrivacyViolation
from kohorte.exchange.checking.forms import LIMITED, UNKNOWN, forms_of, too_fine
from kohorte.exchange.contents import WORDS, Content, is_made_of_known, limited_shape
from kohorte.exchange.policies import CheckPolicy
from kohorte.exchange.statistics import Frequency, Statistics
from kohorte.hierarchies import SUPPRESSED
from kohorte.identifiers import Form
from kohorte.in_words import listed


def refuse_identifiers(
    frame: pl.DataFrame, policy: CheckPolicy, verdicts: Sequence[Mapping[str, Any]], statistics: Statistics
) -> None:
    """Refuse an answer with a column that looks like one of the 18 classes of identifiers, whatever people decided.

    Every cell is looked at. Dates, ages and ZIP codes are refused if they show more than the policy allows, and so are
    columns that no verdict lets through, and texts of which nothing tells that they name nobody.
    """
    sent = {one["attribute"]: one for one in verdicts if one["treatment"] != "drop"}
    columns = map(as_text, frame.get_columns())
    found = [one.name for one in columns if _identifies(one, frame.height, policy, sent.get(one.name), statistics)]
    if found:
        raise PrivacyViolation(
            f"the answer would contain what can identify people in {listed([repr(name) for name in found])}; nothing "
            "was sent",
            code="exchange-identifiers",
        )


def _identifies(
    column: pl.Series, rows: int, policy: CheckPolicy, verdict: Mapping[str, Any] | None, statistics: Statistics
) -> bool:
    stated = (verdict or {}).get("content") or {"statistics": None, "contents": WORDS}
    content = Content(stated["statistics"], stated["contents"])
    found = forms_of(column, rows).stated(content.form)
    for form in (verdict or {}).get("forms", ()):
        found = found.stated(Form(form))
    if found.first(policy.dropped) is not None or too_fine(column, found.forms, policy) is not None:
        return True
    if bool((column.drop_nulls() == SUPPRESSED).all()):
        return False
    return verdict is None or not _is_known(column, _Sent(content, found.forms, verdict["level"], statistics))


def _is_known(column: pl.Series, sent: _Sent) -> bool:
    """Whether everything that a column shows is known to name nobody."""
    shown = column.drop_nulls().unique()
    told = shown.filter(~shown.str.strip_chars().str.to_lowercase().str.contains(UNKNOWN))
    return all(map(sent.is_known, told))


@dataclass(frozen=True)
class _Sent:
    """What is known about a column of an answer: its content, its forms, its level, and the statistics of today."""

    content: Content
    forms: Sequence[Form]
    level: int
    statistics: Statistics

    def is_known(self, text: str) -> bool:
        """Whether a text is a value that is known, or a label that the program made of such values."""
        return self._is_value(text) or (self.level > 0 and is_made_of_known(text, self._is_value))

    def _is_value(self, text: str) -> bool:
        if self.content.is_known(text) or any(limited_shape(text, form) for form in self.forms if form in LIMITED):
            return True
        kind = self.content.kind
        if kind is None or not self.content.trusts_statistics:
            return False
        known = isinstance(self.statistics.frequency(kind, text), Frequency)
        return known and not self.statistics.is_identifier(text)
