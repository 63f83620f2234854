"""Wake up a long computation in the main thread when its run has ended."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator

SETTLE_SECONDS = 1.0
SIGNAL = getattr(signal, "SIGUSR1", None)


class Attention:
    """Interrupts the main thread, as Ctrl-C does, when the run has ended and the thread does not notice by itself.

    A role notices when it sends or receives. Between two messages it can compute for many minutes, and the run has to
    end within seconds. The signal is SIGUSR1, because Ctrl-C is ignored by programs that run in the background. Nothing
    is interrupted in another thread, if the program uses that signal itself, or on a system without it.
    """

    def __init__(self, *, active: bool) -> None:
        self._active = active and SIGNAL is not None
        self._lock = threading.Lock()
        self._computes = False
        self._sent = False
        self._arrived = threading.Event()

    def begin(self) -> None:
        """Watch over the block that begins now."""
        is_main = threading.current_thread() is threading.main_thread()
        if self._active and is_main and SIGNAL is not None and signal.getsignal(SIGNAL) is signal.SIG_DFL:
            signal.signal(SIGNAL, self._raise)
            self._computes = True

    @contextlib.contextmanager
    def noticing(self) -> Iterator[None]:
        """In this block the thread notices by itself that the run has ended."""
        with self._lock:
            computes, self._computes = self._computes, False
        try:
            yield
        finally:
            with self._lock:
                self._computes = computes and not self._sent

    def interrupt(self) -> None:
        """Interrupt the main thread if it computes."""
        with self._lock:
            if self._computes and SIGNAL is not None:
                self._computes = False
                self._sent = True
                signal.pthread_kill(threading.main_thread().ident or 0, SIGNAL)

    def end(self) -> bool:
        """End with the block; True if its KeyboardInterrupt came from here and not from the keyboard."""
        with contextlib.suppress(KeyboardInterrupt):
            with self._lock:
                self._computes = False
            until = time.monotonic() + SETTLE_SECONDS
            while self._sent and not self._arrived.is_set() and time.monotonic() < until:
                time.sleep(0.01)
        if SIGNAL is not None and signal.getsignal(SIGNAL) == self._raise:
            signal.signal(SIGNAL, signal.SIG_DFL)
        return self._sent

    def _raise(self, *_: object) -> None:
        self._arrived.set()
        raise KeyboardInterrupt
