"""What `kohorte reidentify` finds, and how it is handed over: shown, written, or sealed for a recipient.

A finding that matters to a patient goes back as it came: its text is sealed for the treating physician, the pseudonym
service puts the PID in place of the pseudonym, and the patient list the name in place of the PID. Neither reads the
finding, and the person who found it does not learn the name.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TextIO

from kohorte.errors import AccessDenied, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from kohorte.envelopes.keys import PublicKey
    from kohorte.trust.folder import TrustFolder

PATIENTS = "patients"
"""The source of a request for people of the patient list."""
_ONLY_FOR = re.compile(r"\[only for the key ([0-9a-f]{16})\]$")
PSEUDONYM, ORIGINAL, PID = "pseudonym", "original", "pid"


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

    def print(self) -> None:
        """Print the result."""
        _write_rows(sys.stdout, (self.key, *self.names), self._rows)

    def text(self) -> bytes:
        """The result as a CSV file."""
        file = io.StringIO(newline="")
        _write_rows(file, (self.key, *self.names), self._rows)
        return file.getvalue().encode()

    @property
    def _added(self) -> tuple[str, ...]:
        """The columns that a table gets."""
        return (PID,) if self.names == (ORIGINAL,) else self.names

    def refuse_taken(self, table: pl.DataFrame, column: str) -> None:
        """Refuse a table that has a column which the result would add."""
        taken = [name for name in self._added if name in table.columns and name != column]
        if taken:
            raise InputError(f"--with: the table has columns {', '.join(taken)} already", code="way-back-table")

    def beside(self, table: pl.DataFrame, column: str) -> bytes:
        """A table with what was found in place of a column; rows of others, and of unknown ones, are left out."""
        import polars as pl

        from kohorte.data import as_text, write_csv

        values = [self.found.get(text or "") for text in as_text(table[column])]
        kept = table.filter(pl.Series([one is not None for one in values], dtype=pl.Boolean)).drop(column)
        known = [one for one in values if one is not None]
        names = self._added
        added = [pl.Series(name, [one[place] for one in known], dtype=pl.String) for place, name in enumerate(names)]
        file = io.BytesIO()
        write_csv(pl.DataFrame([*added, *kept.get_columns()]), file)
        return file.getvalue()


@dataclass(frozen=True)
class ResultOptions:
    """How the result is handed over."""

    folder: TrustFolder
    table: pl.DataFrame | None = field(repr=False)
    column: str | None
    recipient: PublicKey | None
    consent: str | None

    @classmethod
    def of(cls, options: argparse.Namespace, folder: TrustFolder) -> Self:
        """Read the options, with the table and the key that they name."""
        if (options.with_table is None) != (options.with_column is None):
            raise InputError("--with and --column belong together", code="way-back-table")
        if options.output is None and (options.with_table is not None or options.recipient is not None):
            raise InputError("--with and --for need --output", code="way-back-table")
        table = recipient = None
        if options.with_table is not None:
            from kohorte.data import read_table

            table = read_table(options.with_table, may_lack_rows=True).frame
            if options.with_column not in table.columns:
                raise InputError(f"--with: the table has no column {options.with_column!r}", code="way-back-table")
        if options.recipient is not None:
            from kohorte.envelopes.keys import read_public

            recipient = read_public(Path(options.recipient))
        return cls(folder, table, options.with_column, recipient, options.consent)

    def refuse_other_recipient(self, number: int, *, actor: str) -> None:
        """Refuse to hand a result over to another recipient than those who approved were told."""
        from kohorte.trust.way_back import WayBack

        purposes = {request.number: request.purpose for request in WayBack(self.folder).all()}
        promised = _ONLY_FOR.search(purposes.get(number, ""))
        if promised is not None and (self.recipient is None or self.recipient.fingerprint != promised[1]):
            reason = "way-back-recipient"
            self.folder.log.append("refuse way back", f"request {number}", actor=actor, reason=reason)
            raise AccessDenied(
                f"the result is only for the key {promised[1]}; give it with --for", code="way-back-recipient"
            )

    def reveal(self, source: str, pseudonyms: Sequence[str]) -> Result:
        """Look up what the pseudonyms of a request stand for."""
        if source == PATIENTS:
            return self._people(pseudonyms)
        if self.consent is not None:
            raise InputError("--consent is for requests with --patients", code="way-back-table")
        from kohorte.pseudonyms.resolving import Source

        originals = Source.of(source).originals(self.folder, pseudonyms)
        pairs = zip(pseudonyms, originals, strict=True)
        found: dict[str, tuple[str, ...] | None] = {
            pseudonym: None if original is None else (original,) for pseudonym, original in pairs
        }
        return self._fitting(Result((ORIGINAL,), found, PSEUDONYM, " in this domain"))

    def _fitting(self, result: Result) -> Result:
        """Refuse a table that cannot take the result, before the one time is used up."""
        if self.table is not None:
            result.refuse_taken(self.table, self.column or "")
        return result

    def write(self, result: Result, output: Path) -> None:
        """Write the result: into a file that only its owner can read, or into an envelope."""
        content = result.text() if self.table is None else result.beside(self.table, self.column or "")
        if self.recipient is not None:
            from kohorte.envelopes.files import seal_bytes

            seal_bytes(content, output, self.recipient)
            return
        from kohorte.data import atomic_write

        with atomic_write(output, force=False, private=True) as temporary:
            temporary.write_bytes(content)

    def _people(self, pids: Sequence[str]) -> Result:
        from kohorte.patients.consents.register import Consents
        from kohorte.patients.identity import FIELDS
        from kohorte.patients.patient_list import PatientList

        patients = PatientList(self.folder)
        try:
            wanted = list(pids)
            if self.consent is not None:
                agreed = Consents(patients).covered(wanted, self.consent).people
                wanted = [pid for pid in wanted if pid in agreed]
            described = dict(zip(wanted, patients.described(wanted), strict=True))
        finally:
            patients.close()
        people = {pid: described.get(pid) for pid in pids}
        found = {pid: None if one is None else tuple(one.values) for pid, one in people.items()}
        where = " in the list, or without consent" if self.consent else " in the list"
        return self._fitting(Result(tuple(FIELDS), found, PID, where))


def only_for(purpose: str, path: Path) -> str:
    """A purpose that also says to whom alone the result goes."""
    from kohorte.envelopes.keys import read_public

    return f"{purpose} [only for the key {read_public(path).fingerprint}]"


def add_result_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a result is handed over."""
    parser.add_argument(
        "--with", dest="with_table", metavar="TABLE", help="put the result in place of a column of this"
    )
    parser.add_argument(
        "--column", dest="with_column", metavar="C", help="the column of --with that has the pseudonyms"
    )
    parser.add_argument(
        "--for", dest="recipient", metavar="PUB", help="seal the output for this key (kohorte envelope)"
    )
    parser.add_argument("--consent", metavar="P", help="with --patients: only people who agreed to this purpose")


def checked_source(options: argparse.Namespace, folder: TrustFolder, wanted: Sequence[str]) -> str:
    """The source of a request; pseudonyms that are not well written are refused, and nothing is looked up."""
    if not options.patients:
        from kohorte.pseudonyms.resolving import Source

        source = Source(options.domain, options.key_version)
        source.check(folder, wanted)
        return str(source)
    if options.key_version is not None:
        raise InputError("--key-version is for domains", code="way-back-pseudonyms")
    from kohorte.patients.libraries import refuse_missing_libraries
    from kohorte.trust.pid import refuse_wrong

    refuse_missing_libraries()
    refuse_wrong(wanted)
    return PATIENTS


def _write_rows(file: TextIO, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
