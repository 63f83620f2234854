"""The work of the jobs; it runs in a separate process that knows the vault but not the database.

A new kind of job
    Give it a name in `queue.Kind`, write a function from `Work` to `Done`, and add a `Task` to `TASKS`. A job can have
    any object: `enqueue(..., Kind.X, Subject("vault"), ...)`. If a row of the database waits for the job, as a dataset
    waits for its table, `prepares` names its table and the columns with encrypted files; `Done.values` are then written
    to that row in the transaction that ends the job, and files that it no longer refers to are removed.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import polars as pl

from kohorte.data import Role, TableFile, parse_table, read_parquet, write_parquet
from kohorte.data.parquet import bytes_of_texts
from kohorte.data.parquet_footer import unpacked_size
from kohorte.data.table import is_parquet
from kohorte.errors import InputError
from kohorte.models import KAnonymity
from kohorte.plans import Attribute, Plan
from kohorte.plans.people.project_pseudonyms import Pseudonymize
from kohorte.release import Candidate, Release, anonymize, find_candidate, warnings
from kohorte.release.certificate import FileFacts
from kohorte.release.write import certified_bytes
from kohorte.report.write import report_of
from kohorte.risks import RiskPolicy, risk
from kohorte.search import Progress
from kohorte.service.disclosures.examined import examined, keep_waiting, words_of
from kohorte.service.integrity.marks import DATASET, PROJECT, Marked
from kohorte.service.jobs.evidence import hash_of, shown_certificate
from kohorte.service.jobs.queue import Kind
from kohorte.service.jobs.release_check import checked
from kohorte.service.jobs.stored_report import pages
from kohorte.service.settings import UNPACKED_LIMIT
from kohorte.service.trust.leaving.releases import Places, consented, pseudonymizer
from kohorte.service.vault import Content, Vault
from kohorte.sources import FrameSource

MOST_COLUMNS = 10_000
MOST_ROW_GROUPS = 32_767
"""Parquet numbers row groups with 16 bits."""
RELEASE_NAME = "release.csv"
NOWHERE = Places((), None, None)


class Reporter(Protocol):
    """Receives the progress of a job; both methods raise if the job is to stop."""

    def progress(self, share: float, message: str) -> None:
        """Report the share of work done, from 0 to 1, and the current step."""

    def file(self, name: str) -> None:
        """Report an encrypted file that is about to be written."""


@dataclass(frozen=True)
class Work:
    """One job and its resources."""

    request: Mapping[str, Any]
    table_file: str | None
    most_cells: int
    vault: Vault
    reporter: Reporter
    unpacked_limit: int = UNPACKED_LIMIT
    ledger: Mapping[str, str] | None = None
    """The folders of the disclosure ledger and of the patient list; None if the house has no ledger."""
    places: Places | None = None

    def table(self) -> pl.DataFrame:
        """Decrypt the table of the dataset."""
        self.reporter.progress(0.0, "reading the table")
        if self.table_file is None:
            raise InputError(
                "the dataset has no table: it is still being read, or could not be read", code="dataset-conflict"
            )
        return read_parquet(self.vault.read(self.table_file), source="the table")

    def lock(self, data: bytes, content: Content) -> str:
        """Write an encrypted file, and return its name."""
        with self.vault.writing(content) as writer:
            self.reporter.file(writer.name)
            writer.write(data)
        return writer.name

    def searching(self, first: float, last: float) -> Callable[[Progress], object]:
        """Return a callback that reports the progress of a search as a part of the whole; it never decreases."""
        furthest = 0.0

        def call(progress: Progress) -> None:
            nonlocal furthest
            furthest = max(furthest, progress.settled / max(progress.nodes, 1))
            share = first + (last - first) * min(furthest, 1.0)
            self.reporter.progress(share, progress.in_words)

        return call


@dataclass(frozen=True)
class Done:
    """The result of a job, and values for the row that waits for it."""

    result: Mapping[str, Any]
    values: Mapping[str, Any]
    noted: str = ""
    """What the people of the house learn from the audit log, and nobody else."""


def ingest(work: Work) -> Done:
    """Read an uploaded file and store its table as Parquet."""
    work.reporter.progress(0.0, "reading the file")
    frame = _uploaded(work).frame
    _refuse_cells(frame.height, frame.width, work.most_cells)
    work.reporter.progress(0.5, "writing the table")
    written = io.BytesIO()
    write_parquet(frame, written)
    content = written.getvalue()
    work.reporter.progress(0.8, "counting values")
    distinct = frame.select(pl.all().drop_nulls().n_unique()).row(0)
    columns = [
        {"name": column.name, "datatype": _datatype(column.dtype), "distinct": count, "missing": column.null_count()}
        for column, count in zip(frame.iter_columns(), distinct, strict=True)
    ]
    values = {
        "table_file": work.lock(content, Content.TABLE),
        "table_sha256": hashlib.sha256(content).hexdigest(),
        "rows": frame.height,
        "columns": columns,
    }
    return Done({"rows": frame.height, "columns": frame.width}, values)


def _uploaded(work: Work) -> TableFile:
    data = work.vault.read(work.request["file"], Content.UPLOAD)
    path = Path(Path(work.request["file_name"]).name)
    if is_parquet(data, path):
        _refuse_large_parquet(data, work)
    layout = {name: work.request[name] for name in ("separator", "encoding") if name in work.request}
    return parse_table(data, path, **layout)


def _refuse_large_parquet(data: bytes, work: Work) -> None:
    """Refuse by what the file states, before a small file becomes a large table."""
    size = unpacked_size(data)
    _refuse_cells(size.rows, size.columns, work.most_cells)
    if size.row_groups > MOST_ROW_GROUPS:
        raise InputError(
            f"the Parquet file has {size.row_groups:,} row groups; the limit is {MOST_ROW_GROUPS:,}",
            code="table-too-large",
        )
    _refuse_bytes(size.bytes, work.unpacked_limit)
    _refuse_bytes(bytes_of_texts(data), work.unpacked_limit)  # a dictionary stores a text once


def _refuse_bytes(size: int, limit: int) -> None:
    if size > limit:
        raise InputError(
            f"the Parquet file has {size:,} bytes when it is unpacked: more than {limit:,}", code="table-too-large"
        )


def _refuse_cells(rows: int, columns: int, most: int) -> None:
    if columns > MOST_COLUMNS:
        raise InputError(f"the table has {columns:,} columns; the limit is {MOST_COLUMNS:,}", code="table-too-large")
    if rows * columns > most:
        raise InputError(
            f"the table has {rows:,} rows and {columns:,} columns: more than {most:,} cells", code="table-too-large"
        )


def _datatype(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "int"
    if dtype.is_numeric():
        return "float"
    names = {pl.Boolean: "bool", pl.Date: "date", pl.Datetime: "datetime", pl.Time: "time"}
    return names.get(dtype.base_type(), "str")


def make_release(work: Work) -> Done:
    """Find the release of a table, verify it from its bytes, and store it with certificate and report."""
    plan, places = _plan(work.request), work.places or NOWHERE
    with examined(work.ledger, plan) as recording:
        frame, noted = consented(places, work.request, work.table())
        search = partial(_found, work, plan, pseudonymizer(places, plan, work.request.get("actor", "")))
        candidate = search(frame) if recording is None else recording.released(frame, search)
        frame = frame if recording is None else recording.rows
    work.reporter.progress(0.6, "verifying the release")
    content, release, certificate = certified_bytes(candidate, RELEASE_NAME)
    shown = shown_certificate(certificate)
    if (consent := noted(content)) is not None:
        shown.facts["consent"] = consent
    work.reporter.progress(0.8, "measuring the risk for the report")
    report = _report(frame, release, content, shown.facts)
    work.reporter.progress(0.95, "writing the release")
    values = {
        "release_file": work.lock(content, Content.RELEASE),
        "report_file": work.lock(report, Content.REPORT),
        "certificate": shown.facts,
    }
    keep_waiting(work.ledger, recording, str(values["release_file"]))
    verified = shown.facts["verification"]
    assert isinstance(verified, dict)
    told = {"unit": verified["unit"], "people": verified["people"], "warnings": shown.facts["warnings"]}
    return Done({"release": shown.facts["release"], **told}, values, noted=words_of(recording))


def _found(work: Work, plan: Plan, pseudonymize: Pseudonymize | None, frame: pl.DataFrame) -> Candidate:
    progress = work.searching(0.1, 0.6)
    return find_candidate(FrameSource(frame), plan, progress=progress, pseudonymize=pseudonymize)


def _plan(request: Mapping[str, Any]) -> Plan:
    plan = Plan.from_dict(request["plan"])
    if plan.files():
        raise InputError("a plan of the service cannot refer to files: give hierarchies as rows", code="plan-files")
    return plan


def _report(frame: pl.DataFrame, release: Release, content: bytes, certificate: Mapping[str, Any]) -> bytes:
    facts = report_of(frame, release.plan, release=release, view="public")
    facts = replace(facts, plan_sha256=str(certificate["plan_sha256"]), certificate_sha256=hash_of(certificate))
    if facts.after is not None:
        named = FileFacts(RELEASE_NAME, hashlib.sha256(content).hexdigest())
        facts = replace(facts, after=replace(facts.after, file=named))
    return pages(facts)


def measure_risk(work: Work) -> Done:
    """Anonymize a table and measure the remaining risk."""
    plan, policy = _plan(work.request), RiskPolicy.from_dict(work.request["policy"])
    release = anonymize(work.table(), plan, progress=work.searching(0.1, 0.7))
    work.reporter.progress(0.7, "measuring the risk")
    profile = risk(release, plan, policy=policy)
    weighted = profile.weighted
    return Done(
        {
            "attribute_generalization": _generalization(release),
            "risk_profile": profile.risk_profile(),
            "weighted_risk": None if weighted is None else weighted.to_dict(),
            "unit": profile.unit.many,
            "people": profile.people,
            "smallest_class": release.verification.smallest_class,
            "warnings": list(warnings(release)),
        },
        {},
    )


def check_request(work: Work) -> Done:
    """Check a request of another institution against a table, and keep the check in the folder of the house."""
    return Done(checked(work.request, work.table(), work.searching(0.1, 0.9)), {})


def _generalization(release: Release) -> list[dict[str, object]]:
    """The level of each attribute; the highest level if it differs from row to row."""
    recoded = {name: cells["highest_level"] for name, cells in release.recoded.items()}
    return [
        {"attribute_name": name, "generalization_level": level} for name, level in {**release.levels, **recoded}.items()
    ]


def warm_up() -> None:
    """Anonymize a tiny table, so that all modules are loaded before the first job."""
    table = pl.DataFrame({"age": ["1", "2"]})
    plan = Plan({"age": Attribute(Role.QUASI_IDENTIFYING)}, [KAnonymity(2)])
    certified_bytes(find_candidate(FrameSource(table), plan), RELEASE_NAME)
    write_parquet(table, io.BytesIO())


@dataclass(frozen=True)
class Prepares:
    """The row that waits for a job: the one with the number of the job's subject."""

    rows: Marked
    files: tuple[str, ...]
    """Columns that contain names of encrypted files."""
    ended: Callable[[Mapping[str, Any] | None], Mapping[str, Any]]
    """Returns further changes to the row when the job has ended, from its problem or None."""


@dataclass(frozen=True)
class Task:
    """One kind of job: its function, and the row that waits for it."""

    kind: Kind
    run: Callable[[Work], Done]
    prepares: Prepares | None = None


TASKS: Mapping[Kind, Task] = MappingProxyType(
    {
        task.kind: task
        for task in (
            Task(
                Kind.INGEST,
                ingest,
                Prepares(DATASET, ("uploaded_file", "table_file"), lambda _: {"uploaded_file": None}),
            ),
            Task(
                Kind.ANONYMIZE,
                make_release,
                Prepares(PROJECT, ("release_file", "report_file"), lambda problem: {"problem": problem}),
            ),
            Task(Kind.RISK, measure_risk),
            Task(Kind.CHECK, check_request),
        )
    }
)
