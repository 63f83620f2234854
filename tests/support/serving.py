"""A service as its users run it: `kohorte serve` in a process of its own, on a free port."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SECONDS = 60


@dataclass(frozen=True)
class Served:
    """A running service: where it is, what it printed, and its process."""

    address: str
    token: str | None
    process: subprocess.Popen[str]
    log: Path


@contextmanager
def serving(folder: Path, *options: str, environment: dict[str, str] | None = None) -> Iterator[Served]:
    """Run the command until the block ends; nothing is left running."""
    log = folder.with_name(f"{folder.name}.log")
    command = [sys.executable, "-m", "kohorte.cli.main", "serve", "--folder", str(folder), "--port", "0", *options]
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ, **(environment or {})}
        ) as process,
    ):
        try:
            yield _served(process, log, folder / "setup-token")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(SECONDS)


def _served(process: subprocess.Popen[str], log: Path, token_file: Path) -> Served:
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if line.startswith("serving on "):
            break
    address = re.search(r"^serving on (\S+) ", text, flags=re.MULTILINE)
    assert address, text + log.read_text(encoding="utf-8")
    token = token_file.read_text().strip() if token_file.exists() else None
    assert (token is not None) == (str(token_file) in text)
    assert token is None or token not in text
    return Served(address[1], token, process, log)


def children(pid: int) -> list[int]:
    """Return the processes that a process has started, as the system lists them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            continue
        found += [int(path.parent.name)] if parent == pid else []
    return found


def family(pid: int) -> list[int]:
    """Return all that descend from a process."""
    return [one for child in children(pid) for one in (child, *family(child))]


def alive(pids: list[int]) -> list[int]:
    """Return which of some processes still run; one that has ended and was not fetched does not."""
    running = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except OSError:
            continue
        running += [pid] if state != "Z" else []
    return running
