"""Whether a condition tells a date, an age or a ZIP code in more detail than the policy lets an answer show.

Who asks for patients of 92 years and gets rows knows that all of them are 92, although the rows do not say so. So the
values at which a comparison begins and ends must be bounds of what an answer may show: whole months or years, ages up
to the highest that is told apart, the first digits of a ZIP code. This depends on the request and the policy only, so
that a refusal says nothing about anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from kohorte.exchange.contents import limited_shape
from kohorte.exchange.policies import CheckPolicy, Detail
from kohorte.exchange.request import Condition
from kohorte.exchange.statistics.entries import OLDEST, ages_of
from kohorte.identifiers import Form

_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_BEGIN = re.compile(r"([0-9]{1,4})-?|([0-9]{4}-(?:[01]|[0-9]{2}-?))")
OLDEST_TOLD = 89
"""The highest age that Safe Harbor lets a year of birth tell."""


def tells_too_much(one: Condition, form: Form, policy: CheckPolicy, today: date) -> bool:
    """Whether a comparison of an attribute of this form tells more than the policy allows, or cannot be judged."""
    detail = policy.finest[form]
    if detail == Detail.NONE:
        return True
    if form is Form.ZIP:
        return isinstance(detail, Detail) or not _short(one, detail)
    try:
        if form is Form.AGE:
            return not all(bound <= int(detail) + 1 or bound > OLDEST for bound in _ages(one))
        return not all(_is_bound(bound, detail, today) for bound in _dates(one))
    except (ValueError, OverflowError):  # the year 10000
        return True


def _short(one: Condition, digits: int) -> bool:
    """Whether a comparison of ZIP codes names at most so many digits, and nothing else: a village has none."""
    if one.operator in ("at_least", "at_most") or not all(limited_shape(str(value), Form.ZIP) for value in one.values):
        return False
    return all(len(re.sub("[^0-9]", "", str(value))) <= digits for value in one.values)


def _ages(one: Condition) -> Iterator[float]:
    """The ages at which the people whom a comparison selects begin, and after which they end."""
    for value in one.values:
        if one.operator == "starts_with":
            raise ValueError
        if one.operator in ("at_least", "at_most"):
            yield float(value) + (one.operator == "at_most")
        else:
            low, high = ages_of(str(value)) or (float(value), float(value))
            yield from (low, high + 1)


def _dates(one: Condition) -> Iterator[date]:
    """The days on which what a comparison selects begins, and on which it is over."""
    for value in one.values:
        text = str(value).strip()
        if one.operator == "starts_with":
            yield from _begun(text)
            continue
        first, over = _span(text)
        if one.operator != "at_most":
            yield first
        if one.operator != "at_least":
            yield over


def _span(text: str) -> tuple[date, date]:
    """The first day of a year, a month or a day, and the first day after it."""
    found = _DATE.fullmatch(text)
    if found is None:
        raise ValueError
    year, month, day = (None if part is None else int(part) for part in found.groups())
    assert year is not None, "the pattern begins with it"
    if month is None:
        return date(year, 1, 1), date(year + 1, 1, 1)
    if day is None:
        return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, day), date(year, month, day) + timedelta(days=1)


def _begun(text: str) -> Iterator[date]:
    """Bounds of what begins with a text: a century, a decade, a year, or some of its months."""
    found = _BEGIN.fullmatch(text)
    if found is None:
        raise ValueError
    if found[1] is None:  # some months of a year: each is a bound of a month
        year = int(text[:4])
        yield from (date(year, 2, 1), date(year, 3, 1))
        return
    years = 10 ** (4 - len(found[1]))
    first = int(found[1]) * years
    yield from (date(max(first, 1), 1, 1), date(min(first + years, 9999), 1, 1))


def _is_bound(day: date, detail: Detail | int, today: date) -> bool:
    """Whether a day is the first of a month or year, and tells no two years of birth of very old people apart."""
    if detail == Detail.MONTH:
        return day.day == 1
    told = detail != Detail.SAFE_HARBOR or day.year >= today.year - OLDEST_TOLD
    return (day.month, day.day) == (1, 1) and told
