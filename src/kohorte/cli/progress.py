"""The progress of a command on a terminal: one line that says what is done, how far it is, and how long it may take."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from kohorte.cli.time_left import TimeLeft
from kohorte.in_words import size
from kohorte.progress import Progress, Stage

AT_MOST_EVERY = 0.1
"""Seconds between two updates of the same stage; a new stage is shown at once."""
COLUMNS = 80


def add_quiet_option(parser: argparse.ArgumentParser) -> None:
    """Add --quiet."""
    parser.add_argument("--quiet", action="store_true", help="show no progress on the terminal")


class TerminalProgress:
    """Shows the progress of a command in one line of standard error, on a terminal only; the end removes the line."""

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._stage = ""
        self._updated = 0.0
        self._width = 0
        self._left = TimeLeft()

    @classmethod
    def of(cls, options: argparse.Namespace) -> Self:
        """The progress of a command; none with --json or --quiet."""
        return cls(quiet=getattr(options, "json", False) or options.quiet)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.done()

    def stage(self, stage: Stage, what: str = "") -> None:
        """Show that a stage begins."""
        self(Progress(stage=stage, what=what, unit=""))

    def reading(self, path: str) -> None:
        """Show that a file is read, with its size."""
        try:
            amount = f" ({size(os.stat(path).st_size)})"  # noqa: PTH116 - whatever is wrong, reading it will say
        except (OSError, ValueError):
            amount = ""
        self.stage(Stage.READING, f"{Path(path).name}{amount}")

    def __call__(self, progress: Progress) -> None:
        """Show the progress."""
        if not self._shown:
            return
        now = time.monotonic()
        stage = f"{progress.stage} {progress.what}"
        if stage != self._stage:
            self._stage, self._left = stage, TimeLeft()
        elif now - self._updated < AT_MOST_EVERY:
            return
        self._updated = now
        self._show(progress.with_time(self._left.in_words(now, progress.share, progress.ends_in) or ""))

    def _show(self, text: str) -> None:
        """Write over the line; it is cut to the width of the terminal, because a second line could not be removed."""
        text = _cut("".join(letter if letter.isprintable() else " " for letter in text), _columns() - 1)
        print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def say(self, sentence: str) -> None:
        """Tell the person something in a line of its own, also if it is not a terminal."""
        self.done()
        print(sentence, file=sys.stderr, flush=True)

    def done(self) -> None:
        """Remove the line."""
        if self._width:
            self._show("")
            print("\r", end="", file=sys.stderr, flush=True)


def _cut(text: str, width: int) -> str:
    """Leave out what does not fit: figures as a whole, because the beginning of a number is another number."""
    if len(text) <= width:
        return text
    end = text.rfind(", ", 0, width + 2)
    return text[: end if end > 0 else width]


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or COLUMNS
    except (OSError, ValueError, AttributeError):
        return COLUMNS
