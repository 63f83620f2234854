"""Where a table of frequencies comes from: its source, licence, date and the people whom it is about."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from kohorte.errors import InputError, nearest

KINDS = (
    "disease",
    "medication",
    "occupation",
    "region",
    "visible-mark",
    "way-of-life",
    "blood-group",
    "age",
    "sex",
    "country",
)
"""What the values of a table are."""

LONGEST_LINE = 500
LINE = f"is one line of text with at most {LONGEST_LINE} characters"
ROUGH = "small set"
"""How the precision of figures begins that show how a check works, and are no basis for a decision."""
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


@dataclass(frozen=True)
class Origin:
    """What is known about a table: its name and kind, who published it and when, and whom the figures are about.

    `date` is the day to which the figures refer, not the day of the import. `reference` describes the reference
    population, `population` is its size; a table of counts needs it, unless it states the whole in each row.
    `precision` says how the figures are rounded, and what of them is an estimate.
    """

    name: str
    kind: str
    source: str
    licence: str
    date: str
    reference: str
    population: int | None = None
    precision: str | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise _wrong("name", "has at most 64 small letters, digits and hyphens, such as diseases-at")
        if self.kind not in KINDS:
            raise _wrong("kind", f"is one of {', '.join(KINDS)}{nearest(self.kind, KINDS)}")
        for field in ("source", "licence", "reference"):
            if not is_line(getattr(self, field)):
                raise _wrong(field, LINE)
        if self.precision is not None and not is_line(self.precision):
            raise _wrong("precision", LINE)
        try:
            dt.date.fromisoformat(self.date)
        except (TypeError, ValueError):
            raise _wrong("date", "is the day to which the figures refer, such as 2024-12-31") from None
        if self.population is not None and (type(self.population) is not int or self.population < 1):
            raise _wrong("population", "is a whole number of people, at least 1")

    @property
    def is_rough(self) -> bool:
        """Whether the figures are a small set, partly of other countries or estimates, not to decide by."""
        return self.precision is not None and self.precision.startswith(ROUGH)

    def age_in_years(self, today: dt.date) -> float:
        """How old the figures are."""
        return (today - dt.date.fromisoformat(self.date)).days / 365.25

    def to_dict(self) -> dict[str, Any]:
        """The origin as plain data."""
        return dict(vars(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read an origin from plain data."""
        return cls(**{name: data.get(name) for name in cls.__dataclass_fields__})  # type: ignore[arg-type]


def is_line(text: object) -> bool:
    """Whether something is one line of text that is not too long."""
    return isinstance(text, str) and bool(text.strip()) and len(text) <= LONGEST_LINE and text.isprintable()


def _wrong(field: str, rule: str) -> InputError:
    return InputError(f"statistics: {field} {rule}", code="exchange-statistics-origin", field=field)
