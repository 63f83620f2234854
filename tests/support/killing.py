"""Kill a process (SIGKILL) at the n-th of some moments, and read what its program tells is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kohorte.trust.store import ENVIRONMENT, Store

SUPPORT = Path(__file__).parent


def left_by(program: str, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What is left of each action after a kill at every moment, and at last without one; as the program tells it."""
    environment = {name: value for name, value in os.environ.items() if name != ENVIRONMENT}
    ran = subprocess.run(
        [sys.executable, SUPPORT / program, folder],
        env=environment | {"PYTHONPATH": str(SUPPORT.parent)},
        capture_output=True,
        check=True,
        text=True,
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for line in ran.stdout.splitlines():
        facts = json.loads(line)
        found.setdefault(facts["action"], []).append(facts)
    return found


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
