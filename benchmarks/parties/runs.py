"""Whole runs of studies, every member a process of its own on this machine, compared with the pooled release."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

import kohorte as ko
from benchmarks.optima import CASES as OPTIMA
from benchmarks.parties.memory import Watch
from benchmarks.report import Line
from kohorte.parties.rehearsal import rehearse_files
from kohorte.parties.study import MIRRORED
from testbed import joint, tables

PHASES = ("encrypt", "integrate", "anonymize", "decrypt")


NAMES = {"distinct": "distinct 2-diversity", "recursive": "recursive (4,3)-diversity", "hierarchical": "0.2-closeness"}
IMITATED = 0.25
"""The share of imitated dummy rows, as published."""


@dataclass(frozen=True)
class Case:
    """A table at parties: by which protocol, how divided, and how many rows may be suppressed.

    C has mirrored dummy rows, its default, or a quarter of imitated ones, as published.
    """

    table: str
    protocol: str
    vertical: bool
    parties: int = 3
    limit: float = 0.0
    mirrored: bool = False
    model: str = ""  # of the sensitive attribute, besides k-anonymity

    @property
    def title(self) -> str:
        """The case in words."""
        how = "vertical" if self.vertical else "horizontal"
        model = f", {NAMES[self.model]}" if self.model else ""
        return f"{self.table.upper()} {self.kind} {how}, {self.parties} parties, k=5{model}, {self.limit:.0%}"

    @property
    def kind(self) -> str:
        """The protocol, and for C how its dummy rows are made."""
        return self.protocol if self.protocol != "C" else f"C {'mirrored' if self.mirrored else 'imitated'}"

    @property
    def dummies(self) -> float | str | None:
        """What the study says about dummy rows; None if the protocol has none."""
        return None if self.protocol != "C" else MIRRORED if self.mirrored else IMITATED


@dataclass(frozen=True)
class Measured:
    """What a run took: whole seconds, seconds by phase, messages, megabytes as sent, nodes checked, and memory.

    `processor` are the seconds that all processes computed, `load` is how busy the machine was before.
    """

    case: Case
    right: bool
    seconds: float
    phases: Mapping[str, float]
    messages: int
    megabytes: float
    checked: int
    memory: Mapping[str, float]
    processor: float
    load: float


TARGETS = {
    Case("adult", "A", vertical=True, limit=0.05): 20.0,
    Case("adult", "A", vertical=False, limit=0.05): 3.0,
    Case("adult", "B", vertical=True, limit=0.05): 3.0,
    Case("adult", "B", vertical=False, limit=0.05): 3.0,
    Case("adult", "C", vertical=True, mirrored=True): 30.0,
    Case("adult", "C", vertical=False, mirrored=True): 20.0,
}
"""How long a whole run may take, with all members on two cores; C with its default, mirrored rows."""

TARGETS_IMITATED = {replace(case, mirrored=False): seconds for case, seconds in TARGETS.items() if case.protocol == "C"}
"""With a quarter of imitated dummy rows, as published, a run may take as long as with mirrored rows."""

SUPPRESSING = tuple(Case("adult", "C", vertical, limit=0.05, mirrored=True) for vertical in (True, False))
"""What suppression costs if every node has to be asked for, beside the same runs without suppression."""

MODELS = tuple(
    Case(table, "C", vertical=True, limit=0.05, mirrored=True, model=model)
    for table in ("adult", "cup")
    for model in tables.SENSITIVE_MODELS
)
"""Protocol C with a model of the sensitive attribute: a counter for each class and value."""

MILLION_SECONDS, MILLION_MEGABYTES = 30.0, 1000.0


TABLES = ("adult", "cup")


def cases(table: str) -> Iterator[Case]:
    """Everything that is published about a table; C with mirrored rows, and with three parties with imitated ones."""
    for protocol in "ABC":
        for vertical in (True, False):
            for parties in (2, 3):
                limit = 0.0 if protocol == "C" else 0.05
                yield Case(table, protocol, vertical, parties, limit, mirrored=protocol == "C")
    yield from (Case(table, "C", vertical) for vertical in (True, False))


def lines() -> Iterator[Line]:
    """The runs that have a target, as a part of `make bench`."""
    yield from (judged(measured(case)) for case in (*TARGETS, *TARGETS_IMITATED))
    yield from judged_million(million())


def judged(found: Measured) -> Line:
    """A run against its target."""
    note = f"{found.megabytes:.1f} MB sent, " + ", ".join(
        f"{name} {found.phases.get(name, 0):.2f} s" for name in PHASES
    )
    return Line(
        found.case.title, found.right, found.seconds, (TARGETS | TARGETS_IMITATED).get(found.case, float("inf")), note
    )


def measured(case: Case, rows: int | None = None) -> Measured:
    """Run a study about a public table, or its first rows; right is what the pooled rows give."""
    frame = ko.read_table(tables.DATA / f"{case.table}.csv").frame.head(rows or 10**9)
    plan = _plan(case)
    columns = joint.COLUMNS[case.table, case.parties]
    parts = joint.divided_columns(frame, columns) if case.vertical else joint.divided_rows(frame, case.parties)
    with tempfile.TemporaryDirectory() as folder:
        owners = dict(zip(parts, columns, strict=True))
        study = joint.study_file(
            Path(folder),
            plan,
            protocol=case.protocol,
            parties=owners,
            vertical=case.vertical,
            dummies=case.dummies,
        )
        figures, released, memory = _rehearsed(study, parts, Path(folder))
    right = _as_pooled(figures, released, frame, plan) and (
        rows is not None or bool(case.model) or _as_known(case, figures)
    )
    return _measured(case, right, figures, memory)


def _plan(case: Case) -> ko.Plan:
    if case.model:
        models = [tables.SENSITIVE_MODELS[case.model]]
        return tables.sensitive_plan(case.table, limit=case.limit, models=models)
    return tables.plan(case.table, k=5, limit=case.limit, metric="non_uniform_entropy")


def _measured(case: Case, right: bool, figures: Mapping[str, Any], memory: Mapping[str, float]) -> Measured:
    return Measured(
        case=case,
        right=right,
        seconds=float(figures["elapsed"]),
        phases={name: float(spent) for name, spent in figures["seconds"].items()},
        messages=int(figures["messages"]),
        megabytes=int(figures["bytes"]) / 1e6,
        checked=int(figures["checked"]),
        memory=memory,
        processor=float(figures["processor"]),
        load=float(figures["load"]),
    )


def _rehearsed(
    study: Path, parts: Mapping[str, pl.DataFrame], folder: Path
) -> tuple[dict[str, Any], pl.DataFrame, dict[str, float]]:
    files = {}
    for name, part in parts.items():
        files[name] = folder / f"{name}.csv"
        part.write_csv(files[name])
    output = folder / "release.csv"
    load, before = os.getloadavg()[0], _processor_seconds()
    with Watch() as watch:
        figures = rehearse_files(study, files, output)
    figures |= {"load": load, "processor": _processor_seconds() - before}
    return figures, ko.read_table(output).frame, watch.megabytes


def _processor_seconds() -> float:
    """What the processes that this one started have computed, if they have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _as_pooled(figures: Mapping[str, Any], released: pl.DataFrame, frame: pl.DataFrame, plan: ko.Plan) -> bool:
    pooled = ko.anonymize(frame, plan)
    names = [name for name in released.columns if name in plan.attributes]
    rows = [one.select(pl.col(names).cast(pl.String)).sort(names) for one in (released, pooled.data)]
    same = figures["levels"] == pooled.levels and figures["suppressed"] == pooled.suppressed
    return bool(same and abs(figures["cost"] - pooled.cost) <= 1e-9 * pooled.cost and rows[0].equals(rows[1]))


