"""What a kind returns: pseudonyms with the versions of the key, or the text that has none."""

from __future__ import annotations

from dataclasses import dataclass, field

from kohorte.errors import InputError


@dataclass(frozen=True)
class Made:
    """The pseudonyms of some texts, in the same order; its repr shows none."""

    pseudonyms: list[str] = field(repr=False)
    versions: list[int] = field(repr=False)
    """The version of the key that each was made with."""
    new: int = 0
    """How many entries a list got."""


class TextError(InputError):
    """A text of a batch that can have no pseudonym; `place` is its index in the batch."""

    def __init__(self, message: str, *, code: str, place: int) -> None:
        super().__init__(message, code=code)
        self.place = place
