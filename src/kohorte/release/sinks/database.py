"""Releases that are tables of a database: written, verified and certified in one transaction."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from kohorte.errors import InputError
from kohorte.languages import ENGLISH
from kohorte.pages.reader_language import language_named
from kohorte.plans.parts import About
from kohorte.plans.plan import Plan
from kohorte.progress import ProgressCallback
from kohorte.release.candidate import Candidate
from kohorte.release.certificate import Certificate, FileFacts
from kohorte.release.write import published
from kohorte.sources import TableSource, Written
from kohorte.sources.postgresql import PostgresqlSource
from kohorte.sources.postgresql_session import Address, TableName, is_database

CERTIFICATE = "_certificate"


def write_to_database(
    candidate: Candidate,
    output: str,
    *,
    source: PostgresqlSource,
    force: bool = False,
    about: About | None = None,
    progress: ProgressCallback | None = None,
    language: str = ENGLISH.code,
) -> Certificate:
    """Write a candidate into a table of the database from which it comes, and its certificate into another one.

    `output` is postgresql://USER@HOST/DATABASE/TABLE; the certificate is in TABLE_certificate, as JSON and as text. The
    tables are counted and verified in the transaction that makes them, and nobody sees them before it ends. Whatever
    fails, there is neither of them, and with `force` the tables that were there before are unchanged.
    """
    with StagedTable(output, candidate.plan, source, force=force) as table:
        table.language = language_named(language)
        facts = FileFacts(source.shown_name, source.sha256)
        return published(candidate, table, source=facts, about=about, progress=progress)[1]


class StagedTable:
    """A table and its certificate in a transaction that is not yet committed; the session ends with the block."""

    def __init__(self, output: str, plan: Plan, source: PostgresqlSource, *, force: bool) -> None:
        self._source, self._force, self._session = source, force, source.session
        self._table = refuse_target(output, plan, source, force=force)
        self._certificate = TableName(self._table.schema, f"{self._table.name}{CERTIFICATE}")
        self.language = ENGLISH

    @property
    def name(self) -> str:
        """The name of the table."""
        return str(self._table)

    def __enter__(self) -> Self:
        return self

    def write(self, table: TableSource) -> Written:
        """Write the table, and return it for verification."""
        assert isinstance(table, PostgresqlSource)
        if self._force:
            for one in (self._table, self._certificate):
                self._session.drop(one)
        return table.write_table(self._table)

    def hand_over(self, certificate: Certificate) -> None:
        """Write the certificate, and commit."""
        texts = {"json": certificate.to_json(), "text": certificate.to_text(self.language)}
        self._session.keep_texts(self._certificate, texts)
        self._session.commit(self.name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._session.close()


def refuse_target(output: str, plan: Plan, source: PostgresqlSource, *, force: bool) -> TableName:
    """Return the table that an address means; refuse, before any work is done, one that cannot be written."""
    if not is_database(output):
        raise InputError(
            "a table in PostgreSQL is released into a table of the same database; give its address as output",
            code="output-elsewhere",
        )
    at = Address.parse(output)
    if at.table is None:
        raise InputError("the output is the address of a table: .../DATABASE/TABLE", code="database-address")
    if at.database != source.session.database:
        raise InputError(
            "input and output are in different databases, or their addresses differ in user or options; the release "
            "is written in one transaction of one database: give both addresses alike, up to the table",
            code="output-elsewhere",
        )
    if plan.order == "input":
        raise InputError(
            "output: order: input cannot be kept, because a table in PostgreSQL has no order; leave it out",
            code="source-no-order",
        )
    session = source.session
    schema = at.schema or session.current_schema
    target = TableName(schema, at.table)
    if source.table == target:
        raise InputError(f"{target}: the output would replace the input; give another name", code="output-is-input")
    for name in (target, TableName(schema, f"{at.table}{CERTIFICATE}")):
        if not force and session.exists(name):
            raise InputError(
                f"{name}: exists already; give another name, or --force to replace it", code="output-exists"
            )
    return target
