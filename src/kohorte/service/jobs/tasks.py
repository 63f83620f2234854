"""What jobs do, in a process of their own that knows locked files and nothing of the database."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from kohorte.data import Role, TableFile, parse_table, read_parquet, write_parquet
from kohorte.data.parquet import MAGIC
from kohorte.errors import InputError
from kohorte.models import KAnonymity
from kohorte.release import Attribute, Plan, Release, anonymize, find_release
from kohorte.release.certificate import FileFacts
from kohorte.release.write import certified_bytes
from kohorte.report.page import to_html
from kohorte.report.write import report_of
from kohorte.risks import RiskPolicy, risk
from kohorte.search import Progress
from kohorte.service.jobs.evidence import shown_certificate
from kohorte.service.jobs.queue import Kind
from kohorte.service.vault import Content, Vault

MOST_COLUMNS = 10_000
RELEASE_NAME = "release.csv"


class Reporter(Protocol):
    """Whom a job tells how far it is; both calls raise when the job shall stop."""

    def progress(self, share: float, message: str) -> None:
        """Say how much is done, from 0 to 1, and what is being done."""

    def file(self, name: str) -> None:
        """Name a locked file that is about to be written."""


@dataclass(frozen=True)
class Work:
    """One job, and what it works with."""

    request: Mapping[str, Any]
    table_file: str | None
    most_cells: int
    vault: Vault
    reporter: Reporter

    def table(self) -> pl.DataFrame:
        """Unlock the table of the dataset."""
        self.reporter.progress(0.0, "reading the table")
        if self.table_file is None:
            raise InputError("the dataset has no table yet, or never will", code="dataset-conflict")
        return read_parquet(self.vault.read(self.table_file), source="the table")

    def lock(self, data: bytes, content: Content) -> str:
        """Write a locked file, and return its name."""
        with self.vault.writing(content) as writer:
            self.reporter.file(writer.name)
            writer.write(data)
        return writer.name

    def searching(self, first: float, last: float) -> Callable[[Progress], object]:
        """What a search calls: its progress as a part of the whole, which never goes back."""
        furthest = 0.0

        def call(progress: Progress) -> None:
            nonlocal furthest
            furthest = max(furthest, progress.settled / max(progress.nodes, 1))
            share = first + (last - first) * min(furthest, 1.0)
            self.reporter.progress(share, f"searching: {progress.settled:,} of {progress.nodes:,} settled")

        return call


@dataclass(frozen=True)
class Done:
    """What a job found: its result, and values for the row of the dataset or project."""

    result: Mapping[str, Any]
    values: Mapping[str, Any]


def ingest(work: Work) -> Done:
    """Read an uploaded file and keep its table as Parquet."""
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
    if data.startswith(MAGIC):
        _refuse_large_parquet(data, work.most_cells)
    layout = {name: work.request[name] for name in ("separator", "encoding") if name in work.request}
    return parse_table(data, Path(Path(work.request["file_name"]).name), **layout)


def _refuse_large_parquet(data: bytes, most_cells: int) -> None:
    """Refuse by what the file says of itself, before a small file becomes a large table."""
    try:
        scan = pl.scan_parquet(io.BytesIO(data))
        width, height = len(scan.collect_schema()), scan.select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        return  # whoever reads it says what is wrong
    _refuse_cells(height, width, most_cells)


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
    """Find the release of a table, verify it from its bytes, and keep them with certificate and report."""
    plan = _plan(work.request)
    frame = work.table()
    release = find_release(frame, plan, progress=work.searching(0.1, 0.6))
    work.reporter.progress(0.6, "verifying the release")
    content, certificate = certified_bytes(release, RELEASE_NAME)
    shown = shown_certificate(certificate)
    work.reporter.progress(0.8, "measuring the risk for the report")
    report = _report(frame, release, content, str(shown.facts["plan_sha256"]))
    work.reporter.progress(0.95, "writing the release")
    values = {
        "release_file": work.lock(content, Content.RELEASE),
        "report_file": work.lock(report, Content.REPORT),
        "certificate": shown.facts,
    }
    return Done({"release": shown.facts["release"]}, values)


def _plan(request: Mapping[str, Any]) -> Plan:
    plan = Plan.from_dict(request["plan"])
    if plan.files():
        raise InputError("a plan of the service names no files: give hierarchies as rows", code="plan-files")
    return plan


def _report(frame: pl.DataFrame, release: Release, content: bytes, plan_sha256: str) -> bytes:
    facts = replace(report_of(frame, release.plan, release=release, view="public"), plan_sha256=plan_sha256)
    if facts.after is not None:
        named = FileFacts(RELEASE_NAME, hashlib.sha256(content).hexdigest())
        facts = replace(facts, after=replace(facts.after, file=named))
    return to_html(facts).encode()


def measure_risk(work: Work) -> Done:
    """Anonymize a table and measure the risk that is left."""
    plan, policy = _plan(work.request), RiskPolicy.from_dict(work.request["policy"])
    release = anonymize(work.table(), plan, progress=work.searching(0.1, 0.7))
    work.reporter.progress(0.7, "measuring the risk")
    profile = risk(release.data, plan, policy=policy)
    weighted = profile.weighted
    return Done(
        {
            "attribute_generalization": _generalization(release),
            "risk_profile": profile.risk_profile(),
            "weighted_risk": None if weighted is None else weighted.to_dict(),
        },
        {},
    )


def _generalization(release: Release) -> list[dict[str, object]]:
    """The level of each attribute; the highest, where it differs from row to row."""
    recoded = {name: cells["highest_level"] for name, cells in release.recoded.items()}
    return [
        {"attribute_name": name, "generalization_level": level} for name, level in {**release.levels, **recoded}.items()
    ]


def warm_up() -> None:
    """Do a little of everything, so that the first job finds all modules loaded."""
    table = pl.DataFrame({"age": ["1", "2"]})
    plan = Plan({"age": Attribute(Role.QUASI_IDENTIFYING)}, [KAnonymity(2)])
    release = find_release(table, plan)
    certified_bytes(release, RELEASE_NAME)
    write_parquet(table, io.BytesIO())


TASKS: Mapping[Kind, Callable[[Work], Done]] = {
    Kind.INGEST: ingest,
    Kind.ANONYMIZE: make_release,
    Kind.RISK: measure_risk,
}
