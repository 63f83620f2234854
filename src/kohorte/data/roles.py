"""Attribute roles."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """How a plan treats an attribute."""

    IDENTIFYING = "identifying"  # identifies the person by itself: removed from every release
    QUASI_IDENTIFYING = "quasi-identifying"  # identifies the person together with others: generalized
    SENSITIVE = "sensitive"  # nobody shall learn it about a person: kept, and protected by models
    INSENSITIVE = "insensitive"  # kept as it is
