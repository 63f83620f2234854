"""Written files are brought to the disk before they get their names."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def flush(path: Path) -> None:
    """Wait until a file, or all files of a folder, are on the disk."""
    for file in filter(Path.is_file, (path, *path.rglob("*"))):
        with file.open("rb") as opened:
            os.fsync(opened.fileno())


class Flushing:
    """Brings a written table to the disk while it is read again and verified."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait until it is there. The system reports an error of the disk only once, so it is raised here."""
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            flush(self._path)
        except OSError as error:
            self._error = error
