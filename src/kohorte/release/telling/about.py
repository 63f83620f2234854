"""What a release is for: data set, purpose and recipient, as the person who makes it states them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kohorte.errors import InputError

LONGEST = 500


@dataclass(frozen=True)
class About:
    """The name of the data set, the purpose and the recipient; each may be missing."""

    title: str | None = None
    purpose: str | None = None
    recipient: str | None = None

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if value is None:
                continue
            if not isinstance(value, str) or not value.strip() or len(value) > LONGEST or not value.isprintable():
                raise InputError(
                    f"{option.name}: is one line of text with at most {LONGEST} characters", code="about-text"
                )

    def to_dict(self) -> dict[str, object]:
        """What was stated."""
        return {name: value for name, value in vars(self).items() if value is not None}
