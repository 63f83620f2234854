"""The form of an attribute (date, ZIP code, age, identifier), and which texts of it the policy allows."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import polars as pl

from kohorte.data.person_keys import INVISIBLE
from kohorte.exchange.policies import CheckPolicy, Detail
from kohorte.hierarchies import SUPPRESSED, SafeHarbor
from kohorte.hierarchies.builder import Builder
from kohorte.identifiers import (
    CLASSES,
    CellTable,
    Form,
    form_by_name,
    rows_with_codes,
    rows_with_names,
    rows_with_towns,
    suspects_in,
)
from kohorte.identifiers.contents import HAS_MONTH_NAME

SAFE_DIGITS = 3
LIKELY = 0.8
"""A pattern that other values can have, too, counts if so large a share of the known cells has it: our own choice."""
PLAIN = r"^[\x20-\x7E]*$"
UNKNOWN = (
    r"^(?:|[-\u2013\u2014?.*x/]+|n\.?/?a\.?|nan|none|null|nil|unknown|not known|missing|unbekannt|nicht bekannt"
    r"|kein[es]*|keine angaben?|k\.? ?a\.?|fehlt|fehlend|o\.? ?a\.?|leer|entf(?:ällt|\.))$"
)
"""Cells that say that nothing is known, in small letters."""
LIMITED = (Form.DATE, Form.BIRTH, Form.ZIP, Form.AGE)
YEAR = r"(?:1[89]|20)[0-9]{2}"
YEARS = rf"^[^0-9]*{YEAR}(?:[^0-9]+{YEAR})?[^0-9]*$"
MONTHS = rf"^[^0-9]*{YEAR}-(?:0[1-9]|1[0-2])[^0-9]*$|^[^0-9]*{YEAR}-?Q[1-4]$"


@dataclass(frozen=True)
class Found:
    """The forms that an attribute seems to have, and why; never with a value."""

    forms: tuple[Form, ...]
    reasons: tuple[str, ...]

    def first(self, among: tuple[Form, ...]) -> str | None:
        """The reason of the first form that is one of these."""
        return next((why for form, why in zip(self.forms, self.reasons, strict=True) if form in among), None)

    def without(self, form: Form) -> Found:
        """The same without a form."""
        left = [(one, why) for one, why in zip(self.forms, self.reasons, strict=True) if one is not form]
        return Found(tuple(one for one, _ in left), tuple(why for _, why in left))

    def and_of(self, other: Found) -> Found:
        """The forms of both."""
        more = [(one, why) for one, why in zip(other.forms, other.reasons, strict=True) if one not in self.forms]
        return Found((*self.forms, *(one for one, _ in more)), (*self.reasons, *(why for _, why in more)))

    def stated(self, form: Form | None) -> Found:
        """The same with a form that the house states."""
        if form is None or form in self.forms:
            return self
        return Found((*self.forms, form), (*self.reasons, "by what the house states"))


def forms_of(column: pl.Series, rows: int) -> Found:
    """What an attribute looks like, by its name and by the content of every cell.

    Cells are compared as they look: wide digits, invisible characters and blanks around a text do not hide anything.
    Cells that only say that nothing is known do not count, so that a few of them do not hide what the others are.
    """
    named = form_by_name(column.name)
    cells = plain_cells(column)
    [suspicions] = suspects_in(cells, rows, least=0.0, mostly=LIKELY)
    forms = [suspicion.form for suspicion in suspicions]
    reasons = [f"{suspicion.name} (class {suspicion.number}): {suspicion.why}" for suspicion in suspicions]
    if named is not None and named not in forms:
        forms.append(named)
        reasons.append("by its name")
    if Form.DIRECT not in forms and rows_with_names(cells[0]):
        forms.append(Form.DIRECT)
        reasons.append(f"{CLASSES[1]} (class 1): contains names that many people have")
    if Form.ZIP not in forms and rows_with_codes(cells[0]):
        forms.append(Form.ZIP)
        reasons.append(f"{CLASSES[2]} (class 2): contains postal codes of larger towns")
    if Form.PLACE not in forms and rows_with_towns(cells[0]):
        forms.append(Form.PLACE)
        reasons.append(f"{CLASSES[2]} (class 2): contains names of towns or streets")
    return Found(tuple(forms), tuple(reasons))


def plain_cells(column: pl.Series) -> CellTable:
    """The cells as they look, counted, without those that say that nothing is known."""
    counted = column.drop_nulls().alias("text").value_counts(name="count").sort("text")
    shown = counted["text"].str.strip_chars()
    odd = ~shown.str.contains(PLAIN)
    if odd.any():
        looks = [" ".join(INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).split()) for text in shown.filter(odd)]
        shown = shown.scatter(odd.arg_true(), looks)
    told = counted.with_columns(text=shown).filter(~shown.str.to_lowercase().str.contains(UNKNOWN))
    summed = told.group_by("text", maintain_order=True).agg(pl.col("count").sum())
    return CellTable.counted({column.name: (summed["text"], summed["count"])})


def too_fine(shown: pl.Series, forms: tuple[Form, ...], policy: CheckPolicy) -> Form | None:
    """The first form of which some text shows more than the policy allows; None if there is none.

    Without its hierarchy, a ZIP code under Safe Harbor is judged by its number of digits.
    """
    texts = shown.drop_nulls().unique()
    for form in forms:
        if form not in LIMITED:
            continue
        if form is Form.ZIP and policy.finest[form] == Detail.SAFE_HARBOR:
            fine = texts.str.replace_all("[^0-9]", "").str.len_chars() <= SAFE_DIGITS
        else:
            fine = allowed(texts, None, form, policy)
        if not fine.all():
            return form
    return None


def allowed(shown: pl.Series, builder: Builder | None, form: Form, policy: CheckPolicy) -> pl.Series:
    """Tell of each shown text whether the policy allows it for an attribute of this form."""
    detail = policy.finest[form]
    starred = shown == SUPPRESSED
    if detail == Detail.NONE:
        return starred
    if detail == Detail.SAFE_HARBOR and form is Form.BIRTH:
        return starred | (shown.str.contains(YEARS) & _hides_old_age(shown))
    if detail == Detail.SAFE_HARBOR:
        known = isinstance(builder, SafeHarbor) and builder.kind == "zip"
        return builder.safe(shown, attribute=shown.name) if known and isinstance(builder, SafeHarbor) else starred
    if form is Form.ZIP:
        return starred | (shown.str.replace_all("[^0-9]", "").str.len_chars() <= int(detail))
    if form is Form.AGE:
        return starred | _young(shown, int(detail))
    years, named = shown.str.contains(YEARS), shown.str.contains(HAS_MONTH_NAME)
    if detail == Detail.MONTH:
        return starred | years | shown.str.contains(MONTHS)
    return starred | (years & ~named)


def _hides_old_age(shown: pl.Series) -> pl.Series:
    """Whether a year of birth reveals no age over 89; texts that are no years are not looked at."""
    hides = [re.match(YEARS, text) is not None and _is_young(text) for text in shown]
    return pl.Series(hides, dtype=pl.Boolean)


def _is_young(text: str) -> bool:
    [suspicions] = suspects_in(CellTable.of([pl.Series("birth date", [text])]), 1, least=0.0)
    return Form.BIRTH not in [suspicion.form for suspicion in suspicions]


def _young(shown: pl.Series, oldest: int) -> pl.Series:
    """Which texts tell no two ages above the oldest apart: one number or a span below, or one open span above."""
    numbers = shown.str.extract_all("[0-9]+").list.eval(pl.element().cast(pl.Int64, strict=False))
    low, high = numbers.list.min(), numbers.list.max()
    opened = shown.str.contains(rf"^(?:>=|≥) ?{oldest + 1}$|^{oldest + 1} ?\+$|^\[{oldest + 1}, ?(?:1[0-9]{{2}}|inf|∞)")
    covers = (low <= oldest) & (high > oldest + 1)  # a wide span that begins below hides who is above
    return ((high <= oldest + 1) & (low <= oldest) | opened | covers).fill_null(value=False)
