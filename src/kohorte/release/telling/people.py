"""What a certificate says about people, where people were counted."""

from __future__ import annotations

from collections.abc import Mapping


def people_in_words(verification: Mapping[str, object]) -> list[str]:
    """How many people the release is about, if people were counted."""
    if verification["people"] is None:
        return []
    return [
        f"People      {verification['people']:,}, of whom {verification['people_losing_rows']:,} lose rows, "
        f"{verification['people_losing_all_rows']:,} of them all their rows"
    ]
