"""The folder of a series: its state, its secret key, the fingerprints of its rows and the files of its plan.

series.json       the state; replacing it makes a release
rows-0003.bin     the record of the rows, as the third release left it
key               the secret key, readable by the owner only
files/            copies of the hierarchy files that the plan names
drafting          the files that a command is about to write, while it runs
lock              held by the command that works with the series
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from kohorte.data import atomic_write, sha256_of
from kohorte.errors import InputError
from kohorte.hierarchies import Builder, CsvFile, Tree
from kohorte.plans.plan import Plan
from kohorte.series.memory.fingerprints import KEY_BYTES, key_check, new_key
from kohorte.series.memory.lock import LOCK, locked
from kohorte.series.memory.record import Record
from kohorte.series.memory.state import NAME, State, damaged

KEY = "key"
FILES = "files"


@dataclass(frozen=True)
class SeriesFolder:
    """Reads and writes the files of one series."""

    path: Path

    # At the start

    @contextmanager
    def beginning(self) -> Iterator[None]:
        """Make the folder, for the owner only, and hold its lock; refuse a folder with anything else in it."""
        self._refuse_taken()
        with self._writing():
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.chmod(0o700)
        with locked(self.path):
            self._refuse_taken()  # another start may have had the lock before
            yield

    def _refuse_taken(self) -> None:
        if (self.path / NAME).exists():
            raise InputError(f"{self.path}: this folder already contains a series", code="series-exists")
        strangers = [
            path.name
            for path in (self.path.iterdir() if self.path.is_dir() else ())
            if path.name not in (KEY, LOCK, FILES) and not path.name.endswith(".tmp")
        ]
        if strangers or (self.path.exists() and not self.path.is_dir()):
            raise InputError(f"{self.path}: is not an empty folder; choose a new one", code="series-exists")

    def make_key(self) -> bytes:
        """Make the secret key and write it so that only the owner can read it."""
        key = new_key()
        with self._writing():
            path = self.path / KEY
            path.unlink(missing_ok=True)  # left by an interrupted start; nothing was made with it
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(key)
                file.flush()
                os.fsync(file.fileno())
        return key

    def keep_files(self, plan: Plan) -> tuple[Plan, dict[str, str]]:
        """Copy the files of a plan's hierarchies; return the plan that reads the copies, and their hashes."""
        attributes, hashes = dict(plan.attributes), {}
        for number, (name, attribute) in enumerate(plan.attributes.items(), start=1):
            builder = attribute.hierarchy
            if builder is None or not builder.files():
                continue
            [source] = builder.files()
            copy = f"{FILES}/{number}-{source.name}"
            content = _content(source)
            with self._writing():
                (self.path / FILES).mkdir(exist_ok=True)
            with atomic_write(self.path / copy, force=True) as temporary:
                temporary.write_bytes(content)
            hashes[copy] = sha256_of(content)
            attributes[name] = replace(attribute, hierarchy=self._reading(builder, copy, name))
        return replace(plan, attributes=attributes), hashes

    def _reading(self, builder: Builder, copy: str, name: str) -> Builder:
        if isinstance(builder, CsvFile | Tree):
            return replace(builder, path=copy, folder=self.path)
        raise InputError(f"column {name!r}: a series does not support the hierarchy {builder.name}", code="series-plan")

    # Reading

    def read(self) -> State:
        """Read the state, and check that the files that belong to it are unchanged."""
        try:
            content = (self.path / NAME).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(
                f"{self.path}: there is no series in this folder; make one with 'kohorte series start'",
                code="series-missing",
            ) from None
        except OSError:
            raise InputError(f"{self.path}: the series cannot be read", code="series-unreadable") from None
        try:
            state = State.from_text(content.decode())
        except UnicodeDecodeError:
            raise damaged(f"{NAME} was changed") from None
        for name, sha256 in state.head.files_sha256.items():
            if not (self.path / name).is_file() or sha256_of(self.path / name) != sha256:
                raise damaged(f"{name} is missing or was changed")
        return state

    def key(self, state: State) -> bytes:
        """The secret key of the series."""
        try:
            key = (self.path / KEY).read_bytes()
        except OSError:
            raise InputError(
                f"{self.path}: the file {KEY} is missing or cannot be read; without it no row can be recognised again",
                code="series-key",
            ) from None
        if len(key) != KEY_BYTES or key_check(key) != state.head.key_check:
            raise InputError(f"{self.path}: the file {KEY} is not the key of this series", code="series-key")
        return key

    def plan(self, state: State) -> Plan:
        """The plan of the series."""
        return Plan.from_dict(dict(state.head.plan), folder=self.path)

    def record(self, state: State) -> Record:
        """The record of the rows of the last table."""
        if state.last is None:
            return Record.empty(identified="identified_by" in state.head.settings)
        try:
            data = (self.path / state.last.rows_file).read_bytes()
        except OSError:
            raise damaged(f"{state.last.rows_file} is missing or cannot be read") from None
        if sha256_of(data) != state.last.rows_sha256:
            raise damaged(f"{state.last.rows_file} is not what was written")
        return Record.from_bytes(data)

    # Writing

    def write_rows(self, name: str, data: bytes) -> None:
        """Write a record under a new name, to which the state does not refer yet."""
        with atomic_write(self.path / name, force=True) as temporary:
            temporary.write_bytes(data)

    def write(self, state: State) -> None:
        """Replace the state: all of it, or nothing."""
        with atomic_write(self.path / NAME, force=True) as temporary:
            temporary.write_text(state.to_text(), encoding="utf-8")

    def tidy(self, state: State) -> None:
        """Remove files that earlier states and killed commands left behind; call it only while the lock is held."""
        needed = set(state.head.files_sha256) | ({state.last.rows_file} if state.last is not None else set())
        for pattern in ("rows-*.bin", ".*.tmp", f"{FILES}/*", f"{FILES}/.*.tmp"):
            for path in self.path.glob(pattern):
                if path.relative_to(self.path).as_posix() not in needed:
                    with suppress(OSError):
                        path.unlink()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the series; refuse a folder without a series before anything is written into it."""
        if not (self.path / NAME).is_file():
            self.read()
        with locked(self.path):
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            raise InputError(
                f"{self.path}: the folder of the series cannot be written", code="series-not-writable"
            ) from None


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise InputError(f"the hierarchy file {path.name} cannot be read", code="hierarchy-file-missing") from None
