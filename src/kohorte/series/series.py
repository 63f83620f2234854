"""A series: releases of a growing table, each finer than the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import polars as pl

from kohorte.data import FrameKind, TableFile, from_polars, sha256_of, to_polars
from kohorte.drawing import refuse_page
from kohorte.errors import InputError
from kohorte.release.certificate import Certificate
from kohorte.release.plan import Plan
from kohorte.release.verification import verify_table
from kohorte.release.write import Naming, file_facts, write_certified
from kohorte.series.certificate import certify_release, now
from kohorte.series.definition import Definition
from kohorte.series.growing import Drafted, Figures, GrowingTable, Replayed, refuse_unverified, smallest_arrival
from kohorte.series.kinds import read_table
from kohorte.series.memory.committing import about_to_be_named, commit, settle
from kohorte.series.memory.fingerprints import key_check
from kohorte.series.memory.folder import SeriesFolder
from kohorte.series.memory.state import Entry, Head, State, damaged
from kohorte.series.output import content_sha256
from kohorte.series.picture import write_page
from kohorte.series.settings import SeriesSettings, settings_of
from kohorte.series.status.status import TOP, SeriesStatus, status_of
from kohorte.series.verification import SeriesVerification, verify_series


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesRelease(Figures):
    """One release of a series: its rows in `data` (None where it was only tried), its figures and its certificate."""

    data: Any = field(repr=False)
    certificate: Certificate | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, object]:
        """The figures, as `kohorte series release --json` prints them."""
        return {one.name: getattr(self, one.name) for one in fields(Figures)}


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
        place.prepare()
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
        with self._working() as state:
            table, kind = self._table(frame, state)
            draft = table.draft(state)
            if output is None:
                certificate: Certificate = certify_release(draft.figures, self._definition, state, draft.verification)
                self._state = commit(self._folder, state, draft, output_sha256=None)
            else:
                certificate = self._write(draft, state, Path(output), source=source, force=force)
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
        _refuse_inside(path, self._folder.path)

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
        with self._working() as state:
            entry = _entry(state, number)
            table, kind = self._table(frame, state)
            replayed = table.replayed(state, number)
            data = replayed.data()
            if content_sha256(data) != entry.content_sha256:
                raise InputError(
                    f"release {number} cannot be made again from this table: rows that it showed were corrected, "
                    "withdrawn or held back since",
                    code="series-again",
                )
            figures = _figures(entry, table, replayed)
            if output is None:
                verification = verify_table(data, self.plan, {})
                certificate: Certificate = certify_release(figures, self._definition, state, verification)
            else:
                certificate = self._write_files(data, figures, state, Path(output), source=source, force=force)
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

    def _settle(self, state: State) -> None:
        self._state, notice = settle(self._folder, state)
        if notice is not None:
            self.notices.append(notice)

    def _table(self, frame: object, state: State) -> tuple[GrowingTable, FrameKind]:
        polars, kind = to_polars(frame)
        return read_table(self._definition, polars, self._folder.record(state)), kind

    def _write(
        self, draft: Drafted, state: State, output: Path, *, source: TableFile | None, force: bool
    ) -> Certificate:
        """Write the release and verify it from the file, make it part of the series, and only then name its files."""

        def made(naming: Naming, sha256: str) -> None:
            pending = about_to_be_named(naming, force=force)
            self._state = commit(self._folder, state, draft, output_sha256=sha256, pending=pending)

        try:
            return self._write_files(draft.data, draft.figures, state, output, source=source, force=force, made=made)
        finally:
            self._settle(self._state)

    def _write_files(
        self,
        data: pl.DataFrame,
        figures: Figures,
        state: State,
        output: Path,
        *,
        source: TableFile | None,
        force: bool,
        made: Callable[[Naming, str], None] | None = None,
    ) -> Certificate:
        _refuse_inside(output, self._folder.path)
        hashes: list[str] = []

        def certified(written: TableFile) -> Certificate:
            hashes.append(written.sha256)
            verification = verify_table(written.frame, self.plan, {})
            refuse_unverified(verification, data)
            input_file = None if source is None else file_facts(source)
            return certify_release(
                figures, self._definition, state, verification, source=input_file, output=file_facts(written)
            )

        return write_certified(
            data,
            output,
            certified,
            inputs=() if source is None else (source.path,),
            like=source,
            force=force,
            before_naming=None if made is None else lambda naming: made(naming, hashes[0]),
        )


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


def _entry(state: State, number: int) -> Entry:
    if type(number) is not int or not 1 <= number <= len(state.releases):
        raise InputError(
            f"there is no release {number!r}: the series has {len(state.releases)}", code="series-no-release"
        )
    return state.releases[number - 1]


def _figures(entry: Entry, table: GrowingTable, replayed: Replayed) -> Figures:
    rows = table.rows_of(entry.number)
    arrivals = table.comparison.arrivals[rows]
    kept = {one.name: getattr(entry, one.name) for one in fields(Figures) if hasattr(entry, one.name)}
    told = smallest_arrival(replayed.cover.locate(table.places[rows]), arrivals)
    return Figures(**kept | {"splits": len(entry.splits), "smallest_arrival": told})


def _refuse_inside(output: Path, folder: Path) -> None:
    if output.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            f"{output}: releases do not belong into the folder of the series, which is secret; give another place",
            code="series-output-inside",
        )
