"""TempIDs: tokens that stand for a person of the list for some minutes, once, and for one recipient.

A physician or a hospital that knows a patient by name gets a TempID from the list, and hands it to the database that
keeps medical data under PIDs. Only the database turns it into a PID, and only once: the PID is never seen where the
name is known.

Guarantee
    A TempID is 128 random bits. It is resolved at most once, before it expires, by the recipient it was made for, also
    if two ask at the same time, and also if its row in the database is replaced by an older copy: the log has a keyed
    fingerprint of it before it counts. One that is unknown, expired, used or for somebody else gets the same answer;
    the log knows the reason. The database has a keyed hash of it.
Leaves open
    Somebody who can read the TempID on its way can use it instead of the recipient, if they can sign in as the
    recipient; the true recipient is then refused, and the log shows it.
"""

from __future__ import annotations

import re
import secrets
from base64 import b32encode
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import polars as pl
from sqlalchemy import Connection, delete, select, update

from kohorte.data import as_text
from kohorte.errors import AccessDenied, InputError, nearest
from kohorte.patients.list.database import holders_of, pids_of, standing_of, write
from kohorte.patients.list.judging import told
from kohorte.patients.list.registration import Registered
from kohorte.patients.list.secrets import TEMP_IDS as SEALED
from kohorte.patients.list.tables import TEMP_IDS
from kohorte.patients.patient_list import PatientList
from kohorte.patients.table_with_pids import PID, TEMP_ID, table_under
from kohorte.trust.notices import REFUSED_TEMP_IDS
from kohorte.trust.ties import MARKS_AT_ONCE

TOKEN_BYTES = 16
MINUTES = 15
MOST_MINUTES = 24 * 60
KEPT = timedelta(days=1)
"""So long after its end an expired or used TempID is remembered, so that the log can say why it was refused."""
_TARGET = re.compile(r"[a-z0-9][a-z0-9 ._@:-]{0,62}")


def _now() -> datetime:
    return datetime.now(UTC)


class TempIds:
    """The TempIDs of a patient list."""

    def __init__(self, patients: PatientList, *, clock: Callable[[], datetime] = _now) -> None:
        self._patients, self._storage, self._clock = patients, patients.storage, clock

    def issue(self, pids: Sequence[str | None], *, target: str, minutes: int = MINUTES) -> list[str | None]:
        """Make a TempID for each PID, for one recipient; equal PIDs get different ones. None stays None."""
        checked_target(target)
        if not 1 <= minutes <= MOST_MINUTES:
            raise InputError(f"--minutes: is a number from 1 to {MOST_MINUTES:,}", code="temp-id-minutes")
        now = self._clock()
        expires, sealing = _written(now + timedelta(minutes=minutes)), self._storage.secrets
        tokens = [None if pid is None else _token() for pid in pids]
        with self._storage.writing() as connection:
            known = holders_of(connection, sealing, {pid for pid in pids if pid is not None})
            self._refuse_unknown(pids, known)
            details = {"target": target, "expires": expires}
            rows = [
                {
                    "token_index": (index := sealing.token_index(token)),
                    "person": known[pid][0],
                    "expires": expires,
                    "details": sealing.seal_details(details | {"person": known[pid][0]}, SEALED, index.hex()),
                }
                for pid, token in zip(pids, tokens, strict=True)
                if pid is not None and token is not None
            ]
            connection.execute(delete(TEMP_IDS).where(TEMP_IDS.c.expires < _written(now - KEPT)))
            write(connection, TEMP_IDS, rows)
        self._log("issue temp ids", target=target, count=len(rows), minutes=minutes)
        return tokens

    def resolve(self, tokens: Sequence[str], *, target: str, rows: Sequence[int] | None = None) -> list[str]:
        """Turn TempIDs into PIDs, all or none; from now on they are used. `rows` are their numbers in a table."""
        checked_target(target)
        reasons: Counter[str] = Counter()
        first = None
        with self._storage.writing() as connection:
            people: list[int] = []
            logged = self._patients.folder.log.checked().used  # older copies of rows do not say that they were used
            for place, token in enumerate(tokens, start=1):
                person, reason = self._taken(connection, token, target, logged)
                if person is None:
                    reasons[reason] += 1
                    first = first or place
                else:
                    people.append(person)
            if first is not None:
                self._log(REFUSED_TEMP_IDS, target=target, asked=len(tokens), **reasons)
                many = rows or (range(1, len(tokens) + 1) if len(tokens) > 1 else None)
                where = f"row {many[first - 1]}: " if many else ""
                raise AccessDenied(
                    f"{where}the TempID is not valid, or not any more; ask the patient list for a new one",
                    code="temp-id-refused",
                )
            standing = standing_of(connection, self._storage.secrets, set(people))
            pids = pids_of(connection, self._storage.secrets, set(standing.values()))
            self._note_used(tokens, target)  # before it counts: never without a trace
        return [pids[standing[person]] for person in people]

    def _taken(self, connection: Connection, token: str, target: str, logged: Container[str]) -> tuple[int | None, str]:
        """Use a TempID; returns its person, or the reason why not. A refusal undoes everything."""
        index = self._storage.secrets.token_index(token.strip())
        row = connection.execute(select(TEMP_IDS).where(TEMP_IDS.c.token_index == index)).first()
        if row is None:
            return None, "unknown"
        details = self._storage.secrets.details(row.details, SEALED, index.hex())
        now = _written(self._clock())
        if details["target"] != target:
            return None, "for another recipient"
        if row.used is not None or "used" in details or self._mark(index) in logged:
            return None, "used before"
        if details["expires"] <= now:
            return None, "expired"
        used = self._storage.secrets.seal_details({"target": target, "used": now}, SEALED, index.hex())
        connection.execute(update(TEMP_IDS).where(TEMP_IDS.c.token_index == index).values(used=now, details=used))
        return int(details["person"]), ""

    def _note_used(self, tokens: Sequence[str], target: str) -> None:
        """Note in the log that TempIDs are used; no entry is longer than the log allows."""
        marks = [self._mark(self._storage.secrets.token_index(token.strip())) for token in tokens]
        for start in range(0, max(len(marks), 1), MARKS_AT_ONCE):
            part = marks[start : start + MARKS_AT_ONCE]
            self._log("resolve temp ids", target=target, count=len(part), used=" ".join(part))

    def _mark(self, index: bytes) -> str:
        """What stands for a TempID in the log."""
        return self._patients.folder.log.fingerprint(f"temp id {index.hex()}")

    @staticmethod
    def _refuse_unknown(pids: Sequence[str | None], known: dict[str, tuple[int, int]]) -> None:
        for place, pid in enumerate(pids, start=1):
            if pid is not None and pid not in known:
                where = f"row {place}: " if len(pids) > 1 else ""
                raise InputError(f"{where}no person of the list has this PID", code="patients-pid-unknown")

    def _log(self, action: str, **details: str | int) -> None:
        self._patients.folder.log.append(action, "the patient list", actor=self._patients.actor, **details)


