"""What a certificate says about people, where people were counted."""

from __future__ import annotations

from collections.abc import Mapping

COUNTED_IN_PEOPLE = (
    "The models count people, not rows: where the following sentences say rows of a class, at least so many different "
    "people are in it, and a person counts once for each sensitive value."
)
ONE_ROW = (
    "A person who knows more than one row of somebody (attacker_knows: one_row): all classes of that person's rows "
    "together can be unique although each has enough people."
)


def people_in_words(verification: Mapping[str, object]) -> list[str]:
    """How many people the release is about, if people were counted."""
    if verification["people"] is None:
        return []
    return [
        f"People      {verification['people']:,}, of whom {verification['people_losing_rows']:,} lose rows, "
        f"{verification['people_losing_all_rows']:,} of them all their rows"
    ]
