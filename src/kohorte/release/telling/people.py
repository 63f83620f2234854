"""What a certificate says about people, where people were counted: everybody may read it."""

from __future__ import annotations

from collections.abc import Mapping

from kohorte.in_words import roughly

FEW_TOLD = ("people_losing_rows", "people_losing_all_rows")
"""Numbers of people that a reader of the release cannot count, and must not learn exactly."""


def in_public(number: int) -> str:
    """A number of people for everybody, without telling how few they are."""
    return "none" if number == 0 else roughly(number)


def public_figures(verification: Mapping[str, object]) -> dict[str, object]:
    """The figures of a verification as a certificate states them; of people who lose rows, roughly and in words."""
    told = {name: in_public(some) for name in FEW_TOLD if isinstance(some := verification[name], int)}
    return {**verification, **told}


def people_in_words(verification: Mapping[str, object]) -> list[str]:
    """How many people the release is about, if people were counted."""
    if verification["people"] is None:
        return []
    return [
        f"People      {verification['people']:,}, of whom {verification['people_losing_rows']} lose rows, "
        f"{verification['people_losing_all_rows']} of them all their rows"
    ]