def _as_known(case: Case, figures: Mapping[str, Any]) -> bool:
    """Compare with the optimum that other benchmarks expect, too."""
    known = {(one.table, one.limit): one for one in OPTIMA if one.metric == "non_uniform_entropy"}
    one = known[case.table, case.limit]
    return tuple(figures["levels"].values()) == one.levels and figures["suppressed"] == one.suppressed


def million(rows: int = 1_000_000) -> Measured:
    """Generated rows at three parties, protocol B, by rows: the time, and the memory of the helper."""
    with tables.generated(rows) as (frame, plan), tempfile.TemporaryDirectory() as folder:
        owners: dict[str, Sequence[str]] = dict.fromkeys(("P1", "P2", "P3"), ())
        base = plan.files()[0].parent  # where the trees are that the plan names
        study = joint.study_file(base, plan, protocol="B", parties=owners, vertical=False)
        figures, released, memory = _rehearsed(study, joint.divided_rows(frame, 3), Path(folder))
        right = _as_pooled(figures, released, frame, plan)
    return _measured(Case("generated", "B", vertical=False, limit=0.05), right, figures, memory)


def judged_million(found: Measured) -> Iterator[Line]:
    """The large run against its targets."""
    yield Line(
        "1,000,000 generated rows, B horizontal, 3 parties",
        found.right,
        found.seconds,
        MILLION_SECONDS,
        note=f"{found.megabytes:.1f} MB sent; the megabytes are those of the helper",
        megabytes=found.memory.get("helper", 0.0),
        megabytes_target=MILLION_MEGABYTES,
    )
