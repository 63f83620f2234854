"""Ctrl-C ends a wait, although Polars handles the signal as well."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from kohorte.data.files import atomic_write

WAITING = """
import signal, threading

def end(*_):
    raise SystemExit(130)

signal.signal(signal.SIGINT, end)
import kohorte.data.files
threading.Timer(0.3, print, ["waiting"], {"flush": True}).start()
gate = threading.Lock()
gate.acquire()
gate.acquire()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals that restart a wait")
def test_a_wait_without_an_end_is_interrupted() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "waiting\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 130
        finally:
            process.kill()


def test_an_interruption_while_polars_calls_python_is_no_failure_to_write(tmp_path: Path) -> None:
    message = "called `Result::unwrap()` on an `Err` value: PyErr { type: <class 'KeyboardInterrupt'>, value: ... }"
    with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "out.csv", force=False):
        raise pl.exceptions.PanicException(message)
    assert list(tmp_path.iterdir()) == []
