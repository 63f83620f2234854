"""The command of a party that fails at a message: python -m support.failing_party SIDE KIND HOW BEAT party serve ...

`send KIND` fails before the first message of this kind is sent, `receive KIND` after it was received. HOW is the name
of a signal, which the process sends itself, or what is wrong with the message: `malformed`, `other-kind`, `twice`. The
process prints `failing` before it fails. With `- - - BEAT` it never fails. BEAT is the time between two signs of life.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from kohorte.cli.main import main
from kohorte.parties import party
from kohorte.parties.transport.channel import RunChannel
from kohorte.parties.transport.https import Patience, RunTerms

MISBEHAVIOUR: dict[str, Callable[[Any, str, str, bytes], None]] = {
    "malformed": lambda send, to, kind, payload: send(to, kind, payload[:-1] + b"??"),
    "other-kind": lambda send, to, kind, payload: send(to, f"no-{kind}", payload),
    "twice": lambda send, to, kind, payload: (send(to, kind, payload), send(to, kind, payload))[0],
}


class Failing(RunChannel):
    """A channel that fails once, at a message of one kind."""

    side = awaited = how = ""

    def send(self, to: str, kind: str, payload: bytes) -> None:
        if not self._fails("send", kind):
            super().send(to, kind, payload)
        elif not self._signalled():
            MISBEHAVIOUR[self.how](super().send, to, kind, payload)

    def receive(self, sender: str, kind: str) -> bytes:
        payload = super().receive(sender, kind)
        if self._fails("receive", kind):
            self._signalled()
        return payload

    def _fails(self, side: str, kind: str) -> bool:
        if (side, kind) != (Failing.side, Failing.awaited):
            return False
        Failing.awaited = ""
        print("failing", flush=True)
        return True

    def _signalled(self) -> bool:
        if self.how in MISBEHAVIOUR:
            return False
        os.kill(os.getpid(), signal.Signals[self.how])
        return True


def fail(side: str, kind: str, how: str, beat: str) -> None:
    Failing.side, Failing.awaited, Failing.how = side, kind, how
    party.RunTerms = partial(RunTerms, patience=Patience(beat=float(beat)))  # type: ignore[misc,assignment]
    from kohorte.parties.transport.https import server

    server.RunChannel = Failing  # type: ignore[misc]


if __name__ == "__main__":
    fail(*sys.argv[1:5])
    sys.exit(main(sys.argv[5:]))
