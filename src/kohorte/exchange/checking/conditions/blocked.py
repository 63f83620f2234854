"""Conditions that are never answered: they select people by what identifies them, or tell too much by themselves."""

from __future__ import annotations

import re

import polars as pl

from kohorte.data import Role, as_text
from kohorte.exchange.checking.conditions.detail import tells_too_much
from kohorte.exchange.checking.forms import LIMITED, UNKNOWN, Found, forms_of
from kohorte.exchange.checking.global_look import GlobalLook
from kohorte.exchange.checking.known_values import KnownValues, stated_content
from kohorte.exchange.request import Condition
from kohorte.exchange.request.selection import ORDERED


def blocked_conditions(table: pl.DataFrame, look: GlobalLook) -> list[str]:
    """Why a condition is never answered, in words; nothing if it may be.

    The contents are those of the whole table, so that a refusal does not depend on who satisfies the condition.
    """
    identifying, fine = [], []
    for name in look.request.condition.attributes:
        found = forms_of(as_text(table[name]), table.height).stated(stated_content(name, look).form)
        if _identifies(table[name], look, found):
            identifying.append(name)
        elif _is_too_fine(name, look, found):
            fine.append(name)
    reasons = []
    if identifying:
        names = ", ".join(identifying)
        reasons.append(f"the condition asks for people by {names}, which identifies them, or may do so")
    if fine:
        names = ", ".join(fine)
        reasons.append(f"the condition tells {names} in more detail than the policy lets an answer show")
    return reasons


def _identifies(column: pl.Series, look: GlobalLook, found: Found) -> bool:
    """Whether a column identifies people by its role, its name or its content."""
    if look.holding.plan.attributes[column.name].role is Role.IDENTIFYING:
        return True
    return found.first(look.holding.policy.dropped) is not None or _is_unknown(column, look, found)


def _is_unknown(column: pl.Series, look: GlobalLook, found: Found) -> bool:
    """Whether a condition asks for values of which nothing tells that they name nobody, or a column has too many.

    Of dates, ages and ZIP codes the rules about their detail decide. A column with statistics can have gaps, so there
    the values that the condition names decide, unless it orders them.
    """
    if any(form in LIMITED for form in found.forms):
        return False
    known = KnownValues(column.name, look, found.forms)
    own = [one for one in look.request.condition.comparisons() if one.attribute == column.name]
    if any(_names_unknown(one, known) for one in own if one.operator not in ORDERED):
        return True
    if column.name in look.holding.statistics and all(one.operator not in ORDERED for one in own):
        return False
    return int(known.unknown_rows(as_text(column)).sum()) > look.holding.policy.most_removed * len(column)


def _names_unknown(one: Condition, known: KnownValues) -> bool:
    """Whether a comparison names a value that is not known.

    Only what it says counts: if the cells did, too, a refusal would tell whether anybody has such a value.
    """
    named = [str(value).strip() for value in one.values]
    fits = known.begins_known if one.operator == "starts_with" else known.is_known
    return not all(fits(value) or fits(value.upper()) or _says_nothing(value) for value in named)


def _says_nothing(value: str) -> bool:
    return re.search(UNKNOWN, value.lower()) is not None


def _is_too_fine(name: str, look: GlobalLook, found: Found) -> bool:
    forms = [form for form in found.forms if form in LIMITED]
    own = [one for one in look.request.condition.comparisons() if one.attribute == name]
    return any(tells_too_much(one, form, look.holding.policy, look.today) for one in own for form in forms)
