"""Adding a release to its series, so that it is never half there.

The record of the rows is written under a new name. Then the state is replaced: at this moment the release is made. Only
then its files get their names; until that is done the state lists them, so that the next command can complete what a
killed process left (recovery.py).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kohorte.data import sha256_of
from kohorte.series.drafting.growing_table import Draft
from kohorte.series.memory.folder import SeriesFolder
from kohorte.series.memory.state import Entry, Pending, State, now

NOT_KEPT = ("splits", "smallest_arrival", "loss_before", "people", "few")
"""Figures that the state does not keep as such, because they follow from it and the table."""


def commit(
    folder: SeriesFolder,
    state: State,
    draft: Draft,
    *,
    output_sha256: str | None = None,
    pending: Sequence[Pending] = (),
) -> State:
    """Write the record of the rows, then replace the state; returns the new one."""
    name = f"rows-{draft.number:04}.bin"
    data = draft.record().to_bytes()
    figures = {key: value for key, value in vars(draft.figures).items() if key not in NOT_KEPT}
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


def pending_files(names: Sequence[tuple[Path, Path]], *, force: bool) -> list[Pending]:
    """The temporary files with the names that they are about to get, as the state lists them."""
    return [Pending(str(temporary), os.path.realpath(name), force) for temporary, name in names]
