"""Verifying a series: all releases are replayed from the state and the table, and linked with each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kohorte.data import Formulas, read_table, to_polars, without_quotes
from kohorte.kernels.arrays import Integers
from kohorte.release.verification import Verification, verify_source
from kohorte.series.checking.linking import Traces
from kohorte.series.drafting.growing_table import GrowingTable, Replayed
from kohorte.series.memory.fingerprints import content_sha256
from kohorte.series.memory.state import Entry, State
from kohorte.series.splitting.group_check import GroupCheck
from kohorte.sources import FrameSource


@dataclass(frozen=True)
class ReleaseVerdict:
    """One release: whether its models hold and it is finer than the one before, and how many rows fit a person.

    `candidates` are the fewest rows (people, where people are counted) that fit a person by all releases up to this
    one, even if the same row is recognised in all of them; `candidates_by_arrival` are those left if the time of
    arrival is known as well.
    `gone` rows were corrected, withdrawn or held back since; then the rest of the release is not verified on its own
    (`models` is None).
    """

    number: int
    rows: int
    gone: int
    models: Verification | None
    finer: bool
    candidates: int | None
    candidates_by_arrival: int | None
    problems: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """The verdict as plain data."""
        models = None if self.models is None else self.models.to_dict()
        return vars(self) | {"models": models, "problems": list(self.problems), "satisfied": not self.problems}


@dataclass(frozen=True)
class FileVerdict:
    """A file that was compared: which release it is (None: not one of them), and whether its bytes are the same."""

    name: str
    number: int | None
    same_bytes: bool


@dataclass(frozen=True)
class SeriesVerification:
    """The verdict on a series."""

    satisfied: bool
    releases: tuple[ReleaseVerdict, ...]
    files: tuple[FileVerdict, ...]
    problems: tuple[str, ...]
    least: int

    def to_dict(self) -> dict[str, object]:
        """The verdict as plain data."""
        return {
            "satisfied": self.satisfied,
            "least": self.least,
            "releases": [release.to_dict() for release in self.releases],
            "files": [dict(vars(file)) for file in self.files],
            "problems": list(self.problems),
        }


def verify_series(table: GrowingTable, state: State, files: Sequence[object] = ()) -> SeriesVerification:
    """Replay all releases; the chain of hashes and the table as a superset were checked when they were read."""
    definition, traces = table.definition, Traces(table.positions)
    verdicts: list[ReleaseVerdict] = []
    for entry, replayed in zip(state.releases, table.replay(state), strict=True):
        traces.follow(replayed.generalization)
        verdicts.append(_verdict(table, state, entry, replayed, traces))
    found = tuple(_file(file, state, definition.plan.formulas) for file in files)
    problems = [problem for verdict in verdicts for problem in verdict.problems]
    problems += [f"{file.name} is not a release of this series" for file in found if file.number is None]
    return SeriesVerification(not problems, tuple(verdicts), found, tuple(problems), definition.plan.smallest_class)


def _verdict(table: GrowingTable, state: State, entry: Entry, replayed: Replayed, traces: Traces) -> ReleaseVerdict:
    number, definition = entry.number, table.definition
    rows = table.rows_of(number)
    gone = entry.shown - len(rows)
    problems = _changes(entry, gone, sum(later.departed for later in state.releases[number:]))
    if entry.departed and (definition.settings.corrected, definition.settings.withdrawn) == ("refuse", "refuse"):
        problems.append(
            f"release {number} lost rows according to the state, which the settings of the series do not allow"
        )
    if not replayed.finer:
        problems.append(f"release {number} is not finer than the one before")
    if gone or not len(rows):
        return ReleaseVerdict(number, entry.shown, gone, None, replayed.finer, None, None, tuple(problems))
    data = replayed.data()
    models = verify_source(FrameSource(data), definition.plan, {}, people=table.people_of(rows, data, number))
    if not models.satisfied:
        problems.append(f"release {number} does not satisfy the models")
    if content_sha256(data) != entry.content_sha256:
        problems.append(f"what release {number} showed is not what the state and the table give")
    if not _figures_hold(entry, replayed, table, rows):
        problems.append(f"the figures of release {number} in the state do not match its rows")
    check = GroupCheck.of(table.frame[rows], definition.plan)
    linked = traces.linked(rows, check)
    by_arrival = traces.linked(rows, check, table.comparison.arrivals[rows])
    if not linked.satisfied or (definition.by_arrival and not by_arrival.satisfied):
        problems.append(f"linking the releases up to {number} leaves groups that do not satisfy the models")
    return ReleaseVerdict(
        number, entry.shown, gone, models, replayed.finer, linked.candidates, by_arrival.candidates, tuple(problems)
    )


def _figures_hold(entry: Entry, replayed: Replayed, table: GrowingTable, rows: Integers) -> bool:
    """Whether the state has the right number of regions, smallest region, rows held back and loss."""
    found = replayed.fineness()
    smallest = int(table.sizes(replayed.generalization.locate(table.positions[rows]), rows).min())
    same = (found.regions, smallest, entry.rows - len(rows)) == (entry.regions, entry.smallest_region, entry.held)
    return same and math.isclose(found.loss, entry.loss, rel_tol=1e-9, abs_tol=1e-12)


def _changes(entry: Entry, gone: int, departed: int) -> list[str]:
    """Rows of a release may be gone only where later releases say so."""
    if 0 <= gone <= departed:
        return []
    return [f"release {entry.number} showed {entry.shown:,} rows, of which {abs(gone):,} are not accounted for"]


def _file(given: object, state: State, formulas: Formulas) -> FileVerdict:
    """Find the release that a file is, by its bytes, or else by its content."""
    if isinstance(given, str | Path):
        file, _ = without_quotes(read_table(given), formulas)
        name, frame, sha256 = file.path.name, file.frame, file.sha256
    else:
        name, frame, sha256 = "the frame", to_polars(given)[0], ""
    for entry in state.releases:
        if entry.output_sha256 == sha256 and sha256:
            return FileVerdict(name, entry.number, same_bytes=True)
    content = content_sha256(frame)
    shown = [entry.number for entry in state.releases if entry.content_sha256 == content]
    return FileVerdict(name, shown[0] if shown else None, same_bytes=False)
