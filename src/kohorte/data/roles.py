"""What an attribute means for privacy."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """The part that an attribute plays in telling who a record is about."""

    IDENTIFYING = "identifying"  # names the person by itself: removed from every release
    QUASI_IDENTIFYING = "quasi-identifying"  # tells the person together with others: generalized
    SENSITIVE = "sensitive"  # what must not be learned about a person: kept, and protected by models
    INSENSITIVE = "insensitive"  # kept as it is
