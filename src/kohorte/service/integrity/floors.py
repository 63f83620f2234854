"""What state.log says, in memory: for every marked row the versions that it had lately, and the audit head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

START = "0" * 64
KEPT = 16
"""Versions remembered per row: a transaction that began before the latest change may still see the one before."""


class Floors:
    """The lowest version that each row may have, for transactions that began at a certain line of the file."""

    def __init__(self) -> None:
        self.number = 0
        self.mac = START
        self.end = 0
        self.audit = (0, START)
        self._rows: dict[str, tuple[tuple[int, int], ...]] = {}

    def add(self, entry: Mapping[str, Any], mac: str, length: int) -> bool:
        """Add a line; False if it is not the next one."""
        if entry["kind"] == "head":
            if (entry["number"], entry["previous"]) != (self.number, self.mac):
                return False
        elif entry["previous"] != self.mac or (self.end and entry["number"] != self.number + 1):
            return False
        else:
            self.number, self.mac, self.end = entry["number"], mac, self.end + length
        for name, version in entry["rows"].items():
            self._rows[name] = (*self._rows.get(name, ())[1 - KEPT :], (self.number, version))
        self.audit = (entry["audit"][0], entry["audit"][1])
        return True

    def newest(self, name: str) -> int:
        """Return the latest known version of a row, 0 if it is not known."""
        found = self._rows.get(name)
        return found[-1][1] if found else 0

    def at(self, name: str, position: int) -> int:
        """Return the lowest version that a transaction may see which began when the file ended at `position`."""
        versions = self._rows.get(name, ())
        before = [version for number, version in versions if number <= position]
        if not before and len(versions) == KEPT:
            return versions[0][1]
        return before[-1] if before else 0

    def names(self, table: str) -> set[str]:
        """Return the names of all known rows of a table."""
        return {name for name in self._rows if name.partition(" ")[0] == table}

    def all(self) -> dict[str, int]:
        """Return the latest version of every row."""
        return {name: versions[-1][1] for name, versions in self._rows.items()}
