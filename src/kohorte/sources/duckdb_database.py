"""A DuckDB of our own: in memory up to a limit, beyond that in a private folder; it can be watched and interrupted."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from kohorte.errors import EngineError, InputError
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.sources.spill import SpillFolder

LOCKED = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""DuckDB must not download extensions: a hospital's machine may be offline, and Parquet needs none."""

EVERY = 0.2
"""Seconds between two looks at how far a statement is."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(MB|GB|TB|MIB|GIB|TIB)", re.IGNORECASE)


class Database:
    """A connection to DuckDB; `memory_limit`, such as 4GB, is what DuckDB may use before it writes to disk.

    What does not fit is written into a folder that only the owner can read, `beside` which the output is written.
    `progress` is told how far long statements are.
    """

    def __init__(
        self,
        *,
        memory_limit: str | None = None,
        beside: Path | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        if memory_limit is not None and _SIZE.fullmatch(memory_limit.strip()) is None:
            raise InputError("the memory limit is a number with MB, GB or TB, such as 4GB", code="memory-limit")
        library = duckdb_library()
        self.spill = SpillFolder(beside)
        self._progress = progress
        limit = {} if memory_limit is None else {"memory_limit": memory_limit.strip()}
        with failures("DuckDB"):
            self._connection = library.connect(
                ":memory:", config=LOCKED | limit | {"temp_directory": str(self.spill.path)}
            )

    def run(self, statement: str, arguments: Mapping[str, object] | None = None, *, what: str = "") -> None:
        """Run a statement; if `what` is given, tell how far it is. Ctrl-C interrupts it."""
        with failures("DuckDB"):
            if not what or self._progress is None:
                self._connection.execute(statement, arguments)
                return
            self._watched(statement, arguments, what)

    def _watched(self, statement: str, arguments: Mapping[str, object] | None, what: str) -> None:
        """Run a statement in a thread of its own, because only another thread can see how far it is."""
        raised: list[BaseException] = []

        def execute() -> None:
            try:
                self._connection.execute(statement, arguments)
            except BaseException as error:  # noqa: BLE001 - raised again below
                raised.append(error)

        thread = threading.Thread(target=execute, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(EVERY)
                if thread.is_alive():
                    done = int(self._connection.query_progress())  # negative if nobody knows
                    tell(self._progress, Stage.COUNTING, what, done=done, of=100 if done > 0 else 0, unit="%")
        except BaseException:
            self._connection.interrupt()
            thread.join()
            raise
        if raised:
            raise raised[0]

    def fetch(self, query: str) -> pl.DataFrame:
        """Return the rows of a query."""
        with failures("DuckDB"):
            return pl.DataFrame(self._connection.sql(query))

    @contextmanager
    def registered(self, name: str, columns: Mapping[str, Any]) -> Iterator[None]:
        """Let statements read arrays as a table."""
        with failures("DuckDB"):
            self._connection.register(name, dict(columns))
        try:
            yield
        finally:
            self._connection.unregister(name)

    def interrupt(self) -> None:
        """Interrupt the statement that runs in another thread."""
        self._connection.interrupt()


def duckdb_library() -> Any:
    """DuckDB, which the extra `query` installs."""
    try:
        return import_module("duckdb")
    except ImportError:
        raise InputError(
            "a table in DuckDB needs duckdb; install kohorte[query]", code="query-library-missing"
        ) from None


@contextmanager
def failures(source: str) -> Iterator[None]:
    """Replace an error of DuckDB, whose message may contain values, by an error of this package."""
    library = duckdb_library()
    try:
        yield
    except library.InterruptException:
        raise KeyboardInterrupt from None
    except library.OutOfMemoryException as error:
        raise _no_room(str(error)) from None
    except library.IOException as error:
        if _is_full(str(error)):
            raise _full() from None
        raise _unreadable(source) from None
    except (library.InvalidInputException, pl.exceptions.PolarsError):
        raise _unreadable(source) from None
    except library.Error as error:
        if _is_full(str(error)):
            raise _full() from None
        raise EngineError(f"{source}: DuckDB could not run a statement", code="source-failed") from None


def _unreadable(source: str) -> InputError:
    return InputError(f"{source}: is not a Parquet file that can be read", code="parquet-damaged")


def _is_full(message: str) -> bool:
    """Whether a message of DuckDB says that the disk is full; it is looked at, and never shown."""
    return any(sign in message for sign in ("No space left", "os error 28", "Disk quota", "max_temp_directory_size"))


def _full() -> EngineError:
    return EngineError("no space left for the rows that do not fit into memory, or for the output", code="disk-full")


def _no_room(message: str) -> EngineError:
    if _is_full(message):
        return _full()
    return EngineError(
        "DuckDB needs more memory than its limit allows; give a larger --memory-limit (memory_limit in Python)",
        code="source-memory",
    )
