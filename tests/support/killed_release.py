"""A program: make a release in a child that ends, without a word, at the n-th call that changes a file; for all n.

    python killed_release.py TEMPLATE TABLE FOLDER

TEMPLATE is a folder with a series in `series`. It is copied to FOLDER/1, FOLDER/2, ... and the release of TABLE
(Parquet) made there as out.csv, until one is made without reaching its n-th call.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kohorte.data import read_table
from kohorte.series import Series

CHANGING = ("open", "replace", "rename", "link", "unlink", "remove", "chmod", "fsync", "mkdir")
KILLED = 9


def main() -> None:
    """Try all n."""
    template, table, folder = (Path(argument) for argument in sys.argv[1:4])
    for number in itertools.count(1):
        shutil.copytree(template, folder / str(number))
        child = os.fork()
        if child == 0:
            _release(folder / str(number), table, number)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code != KILLED:
            sys.exit(code)


def _release(here: Path, table: Path, number: int) -> None:
    frame = read_table(table).frame
    series = Series.open(here / "series")
    left = [number]
    for name in CHANGING:
        setattr(os, name, _counted(getattr(os, name), left))
    for name in ("write_bytes", "write_text"):
        setattr(Path, name, _torn(getattr(Path, name), left))
    series.release(frame, here / "out.csv")
    os._exit(0)


def _counted(call: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
    def counted(*arguments: Any, **options: Any) -> Any:
        _count(left)
        return call(*arguments, **options)

    return counted


def _torn(call: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
    """Write half of the content before the end."""

    def torn(path: Path, content: Any, **options: Any) -> Any:
        if left[0] == 1:
            call(path, content[: len(content) // 2], **options)
        _count(left)
        return call(path, content, **options)

    return torn


def _count(left: list[int]) -> None:
    left[0] -= 1
    if left[0] == 0:
        os._exit(KILLED)


if __name__ == "__main__":
    main()
