"""Kill this process (SIGKILL) at the n-th of some moments."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kohorte.trust.store import Store


class Countdown:
    """Counts moments; at the last one the process is killed."""

    def __init__(self, number: int) -> None:
        self._left = number

    def count(self) -> None:
        """Note a moment."""
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def count_transactions(self) -> None:
        """Note the moments before and after the end of each transaction that writes."""
        writing = Store.writing

        @contextmanager
        def counted(store: Store) -> Iterator[Any]:
            with writing(store) as connection:
                yield connection
                self.count()
            self.count()

        Store.writing = counted  # type: ignore[method-assign]
