"""A series: releases of a growing table, each finer than the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kohorte.data import FrameKind, TableFile, from_polars, sha256_of, to_polars
from kohorte.drawing import refuse_page
from kohorte.errors import InputError, KohorteError
from kohorte.release.certificate import Certificate
from kohorte.release.plan import Plan
from kohorte.release.verification import verify_table
from kohorte.release.write import Naming
from kohorte.series.backwards import refuse_backwards
from kohorte.series.certificate import certify_release, now
from kohorte.series.definition import Definition
from kohorte.series.growing import Drafted, GrowingTable
from kohorte.series.kinds import read_table
from kohorte.series.memory.committing import about_to_be_named, commit, settle
from kohorte.series.memory.drafting import noted, sweep
from kohorte.series.memory.fingerprints import key_check
from kohorte.series.memory.folder import SeriesFolder
from kohorte.series.memory.state import Entry, Head, State, damaged
from kohorte.series.output import content_sha256
from kohorte.series.picture import write_page
from kohorte.series.series_release import SeriesRelease, entry_of, figures_of
from kohorte.series.settings import SeriesSettings, settings_of
from kohorte.series.status.status import TOP, SeriesStatus, status_of
from kohorte.series.verification import SeriesVerification, verify_series
from kohorte.series.writing import Output, refuse_inside


class Series:
    """A series in its folder. Every call reads the folder anew and holds its lock while it works.

    `notices` says what the user must know besides, such as a file that a killed process could not write.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = SeriesFolder(Path(folder))
        self._state = self._folder.read()
        self._definition = Definition.read(self._folder, self._state)
        self.notices: list[str] = []

    @classmethod
    def start(cls, folder: str | Path, plan: Plan, settings: object = None) -> Series:
        """Begin a series in a new folder: fix plan, domains, target and key for all releases to come."""
        if not isinstance(plan, Plan):
            raise InputError("give a Plan, for example Plan.from_yaml('plan.yaml')", code="plan-type")
        chosen = settings_of(settings)
        place = SeriesFolder(Path(folder))
        Definition.new(plan, chosen, b"-")  # refuse before anything is written
        with place.beginning():
            key = place.make_key()
            kept, hashes = place.keep_files(plan)
            definition = Definition.new(kept, chosen, key)
            place.write(State(_head(plan, definition, hashes)))
        return cls(place.path)

    @classmethod
    def open(cls, folder: str | Path, *, plan: Plan | None = None) -> Series:
        """Open a series; with `plan`, refuse one that was started with another plan."""
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
                f"{self._folder.path}: the series was started with another plan; a series keeps its plan, another plan "
                "needs a series of its own",
                code="series-other-plan",
            )

    # What there is

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
        """The state as it was read last."""
        return self._state

    @property
    def history(self) -> tuple[Entry, ...]:
        """The releases so far."""
        return self._state.releases

    def __repr__(self) -> str:
        return f"<Series {str(self._folder.path)!r} releases={len(self.history)}>"

    # What can be done

    def release(
        self, frame: object, output: str | Path | None = None, *, source: TableFile | None = None, force: bool = False
    ) -> SeriesRelease:
        """Make the next release of the table as it is now, and write it with its certificate if `output` is given.

        From then on the release belongs to the series: what it showed is taken as known to everybody.
        """
        file = None if output is None else Output(Path(output), source, force)
        with self._working() as state:
            if file is not None:
                refuse_inside(file.path, self._folder.path)
                refuse_backwards(state, file.path)
            table, kind = self._table(frame, state)
            draft = table.draft(state)
            if file is None:
                certificate: Certificate = certify_release(
                    draft.figures, draft.data, self._definition, state, verification=draft.verification
                )
                self._state = commit(self._folder, state, draft, output_sha256=None)
            else:
                certificate = self._write(draft, state, file)
            self._folder.tidy(self._state)
        data = from_polars(draft.data, kind)
        return SeriesRelease(**vars(draft.figures), data=data, certificate=certificate)

    def preview(self, frame: object) -> SeriesRelease:
        """Say what the next release would be, without making it: no row of it is shown, and nothing changes."""
        with self._working() as state:
            table, _ = self._table(frame, state)
            return SeriesRelease(**vars(table.draft(state).figures), data=None)

    def status(self, frame: object = None, *, top: int = TOP) -> SeriesStatus:
        """Tell how the series stands; with a table also what the next release would gain, and what is missing.

        Of the regions that lack rows, `top` are named.
        """
        if frame is None:
            self._look()
            return status_of(self._definition, self._state)
        with self._working() as state:
            table, _ = self._table(frame, state)
            return status_of(self._definition, state, table, top=top)

    def write_picture(self, path: str | Path, of: object = None, *, force: bool = False) -> None:
        """Draw the series as one HTML page. No row is in it.

        Of a table, or of the status that was made of one, the next release is drawn, too.
        """
        self.refuse_picture(Path(path), force=force)
        status = of if isinstance(of, SeriesStatus) else self.status(of)
        write_page(self._definition, self._state, status, Path(path), force=force)

    def refuse_picture(self, path: Path, *, needed: Sequence[str] = (), force: bool) -> None:
        """Refuse, before any work is done, a picture that could not be written."""
        refuse_page(path, needed=(*self.plan.files(), *needed), force=force)
        refuse_inside(path, self._folder.path)

    def again(
        self,
        number: int,
        frame: object,
        output: str | Path | None = None,
        *,
        source: TableFile | None = None,
        force: bool = False,
    ) -> SeriesRelease:
        """Give an earlier release again: the same rows and cells, from the table as it is now."""
        file = None if output is None else Output(Path(output), source, force)
        with self._working() as state:
            if file is not None:
                refuse_inside(file.path, self._folder.path)
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
            figures = figures_of(entry, table, replayed)
            if file is None:
                certificate: Certificate = certify_release(
                    figures, data, self._definition, state, verification=verify_table(data, self.plan, {})
                )
            else:
                with noted(self._folder.path, file.files):
                    certificate = file.write(data, figures, self._definition, state)
        return SeriesRelease(**vars(figures), data=from_polars(data, kind), certificate=certificate)

    def verify(self, frame: object, releases: Sequence[object] = ()) -> SeriesVerification:
        """Replay all releases from the state and the table, and compare release files (or frames) with them."""
        with self._working() as state:
            table, _ = self._table(frame, state)
            return verify_series(table, state, releases)

    @contextmanager
    def _working(self) -> Iterator[State]:
        with self._folder.locked():
            state = self._folder.read()
            if state.head != self._state.head:
                raise damaged("another series was started in its folder")
            self._settle(state)
            yield self._state

    def _look(self) -> None:
        """Read the state, and complete what a killed command left unless another one works with the series."""
        try:
            with self._working():
                pass
        except KohorteError as error:
            if error.code not in ("series-locked", "series-lock-failed"):
                raise
            self._state = self._folder.read()
            if error.code == "series-locked":
                self.notices.append("another command works with this series at the moment; this is how it was before")

    def _settle(self, state: State) -> None:
        self._state, notice = settle(self._folder, state)
        sweep(self._folder.path)
        if notice is not None:
            self.notices.append(notice)

    def _table(self, frame: object, state: State) -> tuple[GrowingTable, FrameKind]:
        polars, kind = to_polars(frame)
        return read_table(self._definition, polars, self._folder.record(state)), kind

    def _write(self, draft: Drafted, state: State, file: Output) -> Certificate:
        """Write the release and verify it from the file, make it part of the series, and only then name its files."""

        def made(naming: Naming, sha256: str) -> None:
            pending = about_to_be_named(naming, force=file.force)
            self._state = commit(self._folder, state, draft, output_sha256=sha256, pending=pending)

        with noted(self._folder.path, file.files):
            try:
                return file.write(draft.data, draft.figures, self._definition, state, made)
            finally:
                self._settle(self._state)


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