def table_with_temp_ids(
    frame: pl.DataFrame,
    columns: Mapping[str, str],
    rows: Sequence[Registered],
    patients: PatientList,
    target: str,
) -> pl.DataFrame:
    """Return a registered table with TempIDs in place of identity data.

    No PID is in it, and nothing that says who was in the list already: the table goes back to the clinic.
    """
    tokens = TempIds(patients).issue([row.pid for row in rows], target=target)
    return table_under(TEMP_ID, tokens, frame, columns, [told(row.outcome) for row in rows])


def resolved_table(frame: pl.DataFrame, column: str, patients: PatientList, target: str) -> pl.DataFrame:
    """Return the table with PIDs in place of TempIDs; a row without a TempID stays without a PID."""
    if column not in frame.columns:
        raise InputError(f"the table has no column {column!r}{nearest(column, frame.columns)}", code="temp-id-table")
    if PID in frame.columns and column != PID:
        raise InputError(f"the table has a column {PID!r} already", code="temp-id-table")
    tokens = as_text(frame[column]).to_list()
    given = [(row, token) for row, token in enumerate(tokens, start=1) if token is not None]
    rows, texts = [row for row, _ in given], [token for _, token in given]
    pids = iter(TempIds(patients).resolve(texts, target=target, rows=rows))
    resolved = pl.Series(PID, [None if token is None else next(pids) for token in tokens], dtype=pl.String)
    return frame.with_columns(resolved.alias(column)).rename({column: PID})


def checked_target(target: str) -> str:
    """Refuse a name of a recipient that is none."""
    if not _TARGET.fullmatch(target):
        raise InputError(
            "--for: the recipient of a TempID is named by small letters, digits, blanks and . _ @ : -, at most 63",
            code="temp-id-target",
        )
    return target


def _token() -> str:
    return b32encode(secrets.token_bytes(TOKEN_BYTES)).decode().rstrip("=")


def _written(at: datetime) -> str:
    return at.isoformat(timespec="microseconds")
