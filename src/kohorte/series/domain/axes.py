"""The axes of a series: the domain of every quasi-identifier, from the plan's hierarchies and the settings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from kohorte.errors import InputError, nearest
from kohorte.hierarchies import Bounds, Builder, CsvFile, Dates, Hierarchy, Intervals, Ordering, Tree
from kohorte.hierarchies.options import choice, distinct_labels, exact_number, listed, whole_number
from kohorte.plans.parts import Attribute
from kohorte.plans.plan import Plan
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.categories import CategoryAxis
from kohorte.series.domain.measures import DateAxis, Exact, NumberAxis
from kohorte.series.domain.regions import Regions
from kohorte.series.settings import SeriesSettings
from kohorte.sources import Missing

Domain = Mapping[str, Any]
"""What the settings say about one quasi-identifier."""
MOST_CODE_DIGITS = 15
"""Codes of 15 digits are whole numbers that arrays of 64 bits hold exactly."""
MOST_INITIAL_REGIONS = 10_000
"""A safeguard: with more, no region would ever have enough rows."""


def make_axes(plan: Plan, settings: SeriesSettings) -> tuple[Axis, ...]:
    """The axis of every quasi-identifier, in the order of the plan."""
    refuse_strangers(plan, settings)
    return tuple(
        _axis(name, plan.attributes[name], settings.regions.get(name, {}), missing=plan.missing is Missing.CATEGORY)
        for name in plan.quasi_identifiers
    )


def refuse_strangers(plan: Plan, settings: SeriesSettings) -> None:
    """Refuse domains of columns that are not quasi-identifiers."""
    for name in settings.regions:
        if name not in plan.quasi_identifiers:
            raise InputError(
                f"regions: {name!r} is not a quasi-identifying attribute of the plan"
                f"{nearest(name, plan.quasi_identifiers)}",
                code="series-settings",
            )


def _axis(name: str, attribute: Attribute, given: Domain, *, missing: bool) -> Axis:
    builder = attribute.hierarchy
    try:
        if _has_categories(builder, given):
            return _categories(name, attribute, given, missing=missing)
        _refuse_minimum_level(name, attribute)
        return _measure(name, builder, given, missing=missing)
    except InputError as error:
        if error.code != "hierarchy-option-invalid":
            raise
        raise InputError(error.message, code="series-axis") from None


def _has_categories(builder: Builder | None, given: Domain) -> bool:
    listed_in_plan = isinstance(builder, CsvFile | Tree | Ordering)
    return "values" in given or (listed_in_plan and not given.keys() & {"lower", "upper", "pieces", "digits"})


def _refuse_minimum_level(name: str, attribute: Attribute) -> None:
    if attribute.minimum_level:
        raise InputError(
            f"regions: {name}: a series supports minimum_level for categories only; leave it out of the plan and set a "
            f"step instead, the finest that is ever shown: regions: {{{name}: {{step: ...}}}}",
            code="series-axis",
        )


def initial_regions(axes: Sequence[Axis]) -> Regions:
    """The regions before anything is split: every combination of the pieces of the axes."""
    count = math.prod(len(axis.pieces) for axis in axes)
    if count > MOST_INITIAL_REGIONS:
        raise InputError(
            f"regions: the pieces make {count:,} regions before anything is split (at most {MOST_INITIAL_REGIONS:,})",
            code="series-axis",
        )
    return Regions.of(itertools.product(*(axis.pieces for axis in axes)))


# Numbers and dates


def _measure(name: str, builder: Builder | None, given: Domain, *, missing: bool) -> Axis:
    """The axis of numbers or dates."""
    if isinstance(builder, Dates):
        return _days(name, builder, given, missing=missing)
    if "digits" in given:
        return _codes(name, given, missing=missing)
    if isinstance(builder, Intervals):
        given = _with_intervals(builder, given)
    if "pieces" not in given and not {"lower", "upper"} <= given.keys():
        raise InputError(f"regions: {name}: {_needed(builder)}", code="series-axis")
    _refuse_others(name, given, ("lower", "upper", "pieces", "step", "decimal"))
    if _is_date(given):
        return _days(name, Dates(), given, missing=missing)
    return NumberAxis(
        name,
        missing,
        spans=_spans(name, given),
        step=exact_number(given.get("step", 1), option=f"regions: {name}: step"),
        decimal=choice(given.get("decimal", "."), (".", ","), option=f"regions: {name}: decimal"),
        thousands=builder.thousands if isinstance(builder, Intervals) else "",
    )


def _needed(builder: Builder | None) -> str:
    if builder is None:
        return (
            "the domain is not known; give lower and upper (numbers), digits (codes such as postal codes) or values "
            "(categories), as in {lower: 0, upper: 120}"
        )
    return (
        f"the hierarchy {builder.name} does not define which values are possible; give digits (codes such as postal "
        "codes), lower and upper, or values, as in {digits: 5}"
    )


def _with_intervals(builder: Intervals, given: Domain) -> Domain:
    """The settings of this quasi-identifier, completed by the plan's intervals."""
    bounds = [edge for level in builder.levels or () if isinstance(level, Bounds) for edge in level.bounds]
    ends: dict[str, object] = {"lower": builder.lower, "upper": builder.upper}
    if bounds:
        ends = {"lower": min(bounds), "upper": max(bounds)}
    if "pieces" in given:
        ends = {}
    step = 1 if builder.integer else _smallest_width(builder)
    return {**ends, "step": step, "decimal": builder.decimal, **given}


