"""What a verified log says that databases, key files and other logs must agree with.

An entry about a list has its name (`list`) and the version of the list in its database (`state`). An entry that begins
to forget has keyed fingerprints (`marks`, or `pid`) of what is destroyed: they show which rows of an older database
must not be there, and tell nobody without key and database who it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kohorte.trust.records.heads import NONE, START, Head

FORGET_BEGINS = "forget begins"
DESTROY_BEGINS = "destroy key begins"
DESTROYED = "destroy key"
ROTATED, DEFINED = "rotate key", "create domain"
OF_PEOPLE = ("add person", "remove person")
CODE_BYTES = 8
"""So much of each code is kept in memory: to find another one with the same beginning needs the key."""


@dataclass
class Facts:
    """What the entries of one log amount to, in their order."""

    head: Head = NONE
    first_at: str | None = None
    last_at: str | None = None
    versions: dict[str, int] = field(default_factory=dict)
    """The latest version of each list that the log knows."""
    taken: dict[str, int] = field(default_factory=dict)
    """How many entries each list has had; numbers up to there are not given again."""
    destroyed: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each domain the fingerprints of the keys that were destroyed, and when."""
    rotated: dict[str, int] = field(default_factory=dict)
    """The latest version of the key of each domain."""
    defined: dict[str, str] = field(default_factory=dict)
    """The fingerprint of the definition of each domain."""
    people: int = 0
    """How often a person was added or removed."""
    forgotten: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The fingerprints of all that was ever forgotten in each list."""
    _forgotten: defaultdict[str, dict[int, set[str]]] = field(default_factory=lambda: defaultdict(dict))
    _codes: bytearray = field(default_factory=bytearray)

    def note(self, entry: Mapping[str, Any]) -> None:
        """Add the next entry."""
        self.head = Head(entry["number"], entry["code"])
        self.first_at, self.last_at = self.first_at or entry["at"], entry["at"]
        self._codes += bytes.fromhex(entry["code"])[:CODE_BYTES]
        action, details = entry["action"], entry["details"]
        if action in (DESTROY_BEGINS, DESTROYED):
            self.destroyed.setdefault(entry["about"], {}).setdefault(details["fingerprint"], entry["at"])
        elif action == ROTATED:
            self.rotated[entry["about"]] = details.get("version", 0)
        elif action == DEFINED:
            self.rotated.pop(entry["about"], None)
            if "definition" in details:
                self.defined[entry["about"]] = details["definition"]
        elif action in OF_PEOPLE:
            self.people += 1
        if (of := details.get("list")) is None:
            return
        version = details["state"]
        self.versions[of] = max(self.versions.get(of, 0), version)
        self.taken[of] = max(self.taken.get(of, 0), details.get("taken", 0))
        if action == FORGET_BEGINS:
            marks = details["marks"].split() if "marks" in details else [details["pid"]]
            self._forgotten[of].setdefault(version, set()).update(marks)
            self.forgotten[of].update(marks)

    def has(self, head: Head) -> bool:
        """Whether a head was once the last entry of this log."""
        if head.number == 0:
            return head.code == START
        end = head.number * CODE_BYTES
        found = bytes(self._codes[end - CODE_BYTES : end])
        return len(found) == CODE_BYTES and head.code.startswith(found.hex())

    def forgotten_after(self, of: str, version: int) -> set[str]:
        """The fingerprints of what was destroyed in a list after a version of it."""
        return {mark for later, marks in self._forgotten.get(of, {}).items() if later > version for mark in marks}

    def only_forgets(self, of: str, version: int) -> bool:
        """Whether the step to a version of a list was to forget."""
        return version in self._forgotten.get(of, {})
