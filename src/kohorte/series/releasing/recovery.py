"""Completing what a killed process left: files of a release that was made, but that have no names yet."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kohorte.data import atomic_write, sha256_of
from kohorte.errors import KohorteError
from kohorte.series.memory.folder import SeriesFolder
from kohorte.series.memory.state import Pending, State


def name_pending_files(folder: SeriesFolder, state: State) -> tuple[State, str | None]:
    """Name the files that a killed process could not, and forget them.

    Returns the state without them, and what the user must know, if anything.
    """
    if not state.pending:
        return state, None
    with suppress(OSError, KohorteError):
        if all(_can_be_named(file) for file in state.pending):
            for file in state.pending:
                _name(file)
    for file in state.pending:
        with suppress(OSError):
            Path(file.temporary).unlink(missing_ok=True)
    after = replace(state, pending=())
    folder.write(after)
    last = state.last
    output = Path(state.pending[-1].name)
    if last is None or (output.is_file() and sha256_of(output) == last.output_sha256):
        return after, None
    return after, (
        f"release {last.number} was made, but its file was not written completely; write it again with "
        f"'kohorte series release {folder.path} DATA --again {last.number} --output FILE'"
    )


def _can_be_named(file: Pending) -> bool:
    """Whether a file has its name or can get it; if one cannot, none of the others is named either."""
    temporary, name = Path(file.temporary), Path(file.name)
    if not temporary.exists():
        return name.exists()
    return file.replaces or not os.path.lexists(name) or temporary.samefile(name)


def _name(file: Pending) -> None:
    temporary, name = Path(file.temporary), Path(file.name)
    if temporary.exists() and not (name.exists() and temporary.samefile(name)):
        with atomic_write(name, force=file.replaces) as fresh:  # a copy: a process that is killed here can repeat it
            shutil.copyfile(temporary, fresh)
