"""The state of a series: what was decided at its start, and one entry for each release, chained by hashes.

Each entry contains the hash of the one before, and the file ends with the hash of the last. A file that differs in one
byte from what this module writes is refused. It contains no value of a row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Self

from kohorte.data import sha256_of
from kohorte.errors import InputError
from kohorte.series.domain.regions import Split

FORMAT = 1
NAME = "series.json"


@dataclass(frozen=True)
class Head:
    """What is decided at the start of a series and never changes."""

    created: str
    plan: Mapping[str, object]
    plan_sha256: str
    files_sha256: Mapping[str, str]
    settings: Mapping[str, object]
    axes: Mapping[str, object]
    target: Mapping[str, object] | None
    key_check: str

    def to_dict(self) -> dict[str, object]:
        """The head as plain data."""
        return dict(vars(self))


@dataclass(frozen=True)
class Entry:
    """One release: its counts, its splits or levels, and hashes of its output and of the record of its rows."""

    number: int
    time: str
    rows: int
    shown: int
    held: int
    new: int
    corrected: int
    withdrawn: int
    withheld: int
    departed: int
    regions: int
    waited: int
    loss: float
    smallest_region: int
    splits: tuple[Split, ...] = field(repr=False)
    content_sha256: str
    output_sha256: str | None
    rows_file: str
    rows_sha256: str
    previous: str
    levels: Mapping[str, int] | None = None

    def to_dict(self) -> dict[str, object]:
        """The entry as plain data."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return plain | {"splits": [[split.region, split.axis, split.position] for split in self.splits]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` gave."""
        return cls(**{**data, "splits": tuple(Split(*split) for split in data["splits"])})

    def figures(self) -> dict[str, object]:
        """The counts of the release, as `kohorte series status --json` prints them."""
        hidden = ("departed", "content_sha256", "rows_file", "rows_sha256", "previous")
        kept = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in hidden}
        return kept | {"splits": len(self.splits)}

    @cached_property
    def line(self) -> str:
        """The entry as a line of the state file."""
        return _line(self.to_dict())

    @cached_property
    def hash(self) -> str:
        """The hash that the next entry contains."""
        return sha256_of(self.line.encode())


@dataclass(frozen=True)
class Pending:
    """A temporary file and the name that it is about to get; `replaces`: even if a file of that name exists."""

    temporary: str
    name: str
    replaces: bool


@dataclass(frozen=True)
class State:
    """The content of the state file; `pending` are files of the last release that may not have their names yet."""

    head: Head
    releases: tuple[Entry, ...] = ()
    pending: tuple[Pending, ...] = ()

    @property
    def last(self) -> Entry | None:
        """The last release, if there is one."""
        return self.releases[-1] if self.releases else None

    @property
    def hash(self) -> str:
        """The hash of the last release, or of the head; it covers everything before."""
        return self.releases[-1].hash if self.releases else sha256_of(_line(self.head.to_dict()).encode())

    @property
    def number(self) -> int:
        """The number of the next release."""
        return len(self.releases) + 1

    def to_text(self) -> str:
        """The text of the state file, one line for each release."""
        pending = [vars(file) for file in self.pending]
        seal = sha256_of(_line([self.hash, pending]).encode())
        entries = ",\n".join(entry.line for entry in self.releases)
        return (
            f'{{"kohorte_series": {FORMAT},\n"head": {_line(self.head.to_dict())},\n"releases": [\n{entries}\n],\n'
            f'"pending": {_line(pending)},\n"hash": "{seal}"}}\n'
        )

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the output of `to_text`; anything else is refused."""
        data = _parsed(text)
        version = data.get("kohorte_series")
        if type(version) is int and version > FORMAT:
            raise InputError(
                f"{NAME}: the series was made by a newer version of Kohorte (format {version}); this one reads format "
                f"{FORMAT}",
                code="series-version",
            )
        try:
            state = cls(
                head=Head(**data["head"]),
                releases=tuple(Entry.from_dict(entry) for entry in data["releases"]),
                pending=tuple(Pending(**file) for file in data["pending"]),
            )
            whole = state.to_text() == text and state._is_chained()
        except (KeyError, TypeError, ValueError, AttributeError):
            whole = False
        if not whole:
            raise damaged(f"{NAME} is not what was written")
        return state

    def _is_chained(self) -> bool:
        hashes = [State(self.head).hash, *(entry.hash for entry in self.releases)]
        numbers = [entry.number for entry in self.releases]
        return [entry.previous for entry in self.releases] == hashes[:-1] and numbers == list(
            range(1, len(numbers) + 1)
        )


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def damaged(why: str) -> InputError:
    """The error for a series whose files are missing or were changed."""
    return InputError(
        f"the state of the series is damaged: {why}; restore the latest copy of the folder of the series; an older "
        "copy would make releases that contradict those made since",
        code="series-damaged",
    )


def _parsed(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise damaged(f"{NAME} is not what was written")
    return data


def _line(data: Mapping[str, object] | Sequence[object]) -> str:
    """Plain data in one line, the same for the same data."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False)
