"""How long the phases of a run take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from kohorte.parties.transport.channel import Channel


class Timing:
    """The seconds of each phase, waiting for others included; the channel is told the phase, for its messages."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Measure what is done within the block."""
        started, self._channel.phase = time.perf_counter(), phase
        yield
        self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - started
