"""The options of `kohorte reidentify` that say how a result is handed over: shown, written, or sealed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from kohorte.errors import AccessDenied, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from kohorte.envelopes.keys import PublicKey
    from kohorte.envelopes.results import Result
    from kohorte.trust.folder import TrustFolder
    from kohorte.trust.way_back import Request

PATIENTS = "patients"
"""The source of a request for people of the patient list."""


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
        from kohorte.envelopes.results import refuse_other_recipient
        from kohorte.trust.notices import REFUSED
        from kohorte.trust.way_back import WayBack

        purposes = {request.number: request.purpose for request in WayBack(self.folder).all()}
        try:
            refuse_other_recipient(purposes.get(number, ""), self.recipient)
        except AccessDenied as error:
            self.folder.log.append(REFUSED, f"request {number}", actor=actor, reason=error.code)
            raise

    def show(self, number: int, output: Path | None, *, actor: str) -> Result:
        """Use the one time of a request up; a file is whole, sealed and on disk before."""
        from kohorte.data import atomic_write
        from kohorte.trust.way_back import WayBack

        if output is None:
            return WayBack(self.folder).show(number, self.reveal, actor=actor, check=self._refuse_removed)
        with atomic_write(output, force=False, private=True) as temporary:

            def written(source: str, pseudonyms: Sequence[str]) -> Result:
                result = self.reveal(source, pseudonyms)
                temporary.write_bytes(self._content(result))
                return result

            return WayBack(self.folder).show(number, written, actor=actor, check=self._refuse_removed)

    def _refuse_removed(self, request: Request) -> None:
        """Refuse a request if somebody who approved it has been removed since, or is no approver any more."""
        from kohorte.trust.people import People, Task

        approvers = {person.name for person in People(self.folder).all() if Task.APPROVER in person.tasks}
        if not approvers.issuperset(request.approved_by):
            raise AccessDenied("somebody who approved may not approve any more; ask again", code="way-back-approver")

    def reveal(self, source: str, pseudonyms: Sequence[str]) -> Result:
        """Look up what the pseudonyms of a request stand for."""
        if source == PATIENTS:
            return self._people(pseudonyms)
        if self.consent is not None:
            raise InputError("--consent is for requests with --patients", code="way-back-table")
        from kohorte.envelopes.results import ORIGINAL, PSEUDONYM, Result
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

    def _content(self, result: Result) -> bytes:
        """The result as a table, or in an envelope."""
        column = self.column or ""
        if self.recipient is None:
            return result.content(self.table, column)
        return result.sealed(self.table, column, self.recipient)

    def _people(self, pids: Sequence[str]) -> Result:
        from kohorte.envelopes.results import PID, Result
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


def purpose_of(options: argparse.Namespace) -> str:
    """The purpose of a request, which also says to whom alone the result goes."""
    from kohorte.envelopes.keys import read_public
    from kohorte.envelopes.results import purpose_for

    return purpose_for(options.purpose, None if options.recipient is None else read_public(Path(options.recipient)))


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
