"""Verifying a series: all releases are replayed from the state and the table, and linked with each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kohorte.data import read_table, to_polars, without_quotes
from kohorte.in_words import count
from kohorte.kernels.arrays import Integers
from kohorte.plans.plan import Plan
from kohorte.release.telling.formulas import ToldFormulas, file_points
from kohorte.release.telling.verdict import Verdict, judge
from kohorte.release.verification import ModelVerdict, Verification, verify_source
from kohorte.release.words import unit_of
from kohorte.series.checking.linking import Traces
from kohorte.series.drafting.growing_table import GrowingTable, Replayed
from kohorte.series.drafting.open_points import points_of_arrival, points_of_table
from kohorte.series.memory.fingerprints import content_sha256
from kohorte.series.memory.state import Entry, State
from kohorte.series.splitting.group_check import GroupCheck
from kohorte.sources import FrameSource


@dataclass(frozen=True)
class ReleaseVerdict:
    """One release: whether its models hold and it is finer than the one before, and how many rows fit a person.

    `candidates` are the fewest rows, or people, as `unit` says, that fit a person by all releases up to this one, even
    if the same row is recognised in all of them; `candidates_by_arrival` are those left if the time of arrival is known
    as well.
    `gone` rows were corrected, withdrawn or held back since; then the rest of the release is not verified on its own
    (`models` is None). `open_points` are those of this release.
    """

    number: int
    rows: int
    gone: int
    models: Verification | None
    finer: bool
    candidates: int | None
    candidates_by_arrival: int | None
    problems: tuple[str, ...]
    open_points: tuple[str, ...]
    unit: str

    def to_dict(self) -> dict[str, object]:
        """The verdict as plain data."""
        models = None if self.models is None else self.models.to_dict()
        said = {"problems": list(self.problems), "open_points": list(self.open_points)}
        return vars(self) | said | {"models": models, "satisfied": not self.problems}


@dataclass(frozen=True)
class FileVerdict:
    """A file that was compared: which release it is (None: not one of them), and whether its bytes are the same."""

    name: str
    number: int | None
    same_bytes: bool
    open_points: Sequence[str] = ()


@dataclass(frozen=True)
class SeriesVerification:
    """The verdict on a series; `points_of_table` are the open points of all its releases."""

    satisfied: bool
    releases: tuple[ReleaseVerdict, ...]
    files: tuple[FileVerdict, ...]
    problems: tuple[str, ...]
    least: int
    points_of_table: Sequence[str] = ()

    @property
    def models(self) -> tuple[ModelVerdict, ...]:
        """The verdicts of the models on all releases."""
        return tuple(model for release in self.releases if release.models for model in release.models.models)

    @property
    def _parts(self) -> Sequence[ReleaseVerdict | FileVerdict]:
        return (*self.releases, *self.files)

    @property
    def verdict(self) -> Verdict:
        """The verdict with its reasons, each named once."""
        of_parts = [point for one in self._parts for point in one.open_points]
        if not self.releases:
            of_parts.append("the series has no release yet, so that nothing was verified")
        return judge(self, tuple(dict.fromkeys((*self.points_of_table, *of_parts))))

    def to_dict(self) -> dict[str, object]:
        """The verdict as plain data."""
        return {
            "satisfied": self.satisfied,
            "least": self.least,
            "releases": [release.to_dict() for release in self.releases],
            "files": [vars(file) | {"open_points": list(file.open_points)} for file in self.files],
            "problems": list(self.problems),
            "verdict": self.verdict.to_dict(),
        }


def verify_series(table: GrowingTable, state: State, files: Sequence[object] = ()) -> SeriesVerification:
    """Replay all releases; the chain of hashes and the table as a superset were checked when they were read."""
    definition, traces = table.definition, Traces(table.positions)
    verdicts: list[ReleaseVerdict] = []
    for entry, replayed in zip(state.releases, table.replay(state), strict=True):
        traces.follow(replayed.generalization)
        verdicts.append(_verdict(table, state, entry, replayed, traces))
    found = tuple(_file(file, state, definition.plan) for file in files)
    problems = [problem for verdict in verdicts for problem in verdict.problems]
    problems += [f"{file.name} is not a release of this series" for file in found if file.number is None]
    least, points = definition.plan.smallest_class, points_of_table(table)
    return SeriesVerification(not problems, tuple(verdicts), found, tuple(problems), least, points)


def _verdict(table: GrowingTable, state: State, entry: Entry, replayed: Replayed, traces: Traces) -> ReleaseVerdict:
    number, definition = entry.number, table.definition
    rows, unit = table.rows_of(number), unit_of(definition.plan).many
    gone = entry.shown - len(rows)
    problems = _changes(entry, gone, sum(later.departed for later in state.releases[number:]))
    if entry.departed and (definition.settings.corrected, definition.settings.withdrawn) == ("refuse", "refuse"):
        problems.append(
            f"release {number} lost rows according to the state, which the settings of the series do not allow"
        )
    if not replayed.finer:
        problems.append(f"release {number} is not finer than the one before")
    if gone or not len(rows):
        gone_since = (f"release {number} cannot be verified again, because {_gone(gone)} since",)
        return ReleaseVerdict(
            number, entry.shown, gone, None, replayed.finer, None, None, tuple(problems), gone_since, unit
        )
    data = replayed.data()
    people = table.people_of(rows, data, number)
    models = verify_source(FrameSource(data), definition.plan, {}, people=people, all_rows=True)
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
    points = [*models.open_points, *ToldFormulas.of(FrameSource(data), definition.plan).open_points]
    points += points_of_arrival(definition, by_arrival.candidates)
    return ReleaseVerdict(
        number,
        entry.shown,
        gone,
        models,
        replayed.finer,
        linked.candidates,
        by_arrival.candidates,
        tuple(problems),
        tuple(points),
        unit,
    )


def _gone(rows: int) -> str:
    return f"{count(rows, 'row')} of it {'was' if rows == 1 else 'were'} corrected, withdrawn or held back"


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


def _file(given: object, state: State, plan: Plan) -> FileVerdict:
    """Find the release that a file is, by its bytes, or else by its content."""
    points: Sequence[str] = ()
    if isinstance(given, str | Path):
        written = read_table(given)
        points, (file, _) = file_points(written, plan), without_quotes(written, plan.formulas)
        name, frame, sha256 = file.path.name, file.frame, file.sha256
    else:
        name, frame, sha256 = "the frame", to_polars(given)[0], ""
    for entry in state.releases:
        if entry.output_sha256 == sha256 and sha256:
            return FileVerdict(name, entry.number, same_bytes=True, open_points=points)
    content = content_sha256(frame)
    shown = [entry.number for entry in state.releases if entry.content_sha256 == content]
    return FileVerdict(name, shown[0] if shown else None, same_bytes=False, open_points=points)
