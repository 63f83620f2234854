"""A lock that is given in turn: whoever waits longest is next, and nobody is passed by."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType


class Turns:
    """Like `threading.Lock` in a `with`, but first come, first served.

    With a plain lock the thread that has just let go is the likeliest to get it again, and under load some waited for
    seconds.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._taken = False

    def __enter__(self) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()  # whoever has the turn lets go of this when it is ours

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