def _smallest_width(builder: Intervals) -> object:
    if builder.widths is not None:
        return builder.widths[0]
    first = (builder.levels or ())[0]
    assert isinstance(first, Bounds)
    edges = [exact_number(edge, option="intervals") for edge in first.bounds]
    return min(upper - lower for lower, upper in itertools.pairwise(edges))


def _codes(name: str, given: Domain, *, missing: bool) -> NumberAxis:
    _refuse_others(name, given, ("digits", "step", "pieces"))
    digits = whole_number(given["digits"], option=f"regions: {name}: digits", least=1)
    if digits > MOST_CODE_DIGITS:
        raise InputError(f"regions: {name}: digits must be at most {MOST_CODE_DIGITS}", code="series-axis")
    spans = _spans(name, given) if "pieces" in given else ((0, 10**digits),)
    step = exact_number(given.get("step", 1), option=f"regions: {name}: step")
    return NumberAxis(name, missing, spans=spans, step=step, digits=digits)


def _days(name: str, builder: Dates, given: Domain, *, missing: bool) -> DateAxis:
    if "pieces" not in given and not {"lower", "upper"} <= given.keys():
        raise InputError(
            f"regions: {name}: give lower and upper, the first day and the day after the last, as in "
            "{lower: 2020-01-01, upper: 2030-01-01, step: month}",
            code="series-axis",
        )
    _refuse_others(name, given, ("lower", "upper", "pieces", "step"))
    pieces = _pieces(name, given)
    spans = tuple((_day(name, lower), _day(name, upper)) for lower, upper in pieces)
    return DateAxis(name, missing, spans=spans, step=str(given.get("step", "month")), builder=builder)


def _spans(name: str, given: Domain) -> tuple[tuple[Exact, Exact], ...]:
    option = f"regions: {name}: lower, upper and pieces"
    pieces = _pieces(name, given)
    return tuple((exact_number(lower, option=option), exact_number(upper, option=option)) for lower, upper in pieces)


def _pieces(name: str, given: Domain) -> list[tuple[object, object]]:
    if "pieces" not in given:
        return [(given["lower"], given["upper"])]
    if given.keys() & {"lower", "upper"}:
        raise InputError(f"regions: {name}: give either lower and upper, or pieces", code="series-axis")
    pieces = listed(given["pieces"], option=f"regions: {name}: pieces")
    for piece in pieces:
        if not isinstance(piece, list | tuple) or len(piece) != 2:
            raise InputError(f"regions: {name}: pieces are written as [[16, 22], [50, 80]]", code="series-axis")
    return [(piece[0], piece[1]) for piece in pieces if isinstance(piece, list | tuple)]


def _is_date(given: Domain) -> bool:
    """Whether the domain is given in dates, for a column without a hierarchy."""
    ends = [given.get("lower"), *(entry for piece in given.get("pieces", ()) for entry in piece)]
    return any(isinstance(end, date) or (isinstance(end, str) and end[4:5] == "-") for end in ends)


def _day(name: str, given: object) -> date:
    try:
        return date.fromisoformat(str(given))
    except ValueError:
        raise InputError(
            f"regions: {name}: lower, upper and pieces are dates such as 2026-01-01", code="series-axis"
        ) from None


# Categories


def _categories(name: str, attribute: Attribute, given: Domain, *, missing: bool) -> CategoryAxis:
    _refuse_others(name, given, ("values",))
    hierarchy = _hierarchy(name, attribute.hierarchy, given)
    finest = attribute.minimum_level
    if finest > hierarchy.top:
        raise InputError(
            f"column {name!r}: minimum_level is {finest}, but the hierarchy ends with level {hierarchy.top}",
            code="minimum-level-beyond",
        )
    return CategoryAxis(name, missing, hierarchy=hierarchy, finest=finest)


def _hierarchy(name: str, builder: Builder | None, given: Domain) -> Hierarchy:
    values: Sequence[str] = ()
    if "values" in given:
        values = distinct_labels(given["values"], option=f"regions: {name}: values")
    if builder is not None and builder.independent:
        if values:
            raise InputError(
                f"regions: {name}: leave values out, because the plan's hierarchy lists them", code="series-axis"
            )
        columns = builder.label((), attribute=name).columns
        known = columns.filter(columns.to_series(0) != "")  # a file may have a line for missing values
        return Hierarchy.from_columns(known, attribute=name)
    if not values:
        raise InputError(
            f"regions: {name}: the plan does not list the values of this column; list them: {{values: [...]}}",
            code="series-axis",
        )
    hierarchy = (builder or Ordering(values=values)).build(list(values), attribute=name)
    if strangers := len(values) - len(hierarchy.values):
        raise InputError(
            f"regions: {name}: the plan's hierarchy does not contain {strangers} of the values",
            code="series-axis",
        )
    return hierarchy


def _refuse_others(name: str, given: Domain, known: Sequence[str]) -> None:
    for key in given:
        if key not in known:
            raise InputError(
                f"regions: {name}: {key} is not supported here; use {', '.join(known)}", code="series-axis"
            )
