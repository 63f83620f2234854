"""Seal and open the medical columns of a table, batch by batch; the output appears whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from kohorte.data import atomic_write, refuse_format, refuse_same_file
from kohorte.data.columns import quoted
from kohorte.envelopes.keys import PrivateKey, PublicKey
from kohorte.envelopes.rows import SEALED, RowOpener, RowSealer
from kohorte.errors import InputError, nearest
from kohorte.sources.batches import TableBatches, fill_table_in_batches


@dataclass
class Outcome:
    """What was done, in numbers; never a value."""

    rows: int = 0
    columns: int = 0
    missing: int = 0
    senders: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {"rows": self.rows, "columns": self.columns, "missing": self.missing, "senders": self.senders}


def seal_table(
    table: TableBatches,
    output: Path,
    keep: Sequence[str],
    recipient: PublicKey,
    *,
    sender: PrivateKey | None = None,
    force: bool = False,
) -> Outcome:
    """Write the kept columns in plain and all others in one sealed column. The table is read twice."""
    refuse_format(output)
    _refuse_same(table, output)
    outcome = Outcome(rows=sum(batch.frame.height for batch in table))
    first = next(iter(table))
    names = _sealed_names(first.frame.columns, keep)
    outcome.columns = len(names)
    sealer = RowSealer(names, outcome.rows, recipient, sender)
    frames = (batch.frame.select(keep).with_columns(sealer.seal(batch.frame)) for batch in table)
    with atomic_write(output, force=force, private=True) as temporary:
        fill_table_in_batches(frames, temporary, output, separator=_separator(output, first.separator))
        if sealer.done != outcome.rows:
            raise InputError("the table was changed while it was read; seal it again", code="envelope-table")
    return outcome


def open_table(
    table: TableBatches,
    output: Path,
    recipient: PrivateKey,
    *,
    senders: Sequence[PublicKey] = (),
    complete: bool = False,
    force: bool = False,
) -> Outcome:
    """Write the table with the columns that were sealed; with `complete`, no row may be missing."""
    refuse_format(output)
    _refuse_same(table, output)
    opener = RowOpener(recipient, senders)
    separator = next(iter(table)).separator
    outcome = Outcome()

    def frames() -> Iterator[pl.DataFrame]:
        for batch in table:
            opened = opener.open(batch.frame)
            outcome.columns = opened.width - batch.frame.width + 1
            yield opened

    with atomic_write(output, force=force, private=True) as temporary:
        fill_table_in_batches(frames(), temporary, output, separator=_separator(output, separator))
        if complete and not opener.rows:
            raise InputError(
                "no row came, so that nobody can tell how many were sealed, and --complete was given; nothing was "
                "written",
                code="envelope-rows-missing",
            )
        if complete and opener.missing:
            raise InputError(
                f"{opener.missing} rows of the sealed table are missing, and --complete was given; nothing was written",
                code="envelope-rows-missing",
            )
    outcome.rows, outcome.missing = opener.rows, opener.missing
    outcome.senders = sorted("nobody" if one is None else one.fingerprint for one in opener.senders)
    return outcome


def _sealed_names(columns: Sequence[str], keep: Sequence[str]) -> list[str]:
    for name in keep:
        if name not in columns:
            raise InputError(
                f"the table has no column {name!r}{nearest(name, columns)}; it has {quoted(columns)}",
                code="envelope-columns",
            )
    if SEALED in keep or len(set(keep)) < len(keep):
        raise InputError(f"--keep: names a column twice, or {SEALED!r}", code="envelope-columns")
    names = [name for name in columns if name not in keep]
    if not names:
        raise InputError("--keep: leaves no column to seal", code="envelope-columns")
    return names


def _separator(output: Path, read: str | None) -> str:
    return "\t" if output.suffix.lower() == ".tsv" else read or ","


def _refuse_same(table: TableBatches, output: Path) -> None:
    if table.content is None:
        refuse_same_file(table.path, output)
