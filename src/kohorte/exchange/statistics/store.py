"""Statistics of an institution in a folder: every import is a version, and old versions stay."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from kohorte.data import atomic_write, parse_table, sha256_of
from kohorte.data.files import unreadable
from kohorte.errors import InputError
from kohorte.exchange.statistics.entries import Entry, StatisticsTable
from kohorte.exchange.statistics.lookup import Statistics
from kohorte.exchange.statistics.origin import KINDS, Origin
from kohorte.exchange.statistics.reading import entries_of

HEADER = "value,share,age,sex,country,source"


@dataclass(frozen=True)
class Version:
    """One import: the origin, how many entries it has, and the hash of its file."""

    origin: Origin
    version: int
    entries: int
    sha256: str
    imported: str

    def to_dict(self) -> dict[str, Any]:
        """The version as plain data."""
        return {**vars(self), "origin": self.origin.to_dict()}


@dataclass(frozen=True)
class StatisticsFolder:
    """The folder with the tables: NAME.VERSION.csv and NAME.VERSION.json for each import."""

    path: Path

    def add(self, table: StatisticsTable) -> Version:
        """Keep a table as the next version of its name; nothing is ever replaced."""
        self.path.mkdir(parents=True, exist_ok=True)
        earlier = [one for one in self.versions() if one.origin.name == table.origin.name]
        if earlier and earlier[-1].origin.kind != table.origin.kind:
            raise InputError(
                f"statistics: {table.origin.name!r} has the kind {earlier[-1].origin.kind}; take another name",
                code="exchange-statistics-origin",
            )
        now = datetime.now(UTC)
        if date.fromisoformat(table.origin.date) > now.date() + timedelta(days=1):
            raise InputError(
                "statistics: date is the day to which the figures refer, and lies in the future",
                code="exchange-statistics-origin",
            )
        number = earlier[-1].version + 1 if earlier else 1
        content = _as_csv(table.entries).encode()
        imported = now.isoformat(timespec="seconds")
        made = Version(table.origin, number, len(table.entries), sha256_of(content), imported)
        with atomic_write(self._file(made, "csv"), force=False) as temporary:
            temporary.write_bytes(content)
        with atomic_write(self._file(made, "json"), force=False) as temporary:
            temporary.write_text(json.dumps(made.to_dict(), indent=2, ensure_ascii=False), encoding="utf-8")
        return made

    def versions(self) -> list[Version]:
        """All imports, by name and version."""
        if not self.path.is_dir():
            return []
        found = [_version(path) for path in self.path.glob("*.json")]
        return sorted(found, key=lambda one: (one.origin.name, one.version))

    def latest(self) -> list[Version]:
        """The latest version of each name."""
        return list({one.origin.name: one for one in self.versions()}.values())

    def statistics(self) -> Statistics:
        """The latest versions, read and compared with their hashes."""
        return Statistics(tuple(self._read(one) for one in self.latest()))

    def problems(self, *, oldest_years: float, today: date) -> list[str]:
        """What is old and what is missing, in words."""
        latest = self.latest()
        old = [
            f"{one.origin.name}: the figures are of {one.origin.date}, older than {oldest_years:g} years"
            for one in latest
            if one.origin.age_in_years(today) > oldest_years
        ]
        known = {one.origin.kind for one in latest}
        return old + [f"there is no table of the kind {kind}" for kind in KINDS if kind not in known]

    def _read(self, version: Version) -> StatisticsTable:
        path = self._file(version, "csv")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(unreadable(path, error).message, code="exchange-statistics-damaged") from None
        if sha256_of(content) != version.sha256:
            raise InputError(
                f"{path.name}: the file was changed since its import; import the table again",
                code="exchange-statistics-damaged",
            )
        frame = parse_table(content, path, separator=",").frame
        return StatisticsTable(
            version.origin, tuple(entries_of(frame, version.origin, source=path.name)), version.version
        )

    def _file(self, version: Version, suffix: str) -> Path:
        return self.path / f"{version.origin.name}.{version.version:04}.{suffix}"


def _version(path: Path) -> Version:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        origin = Origin.from_dict(data["origin"])
        return Version(origin, int(data["version"]), int(data["entries"]), str(data["sha256"]), str(data["imported"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            f"{path.name}: is not a description of statistics; import the table again",
            code="exchange-statistics-damaged",
        ) from None


def _as_csv(entries: Iterable[Entry]) -> str:
    lines = [HEADER]
    for entry in entries:
        ages = "" if entry.ages is None else f"{entry.ages[0]}-{entry.ages[1]}"
        value, source = (text.replace('"', '""') for text in (entry.value, entry.source or ""))
        lines.append(f'"{value}",{entry.share!r},{ages},"{entry.sex or ""}",{entry.country or ""},"{source}"')
    return "\n".join(lines) + "\n"
