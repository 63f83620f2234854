"""The memory that work on whole tables may take in a server process, beside the tables that are kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kohorte.errors import InputError

TRYING, READING = 160, 40
"""Bytes that trying a plan on a table, or only reading the table, takes at most for each of its cells.

Measured on cohorts of 30,000 to a million rows."""


class MemoryRoom:
    """A number of bytes that are shared out: who needs more than is free waits, who needs more than all is refused.

    What a thread does within its own work takes no further room, so that it cannot wait for itself.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._taken = 0
        self._changed = threading.Condition()
        self._mine = threading.local()

    @property
    def taken(self) -> int:
        """The bytes that are in use."""
        with self._changed:
            return self._taken

    @contextmanager
    def taking(self, cells: int, bytes_of_a_cell: int = TRYING) -> Iterator[None]:
        """Take the room for work on a table of so many cells, as soon as there is enough."""
        if getattr(self._mine, "works", False):
            yield
            return
        needed = cells * bytes_of_a_cell
        if needed > self._most:
            raise InputError(
                f"the table has {cells:,} cells, too many to look at or to try plans on while somebody waits: that can "
                f"take {needed:,} bytes of memory, and the setting preview_memory allows {self._most:,}; the release "
                "of a project is made by a job, which may take more",
                code="preview-too-large",
            )
        with self._changed:
            self._changed.wait_for(lambda: self._taken + needed <= self._most)
            self._taken += needed
        self._mine.works = True
        try:
            yield
        finally:
            self._mine.works = False
            with self._changed:
                self._taken -= needed
                self._changed.notify_all()
