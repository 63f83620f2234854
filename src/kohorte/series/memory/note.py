"""A note of the files that a command is about to write, so that the next one finds what a killed one left.

Such a file is a draft of a release that the series does not know, so it must not stay.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from kohorte.data import atomic_write

NOTE = "drafting"


@contextmanager
def noted(folder: Path, outputs: Sequence[Path]) -> Iterator[None]:
    """Note the outputs in the folder of the series while the block writes them.

    A folder that can only be read gets no note, because no release is made in it.
    """
    if os.access(folder, os.W_OK):
        with atomic_write(folder / NOTE, force=True) as temporary:
            temporary.write_text(json.dumps([os.path.realpath(output) for output in outputs]), encoding="utf-8")
    try:
        yield
    finally:
        sweep(folder)


def sweep(folder: Path) -> None:
    """Remove the temporary files of the outputs in the note, then the note."""
    note = folder / NOTE
    if not note.is_file():
        return
    with suppress(OSError):
        for path in _left(note):
            path.unlink(missing_ok=True)
        note.unlink()


def _left(note: Path) -> list[Path]:
    try:
        outputs = [Path(output) for output in json.loads(note.read_bytes())]
    except (ValueError, TypeError, RecursionError):
        return []
    return [path for output in outputs if output.parent.is_dir() for path in _temporaries(output)]


def _temporaries(output: Path) -> list[Path]:
    """The files that `atomic_write` makes on the way to this output."""
    name = re.compile(re.escape(f".{output.name[:100]}.") + r"[0-9a-f]{16}\.tmp")
    return [path for path in output.parent.iterdir() if name.fullmatch(path.name)]
