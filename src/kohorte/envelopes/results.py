"""What a way back found, and how it is handed over: as a table, or sealed for the key that those who approved saw.

A finding that matters to a patient goes back as it came: its text is sealed for the treating physician, the pseudonym
service puts the PID in place of the pseudonym, and the patient list the name in place of the PID. Neither reads the
finding, and the person who found it does not learn the name.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TextIO

import polars as pl

from kohorte.data import as_text, write_csv
from kohorte.envelopes.files import sealed_bytes
from kohorte.envelopes.keys import PublicKey
from kohorte.errors import AccessDenied, InputError

PSEUDONYM, ORIGINAL, PID = "pseudonym", "original", "pid"
BRACKETS = ("Ps", "Pe")
ALLOWED = "(){}\u201a\u201e"
"""Parentheses, braces and the German quotation marks, which Unicode counts as brackets."""
_ONLY_FOR = re.compile(r"\[only for the key ([0-9a-f]+)\]$")


def purpose_for(purpose: str, recipient: PublicKey | None) -> str:
    """A purpose that also says, in square brackets, to whom alone the result goes, if there is such a recipient.

    Those who approve trust what the brackets say. Therefore nobody can type any, or something that looks like them.
    """
    if any(unicodedata.category(one) in BRACKETS and one not in ALLOWED for one in purpose):
        raise InputError(
            "a purpose has no square brackets or other unusual ones: those who approve read in them for which key "
            "alone the result is; give this key as the recipient",
            code="way-back-purpose",
        )
    return purpose if recipient is None else f"{purpose} [only for the key {recipient.fingerprint}]"


def refuse_other_recipient(purpose: str, recipient: PublicKey | None) -> None:
    """Refuse to hand a result over to anybody but the recipient whom those who approved were told of."""
    promised = _ONLY_FOR.search(purpose)
    if promised is not None and (recipient is None or recipient.fingerprint != promised[1]):
        raise AccessDenied(
            f"the result is only for the key {promised[1]}; give this key as the recipient, or ask again",
            code="way-back-recipient",
        )


@dataclass(frozen=True)
class Result:
    """The result of a request: for each pseudonym what it stands for, or None."""

    names: tuple[str, ...]
    found: dict[str, tuple[str, ...] | None] = field(repr=False)
    key: str
    where: str

    @property
    def asked(self) -> int:
        """How many pseudonyms were asked for."""
        return len(self.found)

    @property
    def unknown(self) -> int:
        """How many are unknown."""
        return sum(values is None for values in self.found.values())

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        nothing = ("",) * len(self.names)
        return [(asked, *(nothing if values is None else values)) for asked, values in self.found.items()]

    def to_dicts(self) -> list[dict[str, str | None]]:
        """Return the result as plain data."""
        nothing = (None,) * len(self.names)
        return [
            dict(zip((self.key, *self.names), (asked, *(nothing if values is None else values)), strict=True))
            for asked, values in self.found.items()
        ]

    def print_to(self, file: TextIO) -> None:
        """Write the result as CSV."""
        _write_rows(file, (self.key, *self.names), self._rows)

    def content(self, table: pl.DataFrame | None, column: str) -> bytes:
        """The result as a CSV file, by itself or in place of a column of a table."""
        return self._text() if table is None else self._beside(table, column)

    def sealed(self, table: pl.DataFrame | None, column: str, recipient: PublicKey) -> bytes:
        """The same in an envelope, never on disk in plain."""
        return sealed_bytes(self.content(table, column), recipient)

    @property
    def _added(self) -> tuple[str, ...]:
        """The columns that a table gets."""
        return (PID,) if self.names == (ORIGINAL,) else self.names

    def refuse_taken(self, table: pl.DataFrame, column: str) -> None:
        """Refuse a table that has a column which the result would add."""
        taken = [name for name in self._added if name in table.columns and name != column]
        if taken:
            raise InputError(f"the table has columns {', '.join(taken)} already", code="way-back-table")

    def _text(self) -> bytes:
        file = io.StringIO(newline="")
        self.print_to(file)
        return file.getvalue().encode()

    def _beside(self, table: pl.DataFrame, column: str) -> bytes:
        """A table with what was found in place of a column; rows of others, and of unknown ones, are left out."""
        values = [self.found.get(text or "") for text in as_text(table[column])]
        kept = table.filter(pl.Series([one is not None for one in values], dtype=pl.Boolean)).drop(column)
        known = [one for one in values if one is not None]
        added = [
            pl.Series(name, [one[place] for one in known], dtype=pl.String) for place, name in enumerate(self._added)
        ]
        file = io.BytesIO()
        write_csv(pl.DataFrame([*added, *kept.get_columns()]), file)
        return file.getvalue()


def _write_rows(file: TextIO, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
