"""Bodies that say how the result of a way back is handed over: to whom it is sealed, and in place of which column."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import ConfigDict, Field, StringConstraints

from kohorte.envelopes.keys import PublicKey, public_of
from kohorte.errors import InputError
from kohorte.service.trust.way_back import Handing
from kohorte.service.web.models.requests import Body
from kohorte.trust.way_back import MOST_ITEMS

MOST_COLUMNS = 100
KEY = "kohorte envelope public key 1\n<64 hexadecimal digits>\n<32 hexadecimal digits>\n"
PublicKeyText = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Cell = Annotated[str, StringConstraints(max_length=100_000)]
Rows = Annotated[
    list[Annotated[dict[Name, Cell], Field(max_length=MOST_COLUMNS)]],
    Field(fail_fast=True, min_length=1, max_length=MOST_ITEMS),
]


def recipient_of(text: str | None) -> PublicKey | None:
    """The key in the text of a .pub file."""
    return None if text is None else public_of(text, "recipient")


class HandingOver(Body):
    """How a result is handed over; without anything it is answered as it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"recipient": KEY, "column": "psn", "rows": [{"psn": "7K3MX9RT", "sealed": "a sealed text"}]}]
        }
    )
    recipient: PublicKeyText | None = Field(
        default=None, description="The content of a .pub file: the result is sealed for this key."
    )
    rows: Rows | None = Field(
        default=None,
        repr=False,
        description="A table, such as sealed findings; what was found replaces a column of it.",
    )
    column: Name | None = Field(default=None, description="The column of the rows that has the pseudonyms or PIDs.")

    def handing(self, consent: str | None = None) -> Handing:
        """Return it as the way back needs it."""
        if (self.rows is None) != (self.column is None) or (self.rows is not None and self.recipient is None):
            raise InputError(
                "rows, column and recipient belong together: a table is handed over sealed", code="way-back-table"
            )
        return Handing(recipient_of(self.recipient), self._table(), self.column or "", consent)

    def _table(self) -> pl.DataFrame | None:
        if self.rows is None:
            return None
        columns = list(self.rows[0])
        if self.column not in columns or any(row.keys() != self.rows[0].keys() for row in self.rows):
            raise InputError(
                "rows: each has the same columns, and one of them is the column of the pseudonyms or PIDs",
                code="way-back-table",
            )
        return pl.DataFrame(self.rows, schema=dict.fromkeys(columns, pl.String))


class PeopleHandingOver(HandingOver):
    """How people are handed over, and to which purpose they must have agreed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "recipient": KEY,
                    "column": "pid",
                    "rows": [{"pid": "A1C2D3E4", "sealed": "a sealed text"}],
                    "consent": "report-back",
                }
            ]
        }
    )
    consent: Annotated[str, StringConstraints(min_length=1, max_length=63)] | None = Field(
        default=None, description="Only people who agreed to this purpose; all others are as unknown ones."
    )
