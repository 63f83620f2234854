"""The medical columns of a table, sealed row by row into one column of text.

A service that turns PIDs into pseudonyms gets rows of a PID and a sealed text. It can filter and shuffle them, and read
nothing. All rows of a table share a head, which each row carries, so that every row can be opened by itself.

Guarantee
    Only the recipient can read the cells. A text that was changed is noticed, and so is a row that occurs twice; the
    number of rows that are missing is known. With a known sender, also a row that somebody else made is noticed.
Leaves open
    The length of a row, in steps of 128 bytes, and which rows were sealed together. **The service in between decides
    which pseudonym stands beside which text**: it is trusted not to mix them up, as it is trusted with the PIDs.
"""

from __future__ import annotations

import json
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

import polars as pl
from nacl import bindings, exceptions

from kohorte.data import as_text
from kohorte.data.columns import quoted
from kohorte.envelopes.heads import Head, damaged, opened_head, sealed_head
from kohorte.envelopes.keys import PrivateKey, PublicKey
from kohorte.errors import InputError, KohorteError

SEALED = "sealed"
"""The name of the column."""
BEGIN = "kse1"
STEP = 128
_NONCE = bindings.crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
_CELL = re.compile(rf"{BEGIN}\.([A-Za-z0-9_-]+=*)\.([A-Za-z0-9_-]+=*)")


class RowSealer:
    """Seals the rows of one table, batch by batch; `rows` is how many there will be."""

    def __init__(self, columns: Sequence[str], rows: int, recipient: PublicKey, sender: PrivateKey | None) -> None:
        facts = json.dumps({"columns": list(columns), "rows": rows}).encode()
        self._columns, self.done = list(columns), 0
        self._head = sealed_head(recipient, sender, facts)
        self._begin = f"{BEGIN}.{urlsafe_b64encode(self._head.box).decode()}."

    def seal(self, frame: pl.DataFrame) -> pl.Series:
        """The sealed column of the next rows."""
        cells = [as_text(frame[name]).to_list() for name in self._columns]
        texts = [
            self._sealed(number, values) for number, values in enumerate(zip(*cells, strict=True), start=self.done + 1)
        ]
        self.done += frame.height
        return pl.Series(SEALED, texts, dtype=pl.String)

    def _sealed(self, number: int, values: Sequence[str | None]) -> str:
        content = bindings.sodium_pad(json.dumps([number, *values], ensure_ascii=False).encode(), STEP)
        nonce = secrets.token_bytes(_NONCE)
        sealed = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(content, self._head.box, nonce, self._head.key)
        return self._begin + urlsafe_b64encode(nonce + sealed).decode()


class RowOpener:
    """Opens sealed columns, batch by batch; rows of several senders may be mixed if their columns are the same."""

    def __init__(self, recipient: PrivateKey, senders: Sequence[PublicKey] = ()) -> None:
        self._recipient, self._senders = recipient, senders
        self._tables: dict[str, _Table] = {}
        self.rows = 0

    @property
    def missing(self) -> int:
        """How many rows of the sealed tables have not come."""
        return sum(table.missing for table in self._tables.values())

    @property
    def senders(self) -> set[PublicKey | None]:
        """Who sealed."""
        return {table.head.sender for table in self._tables.values()}

    def open(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with the columns in place of the sealed one."""
        if SEALED not in frame.columns:
            raise InputError(
                f"the table has no column {SEALED!r}; it has {quoted(frame.columns)}", code="envelope-table"
            )
        opened: list[list[str | None]] = []
        for text in as_text(frame[SEALED]).to_list():
            self.rows += 1
            try:
                opened.append(self._opened(text or ""))
            except KohorteError as error:
                raise type(error)(f"row {self.rows}: {error.message}", code=error.code) from None
        columns = next(iter(self._tables.values())).columns if self._tables else []
        taken = [name for name in columns if name in frame.columns and name != SEALED]
        if taken:
            raise InputError(
                f"the table has columns that are also in the envelope: {quoted(taken)}", code="envelope-columns"
            )
        plain = [
            pl.Series(name, values, dtype=pl.String)
            for name, values in zip(columns, zip(*opened, strict=True) if opened else [()] * len(columns), strict=True)
        ]
        return frame.drop(SEALED).with_columns(plain)

    def _opened(self, text: str) -> list[str | None]:
        parts = _CELL.fullmatch(text)
        if parts is None:
            raise damaged()
        table = self._table(parts[1])
        content = _decoded(parts[2])
        nonce, sealed = content[:_NONCE], content[_NONCE:]
        head = table.head
        try:
            padded = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, head.box, nonce, head.key)
            number: object
            values: list[str | None]
            number, *values = json.loads(bindings.sodium_unpad(padded, STEP))
        except (exceptions.CryptoError, exceptions.ValueError, ValueError, TypeError, RecursionError):
            raise damaged() from None
        if not all(value is None or isinstance(value, str) for value in values):
            raise damaged()
        table.note(number, len(values))
        return values

    def _table(self, box: str) -> _Table:
        table = self._tables.get(box)
        if table is None:
            table = _Table(opened_head(_decoded(box), self._recipient, self._senders))
            first = next(iter(self._tables.values()), table)
            if table.columns != first.columns:
                raise InputError(
                    "rows of tables with different columns are mixed; open each table by itself",
                    code="envelope-columns",
                )
            self._tables[box] = table
        return table


class _Table:
    """One table that was sealed, and which of its rows have come."""

    def __init__(self, head: Head) -> None:
        self.head = head
        self._come: set[int] = set()
        try:
            facts: dict[str, Any] = json.loads(head.facts)
            self.columns, self._rows = list(facts["columns"]), int(facts["rows"])
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise damaged() from None
        named = all(isinstance(name, str) and name for name in self.columns)
        if not self.columns or not named or len(set(self.columns)) < len(self.columns):
            raise damaged()

    @property
    def missing(self) -> int:
        return self._rows - len(self._come)

    def note(self, number: object, values: int) -> None:
        if not isinstance(number, int) or not 1 <= number <= self._rows or values != len(self.columns):
            raise damaged()
        if number in self._come:
            raise InputError("this row of the sealed table has come before", code="envelope-row-twice")
        self._come.add(number)


def _decoded(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text)
    except ValueError:
        raise damaged() from None
