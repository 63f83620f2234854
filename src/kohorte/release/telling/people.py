"""What a certificate says about people, where people were counted: everybody may read it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kohorte.in_words import FEW, PEOPLE, Unit, roughly

FEW_TOLD = ("people_losing_rows", "people_losing_all_rows")
"""Numbers of people that a reader of the release cannot count, and must not learn exactly."""
LEAST = 5
"""No group of fewer rows is named or, for the public, counted; a plan with a larger k raises it to k."""
STEPS = (1, 2, 5, 10, 20)
"""The steps of public shares, in percent; the smallest that has enough rows, or people, is taken."""
AS_ROWS, NOT_TOLD = "nearly as many as rows", "not told"


def in_public(number: int) -> str:
    """A number of people for everybody, without telling how few they are."""
    return "none" if number == 0 else roughly(number)


def public_people(people: int, *, rows: int, classes: int) -> str:
    """How many people a table is about, so that nobody computes how few of them lost all their rows.

    Rows, suppressed ones too, and classes can be counted in a release. If nearly every row is another person, the
    suppressed rows would be those people; if there is one class, its size would be the number of those who are left.
    """
    if classes == 1:
        return NOT_TOLD
    return AS_ROWS if rows - people < FEW else roughly(people)


def share_step(of: int, least: int) -> int | None:
    """The step of public shares, in percent, so that one step has at least so many; None if there are too few."""
    return next((step for step in STEPS if step * of >= 100 * least), None)


def nearest_step(share: float, step: int) -> int:
    """The nearest step, but neither 0 nor 100 %."""
    return min(max(step, step * math.floor(100 * share / step + 0.5)), 100 - step)


def public_parameter(reached: float, *, of: int, least: int, unit: Unit) -> str:
    """A parameter of a model that a table reaches; exactly it would tell how many people are in the classes."""
    if float(reached).is_integer():
        return f"{reached:.6g}"
    if not 0 < reached < 1:
        return f"about {reached:.2g}"
    step = share_step(of, least)
    if step is None:
        return f"a figure that is not told of so few {unit.many}"
    return f"below {step / 100:g}" if 100 * reached < step else f"about {nearest_step(reached, step) / 100:g}"


def public_figures(verification: Mapping[str, Any], *, least: int) -> dict[str, object]:
    """The figures of a verification as a certificate states them: what only people tell, roughly and in words.

    `least` is the smallest class that the plan allows.
    """
    people = verification["people"]
    if people is None:
        return dict(verification)
    told: dict[str, object] = {
        name: in_public(verification[name]) for name in FEW_TOLD if verification[name] is not None
    }
    told["people"] = public_people(people, rows=verification["rows"], classes=verification["classes"])
    told["models"] = [_rounded(model, people, max(least, LEAST)) for model in verification["models"]]
    return {**verification, **told}


def _rounded(model: Mapping[str, Any], of: int, least: int) -> dict[str, Any]:
    """A verdict on a model, with what is reached in words, unless it is a whole number or nothing."""
    ends = model["reached"] if isinstance(model["reached"], tuple) else (model["reached"],)
    if all(end is None or float(end).is_integer() for end in ends):
        return dict(model)
    said = [public_parameter(end, of=of, least=least, unit=PEOPLE) for end in ends]
    return {**model, "reached": " to ".join(said)}


def people_in_words(verification: Mapping[str, object]) -> list[str]:
    """How many people the release is about, if people were counted."""
    if verification["people"] is None:
        return []
    return [
        f"People      {verification['people']}, of whom {verification['people_losing_rows']} lose rows, "
        f"{verification['people_losing_all_rows']} of them all their rows"
    ]
