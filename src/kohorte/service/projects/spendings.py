"""Compare the log of spendings with the database: enter missing spendings, or confirm them if the log is lost."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import select

from kohorte.errors import EngineError, InputError
from kohorte.service.context import Service
from kohorte.service.projects.ledger import enter, enter_missing
from kohorte.service.spent_log import Head
from kohorte.service.storage.schema import spent_head

LONGEST_REASON = 500


@dataclass(frozen=True)
class Standing:
    """The state of the log of spendings: head, number of entries that the database lacks, and reason if refused."""

    head: str
    missing: int
    problem: str | None


def standing(service: Service) -> Standing:
    """Compare the log with the database; nothing is changed."""
    with service.database.reading() as connection:
        row = connection.execute(select(spent_head)).one()
    head = Head(row.number, row.mac, row.end)
    try:
        entries = service.spent_log.after(head)
    except EngineError as error:
        return Standing(str(head), 0, error.message)
    return Standing(str(entries[-1].head if entries else head), len(entries), None)


def enter_all(service: Service) -> Standing:
    """Enter the spendings that the database lacks; a log that is refused changes nothing."""
    before = standing(service)
    if before.missing:
        with service.database.writing() as connection:
            enter_missing(service, connection)
    return before


def confirm(service: Service, *, reason: str) -> int:
    """Accept the spendings in the database as complete, and begin a new log; the old file is kept under another name.

    Spendings that can still be read in the old log are entered before; return their number. This is the only way to
    answer queries again if the log is lost. The audit log records the reason.
    """
    if not 0 < len(reason.strip()) <= LONGEST_REASON:
        raise InputError(f"--reason: is a text of 1 to {LONGEST_REASON} characters", code="service-reason")
    if standing(service).problem is None:
        raise InputError("spent.log is intact: there is nothing to confirm", code="service-spent-log-whole")
    with service.database.writing() as connection:
        head = Head.locked(connection)
        entries = service.spent_log.readable(head)
        entered = enter(service, connection, entries)
        last = entries[-1].head if entries else head
        service.spent_log.put_aside()
        service.spent_log.append(replace(last, end=0), {"kind": "confirm"}).save(connection)
        about = "log of spendings"
        service.log.append(connection, "confirm-spent", about, actor=None, reason=reason.strip(), entered=entered)
    return entered
