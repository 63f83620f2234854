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
        self._present: threading.Lock | None = None

    def __enter__(self) -> None:
        mine = threading.Lock()
        mine.acquire()
        try:
            with self._guard:
                if self._present is None:
                    self._present = mine
                    return
                self._waiting.append(mine)
            mine.acquire()  # whoever has the turn lets go of this when it is ours
        except BaseException:
            self._give_up(mine)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            self._hand_on()

    def _give_up(self, mine: threading.Lock) -> None:
        """Stop waiting; a turn that came meanwhile is the next one's."""
        with self._guard:
            if self._present is mine:
                self._hand_on()
            elif mine in self._waiting:
                self._waiting.remove(mine)

    def _hand_on(self) -> None:
        self._present = self._waiting.popleft() if self._waiting else None
        if self._present is not None:
            self._present.release()
