"""The peak memory of each member of a rehearsal, watched from outside while it runs (Linux)."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

PAUSE = 0.05


class Watch:
    """Reads how much memory the child processes of this one have had at most, until the block ends.

    A process is known by its folder, which is named like the member.
    """

    def __init__(self) -> None:
        self.megabytes: dict[str, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(PAUSE):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    self._look(process)
                except OSError:  # it has ended
                    continue

    def _look(self, process: Path) -> None:
        status = (process / "status").read_text()
        if f"PPid:\t{os.getpid()}\n" not in status:
            return
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        peak = re.search(r"VmHWM:\s+(\d+) kB", status)
        if "--folder" in words and peak is not None:
            name = Path(words[words.index("--folder") + 1]).name
            self.megabytes[name] = max(self.megabytes.get(name, 0.0), int(peak[1]) / 1024)
