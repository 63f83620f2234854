"""A series: releases of a growing table, each finer than the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import polars as pl

from kohorte.data import FrameKind, TableFile, from_polars, sha256_of, to_polars
from kohorte.errors import InputError, KohorteError
from kohorte.pages import refuse_page
from kohorte.plans.plan import Plan
from kohorte.progress import Progress, ProgressCallback, Stage, tell
from kohorte.release.certificate import Certificate
from kohorte.release.write import StagedFiles, only_files
from kohorte.series.checking.backwards import refuse_backwards
from kohorte.series.checking.verification import SeriesVerification, verify_series
from kohorte.series.definition import Definition
from kohorte.series.drafting.growing_table import Draft, GrowingTable
from kohorte.series.drafting.kinds import read_growing_table
from kohorte.series.drafting.open_points import verdict_on
from kohorte.series.memory.fingerprints import content_sha256, key_check
from kohorte.series.memory.folder import SeriesFolder
from kohorte.series.memory.note import sweep
from kohorte.series.memory.state import Entry, Head, State, damaged, now
from kohorte.series.picture import write_page
from kohorte.series.releasing.certificate import Unpublished
from kohorte.series.releasing.commit import commit, pending_files
from kohorte.series.releasing.gate import Gate
from kohorte.series.releasing.publication import publish_release
from kohorte.series.releasing.recovery import name_pending_files
from kohorte.series.releasing.series_release import SeriesRelease, entry_of, figures_of
from kohorte.series.settings import SeriesSettings, settings_of
from kohorte.series.status.status import TOP, SeriesStatus, status_of


class Series:
    """A series and its folder. Every method that works on the series reads the folder again and holds its lock.

    `notices` are messages for the user, for example about a file that a killed process could not write.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = SeriesFolder(Path(folder))
        self._state = self._folder.read()
        self._definition = Definition.read(self._folder, self._state)
        self.notices: list[str] = []

    @classmethod
    def start(cls, folder: str | Path, plan: Plan, settings: object = None) -> Series:
        """Start a series in a new folder: fix plan, domains, target and key for all its releases."""
        if not isinstance(plan, Plan):
            raise InputError("give a Plan, for example Plan.from_yaml('plan.yaml')", code="plan-type")
        chosen = settings_of(settings)
        home = SeriesFolder(Path(folder))
        Definition.new(plan, chosen, b"-")  # refuse before anything is written
        with home.beginning():
            key = home.make_key()
            kept, hashes = home.keep_files(plan)
            definition = Definition.new(kept, chosen, key)
            home.write(State(_head(plan, definition, hashes)))
        return cls(home.path)

    @classmethod
    def open(cls, folder: str | Path, *, plan: Plan | None = None) -> Series:
        """Open a series; if `plan` is given, refuse a series that was started with another plan."""
        series = cls(folder)
        if plan is not None:
            series._refuse_other(plan)
        return series

    def _refuse_other(self, plan: Plan) -> None:
        head = self._state.head
        same = plan.fingerprint() == head.plan_sha256
        files = [sha256_of(path) for path in plan.files()]
        if not same or sorted(files) != sorted(head.files_sha256.values()):
            raise InputError(
                f"{self._folder.path}: the series was started with another plan; a series keeps its plan, so start a "
                "new series for this one",
                code="series-other-plan",
            )

    # Properties

    @property
    def folder(self) -> Path:
        """The folder of the series."""
        return self._folder.path

    @property
    def definition(self) -> Definition:
        """Plan, settings, axes and target."""
        return self._definition

    @property
    def plan(self) -> Plan:
        """The plan of all releases."""
        return self._definition.plan

    @property
    def settings(self) -> SeriesSettings:
        """The settings of the series."""
        return self._definition.settings

    @property
    def state(self) -> State:
        """The state of the series when it was last read."""
        return self._state

    @property
    def identity(self) -> str:
        """A short name of the series that stays the same, for other records of its releases."""
        return State(self._state.head).hash[:16]

    @property
    def history(self) -> tuple[Entry, ...]:
        """The releases so far."""
        return self._state.releases

    def __repr__(self) -> str:
        return f"<Series {str(self._folder.path)!r} releases={len(self.history)}>"

    # Actions

    def release(
        self,
        frame: object,
        output: str | Path | None = None,
        *,
        source: TableFile | None = None,
        force: bool = False,
        progress: ProgressCallback | None = None,
        gate: Gate | None = None,
    ) -> SeriesRelease:
        """Make the next release of the table as it is now, and write it with its certificate if `output` is given.

        From then on the release belongs to the series: every later release assumes that everybody has it. `progress` is
        called when a stage begins, and several times a second during the search; what it returns is ignored. `gate`
        examines the release, may leave people out of it, and remembers it before the series does.
        """
        progress = _watching(progress)
        files = self._output(output, source, force=force)
        with self._working() as state:
            if files is not None:
                refuse_backwards(state, files.paths[0])
            draft, kind = self._draft(frame, state, gate, progress)
            made = Unpublished(draft.table, state, draft.figures, draft.data, draft.people)
            try:
                joining = partial(self._commit, state, draft, force=force, gate=gate)
                certificate = publish_release(made, files, self._folder.path, commit=joining, progress=progress)
            finally:
                self._recover(self._state)
            self._folder.tidy(self._state)
        return SeriesRelease(
            **vars(draft.figures),
            data=from_polars(draft.data, kind),
            certificate=certificate,
            verdict=certificate.verdict,
        )

    def _draft(
        self, frame: object, state: State, gate: Gate | None, progress: ProgressCallback | None
    ) -> tuple[Draft, FrameKind]:
        """The next release; rows may be missing without leave only if the gate leaves them out."""
        table, kind = self._table(frame, state, progress)
        if gate is None:
            return table.draft(state, progress), kind
        whole, definition, record = to_polars(frame)[0], self._definition.letting_leave(), self._folder.record(state)

        def make(rows: pl.DataFrame) -> Draft:
            if rows.height == whole.height:
                return table.draft(state, progress)
            return read_growing_table(definition, rows, record).draft(state, progress)

        return gate.draft_passed(whole, make), kind

    def _commit(
        self,
        state: State,
        draft: Draft,
        sha256: str,
        names: Sequence[tuple[Path, Path]],
        *,
        force: bool,
        gate: Gate | None,
    ) -> None:
        if gate is not None:
            gate.commit(sha256, names)
        pending = pending_files(names, force=force)
        self._state = commit(self._folder, state, draft, output_sha256=sha256 or None, pending=pending)

    def preview(
        self, frame: object, *, progress: ProgressCallback | None = None, gate: Gate | None = None
    ) -> SeriesRelease:
        """Describe the next release without making it: no row is returned, and the series does not change."""
        progress = _watching(progress)
        with self._working() as state:
            draft, _ = self._draft(frame, state, gate, progress)
            return SeriesRelease(**vars(draft.figures), data=None, verdict=verdict_on(draft))

    def status(self, frame: object = None, *, top: int = TOP) -> SeriesStatus:
        """Describe the releases so far; with a table, also what the next one would gain and what more rows would allow.

        At most `top` regions that lack rows are listed.
        """
        if frame is None:
            self._look()
            return status_of(self._definition, self._state)
        with self._working() as state:
            table, _ = self._table(frame, state)
            return status_of(self._definition, state, table, top=top)

    def write_picture(self, path: str | Path, of: object = None, *, force: bool = False) -> None:
        """Draw the series as an HTML page without rows; `of`, a table or its status, adds the next release."""
        self.refuse_picture(Path(path), force=force)
        status = of if isinstance(of, SeriesStatus) else self.status(of)
        write_page(self._definition, self._state, status, Path(path), force=force)

    def refuse_picture(self, path: Path, *, needed: Sequence[str] = (), force: bool) -> None:
        """Refuse a picture that could not be written, before any work is done."""
        refuse_page(path, needed=(*self.plan.files(), *needed), force=force)
        self._refuse_inside(path)

    def again(
        self,
        number: int,
        frame: object,
        output: str | Path | None = None,
        *,
        source: TableFile | None = None,
        force: bool = False,
        gate: Gate | None = None,
    ) -> SeriesRelease:
        """Make an earlier release again from the table as it is now, with the same rows and cells."""
        files = self._output(output, source, force=force)
        with self._working() as state:
            entry = entry_of(state, number)
            table, kind = self._table(frame, state)
            replayed = table.replayed(state, number)
            data = replayed.data()
            if content_sha256(data) != entry.content_sha256:
                raise InputError(
                    f"release {number} cannot be made again from this table: rows that it showed were corrected, "
                    "withdrawn or held back since",
                    code="series-again",
                )
            figures, people = figures_of(entry, table, replayed), table.people_of(table.rows_of(number), data, number)
            made = Unpublished(table, state, figures, data, people)
            if gate is not None:
                rows = table.rows_of(number)
                gate.again_passed(
                    to_polars(frame)[0], rows, replayed.generalization.locate(table.positions[rows]), data
                )
            commits = only_files if gate is None else gate.commit
            certificate = publish_release(made, files, self._folder.path, commit=commits)
        return SeriesRelease(
            **vars(figures), data=from_polars(data, kind), certificate=certificate, verdict=certificate.verdict
        )

    def verify(self, frame: object, releases: Sequence[object] = ()) -> SeriesVerification:
        """Make all releases again from the state and the table, verify them, and compare the given files or frames."""
        with self._working() as state:
            table, _ = self._table(frame, state)
            return verify_series(table, state, releases)

    @contextmanager
    def _working(self) -> Iterator[State]:
        with self._folder.locked():
            state = self._folder.read()
            if state.head != self._state.head:
                raise damaged("another series was started in its folder")
            self._recover(state)
            self._folder.tidy(self._state)
            yield self._state

    def _look(self) -> None:
        """Read the state; if no other command holds the lock, also complete what a killed command left."""
        try:
            with self._working():
                pass
        except KohorteError as error:
            if error.code not in ("series-locked", "series-lock-failed"):
                raise
            self._state = self._folder.read()
            if error.code == "series-locked":
                self.notices.append("another command is using this series; what you see is the state before it")

    def _recover(self, state: State) -> None:
        """Complete or remove the files of a command that did not finish."""
        self._state, notice = name_pending_files(self._folder, state)
        sweep(self._folder.path)
        if notice is not None:
            self.notices.append(notice)

    def _table(
        self, frame: object, state: State, progress: ProgressCallback | None = None
    ) -> tuple[GrowingTable, FrameKind]:
        polars, kind = to_polars(frame)
        tell(progress, Stage.ENCODING, f"{polars.height:,} rows and recognising those of earlier releases")
        return read_growing_table(self._definition, polars, self._folder.record(state)), kind

    def _output(self, path: str | Path | None, source: TableFile | None, *, force: bool) -> StagedFiles | None:
        if path is None:
            return None
        self._refuse_inside(Path(path))
        return StagedFiles(Path(path), self.plan, source=source, force=force)

    def _refuse_inside(self, output: Path) -> None:
        """Refuse an output in the folder of the series."""
        if output.resolve().is_relative_to(self._folder.path.resolve()):
            raise InputError(
                f"{output}: the folder of a series is secret and holds no releases; choose another folder for the "
                "output",
                code="series-output-inside",
            )


def _made(release: Unpublished, certificate: Certificate, kind: FrameKind) -> SeriesRelease:
    """A release that was certified, with its rows as a frame of the same library as the input."""
    data, verdict = from_polars(release.data, kind), certificate.verdict
    return SeriesRelease(**vars(release.figures), data=data, verdict=verdict, certificate=certificate)


def _watching(progress: ProgressCallback | None) -> ProgressCallback | None:
    """The same callback; its answer is ignored, because a release of a series is not left unfinished."""
    if progress is None:
        return None

    def watch(report: Progress) -> None:
        progress(report)

    return watch


def _head(plan: Plan, definition: Definition, hashes: dict[str, str]) -> Head:
    target = definition.target
    return Head(
        created=now(),
        plan=definition.plan.to_dict(),
        plan_sha256=plan.fingerprint(),
        files_sha256=hashes,
        settings=definition.settings.to_dict(),
        axes={domain.name: domain.to_dict() for domain in definition.domains},
        target=None if target is None else target.to_dict(),
        key_check=key_check(definition.key),
    )
