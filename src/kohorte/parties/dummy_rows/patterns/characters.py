"""Codes that are masked character by character: at each place, digits are exchanged for digits, letters for letters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from string import ascii_lowercase, ascii_uppercase, digits

from kohorte.hierarchies import SUPPRESSED, Redaction
from kohorte.parties.dummy_rows.patterns.drawing import paired
from kohorte.parties.own_table import LabelledColumn, labels_of


@dataclass(frozen=True)
class CharacterPattern:
    """Each place has its own pairs of characters, so that labels that show the same places are exchanged alike.

    Places are counted from the side that is masked last. Mask and padding stay, and so do all other signs.
    """

    builder: Redaction

    longest = 0  # a partner is as long as its label

    def images(self, column: LabelledColumn, key: bytes) -> list[tuple[str | None, ...]]:
        """The labels of the partner of each value."""
        stay = {self.builder.mask, self.builder.padding}

        @cache
        def at(place: int) -> dict[str, str]:
            kinds = [[sign for sign in kind if sign not in stay] for kind in (digits, ascii_lowercase, ascii_uppercase)]
            return {one: other for kind in kinds for one, other in paired(kind, key, str(place)).items()}

        def image(text: str | None) -> str | None:
            if text is None or text == SUPPRESSED:
                return text
            places = range(len(text)) if self.builder.order == "right_to_left" else range(len(text) - 1, -1, -1)
            return "".join(at(place).get(sign, sign) for place, sign in zip(places, text, strict=True))

        return [tuple(map(image, labels)) for labels in labels_of(column)]
