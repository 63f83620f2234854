"""The rows of a table that is registered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from kohorte.data import as_text
from kohorte.patients.identity import FIELDS, Identity
from kohorte.patients.linkage.dates import birth_date
from kohorte.patients.linkage.record import Record


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its number, the identity data, and its normal form."""

    number: int
    identity: Identity
    record: Record

    @property
    def date_not_understood(self) -> bool:
        """Whether there is a birth date that cannot be read."""
        text = self.identity.birth_date
        return bool(text.strip()) and birth_date(text) is None


def rows_of(table: pl.DataFrame, columns: Mapping[str, str]) -> list[Row]:
    """The rows of a table, numbered from 1; `columns` names the column of each field."""
    nothing = [""] * table.height
    fields = [
        as_text(table[columns[field]]).fill_null("").to_list() if field in columns else nothing for field in FIELDS
    ]
    identities = (Identity(*values) for values in zip(*fields, strict=True))
    return [Row(number, identity, Record.of(identity)) for number, identity in enumerate(identities, start=1)]
