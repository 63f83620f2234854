"""Making a release part of its series: the order in which files are written, so that none is ever half there.

The record of the rows is written under a new name, then the state is replaced: that is the moment at which the release
is made. Only then its files get their names, which the state knows until it is done; whoever opens the series next
completes what a killed process left.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kohorte.data import atomic_write, sha256_of
from kohorte.errors import KohorteError
from kohorte.release.write import Naming
from kohorte.series.certificate import now
from kohorte.series.growing import Drafted
from kohorte.series.memory.folder import SeriesFolder
from kohorte.series.memory.state import Entry, Pending, State


def commit(
    folder: SeriesFolder, state: State, draft: Drafted, *, output_sha256: str | None, pending: Sequence[Pending] = ()
) -> State:
    """Add a release to the series."""
    name = f"rows-{draft.number:04}.bin"
    data = draft.record().to_bytes()
    figures = {key: value for key, value in vars(draft.figures).items() if key not in ("splits", "smallest_arrival")}
    entry = Entry(
        **figures,
        time=now(),
        departed=draft.departed,
        splits=draft.splits,
        content_sha256=draft.content_sha256,
        output_sha256=output_sha256,
        rows_file=name,
        rows_sha256=sha256_of(data),
        previous=state.hash,
    )
    after = replace(state, releases=(*state.releases, entry), pending=tuple(pending))
    folder.write_rows(name, data)
    folder.write(after)
    return after


def about_to_be_named(naming: Naming, *, force: bool) -> list[Pending]:
    """The files that get their names when the release is made."""
    return [Pending(str(temporary), os.path.realpath(name), force) for temporary, name in naming]


def settle(folder: SeriesFolder, state: State) -> tuple[State, str | None]:
    """Name the files that a killed process could not, and forget them; returns what the user must know, if anything."""
    if not state.pending:
        return state, None
    with suppress(OSError, KohorteError):
        if all(_can_be_named(file) for file in state.pending):
            for file in state.pending:
                _name(file)
    for file in state.pending:
        with suppress(OSError):
            Path(file.temporary).unlink(missing_ok=True)
    settled = replace(state, pending=())
    folder.write(settled)
    last = state.last
    output = Path(state.pending[-1].name)
    if last is None or (output.is_file() and sha256_of(output) == last.output_sha256):
        return settled, None
    return settled, (
        f"release {last.number} was made, but its file was not written to the end; write it again with "
        f"'kohorte series release {folder.path} DATA --again {last.number} --output FILE'"
    )


def _can_be_named(file: Pending) -> bool:
    """Whether a file has its name or can get it; where one cannot, none of the others shall stand there alone."""
    temporary, name = Path(file.temporary), Path(file.name)
    if not temporary.exists():
        return name.exists()
    return file.replaces or not os.path.lexists(name) or temporary.samefile(name)


def _name(file: Pending) -> None:
    temporary, name = Path(file.temporary), Path(file.name)
    if temporary.exists() and not (name.exists() and temporary.samefile(name)):
        with atomic_write(name, force=file.replaces) as fresh:  # a copy: whoever is killed here can do it again
            shutil.copyfile(temporary, fresh)
