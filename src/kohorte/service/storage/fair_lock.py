"""A fair lock: threads get it in the order of their arrival."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType


class FairLock:
    """Like `threading.Lock` in a `with` statement, but first come, first served.

    A plain lock is likely to go back to the thread that has just released it, and under load others waited for seconds.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._owner: threading.Lock | None = None

    def __enter__(self) -> None:
        mine = threading.Lock()
        mine.acquire()
        try:
            with self._guard:
                if self._owner is None:
                    self._owner = mine
                    return
                self._waiting.append(mine)
            mine.acquire()  # released by the previous owner
        except BaseException:
            self._give_up(mine)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            self._hand_on()

    def _give_up(self, mine: threading.Lock) -> None:
        """Stop waiting; if the lock was handed over meanwhile, pass it on."""
        with self._guard:
            if self._owner is mine:
                self._hand_on()
            elif mine in self._waiting:
                self._waiting.remove(mine)

    def _hand_on(self) -> None:
        self._owner = self._waiting.popleft() if self._waiting else None
        if self._owner is not None:
            self._owner.release()
