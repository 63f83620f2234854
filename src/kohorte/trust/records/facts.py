"""What a verified log says that databases, key files and other logs must agree with.

An entry about a list has its name (`list`) and the version of the list in its database (`state`). An entry that begins
to forget has keyed fingerprints (`marks`, or `pid`) of what is destroyed: they show which rows of an older database
must not be there, and tell nobody without key and database who it was. An entry about people who were joined or split
has the numbers of their rows (`moved`), and one about new people the last numbers that were given (`numbers`). One
about TempIDs that were resolved has fingerprints of them (`used`), which count as long as a TempID can be valid.

A decision of a person about a list is written down before the database has it (`BEGINS`), with everything that is
needed to do it again, and once more when it is done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from kohorte.trust.records.heads import NONE, START, Head

FORGET_BEGINS = "forget begins"
COUNTED = "count entries"
DESTROY_BEGINS = "destroy key begins"
DESTROYED = "destroy key"
ROTATED, DEFINED = "rotate key", "create domain"
OF_PEOPLE = ("add person", "remove person")
PLACEMENTS_SEALED, CASES_MARKED, HISTORY_MARKED = "seal placements", "mark cases", "mark history"
BEGINS = {"merge begins": "merge", "split begins": "split", "decide begins": "decide"}
"""Entries that begin a decision of a person, and those that end it."""
USED_KEPT = timedelta(days=2)
"""So long the fingerprint of a TempID that was resolved is known; none is valid for longer than a day."""
CODE_BYTES = 8
"""So much of each code is kept in memory: to find another one with the same beginning needs the key."""


@dataclass(frozen=True)
class Begun:
    """A decision that the log has and the database may lack: an entry that begins, and none after it that ends."""

    version: int
    """The version of the list that the decision makes."""
    number: int
    action: str
    actor: str
    details: Mapping[str, Any]

    @property
    def moved(self) -> dict[int, int]:
        """The people whom it joins or splits, and the version that does it."""
        return {int(person): self.version for person in self.details.get("moved", "").split()}


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
    lacking: dict[str, int] = field(default_factory=dict)
    """How many entries each list lacks because an older database was confirmed."""
    destroyed: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each domain the fingerprints of the keys that were destroyed, and when."""
    rotated: dict[str, int] = field(default_factory=dict)
    """The latest version of the key of each domain, and of the patient list."""
    defined: dict[str, str] = field(default_factory=dict)
    """The fingerprint of the definition of each domain."""
    moved: defaultdict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    """For each list the people who were joined or split, by their numbers, and the version that did it last."""
    numbers: defaultdict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    """For each list the last numbers that were given, by what they are for."""
    begun: dict[str, Begun] = field(default_factory=dict)
    """For each list the decision that is the last step, if nothing shows that the database has it."""
    placements: set[str] = field(default_factory=set)
    """The lists of earlier versions whose rows are sealed together with their places by now."""
    people: int = 0
    """How often a person was added or removed."""
    used: dict[str, datetime] = field(default_factory=dict)
    """The fingerprints of TempIDs that were resolved lately, in the order of their times."""
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
        self._note_used(entry["at"], details.get("used", ""))
        if (of := details.get("list")) is None:
            return
        version = details["state"]
        self.versions[of] = max(self.versions.get(of, 0), version)
        self.taken[of] = max(self.taken.get(of, 0), details.get("taken", 0))
        if action == COUNTED:
            self.lacking[of] = details["lacking"]
        self._note_begun(of, entry, version)
        self._note_places(of, action, details, version)
        if action == FORGET_BEGINS:
            marks = details["marks"].split() if "marks" in details else [details["pid"]]
            self._forgotten[of].setdefault(version, set()).update(marks)
            self.forgotten[of].update(marks)

    def _note_used(self, written: str, marks: str) -> None:
        if not marks:
            return
        at = datetime.fromisoformat(written)
        self.used.update(dict.fromkeys(marks.split(), at))
        while self.used[oldest := next(iter(self.used))] < at - USED_KEPT:
            del self.used[oldest]

    def _note_begun(self, of: str, entry: Mapping[str, Any], version: int) -> None:
        """Note a decision that begins; it is done as soon as an entry has its version or a later one."""
        if (before := self.begun.get(of)) is not None and before.version <= version:
            self._move(of, self.begun.pop(of).moved)
        if entry["action"] in BEGINS:
            details = entry["details"]
            self.begun[of] = Begun(version, entry["number"], entry["action"], entry["actor"], details)

    def _move(self, of: str, moved: Mapping[int, int]) -> None:
        for person, version in moved.items():
            self.moved[of][person] = max(self.moved[of].get(person, 0), version)

    def _note_places(self, of: str, action: str, details: Mapping[str, Any], version: int) -> None:
        if action == PLACEMENTS_SEALED:
            self.placements.add(of)
        if action not in BEGINS:
            self._move(of, {int(person): version for person in details.get("moved", "").split()})
        for given in details.get("numbers", "").split():
            name, _, number = given.partition("=")
            self.numbers[of][name] = max(self.numbers[of].get(name, 0), int(number))

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
