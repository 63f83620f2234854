"""Consents of the patient list of another house, asked over mutual TLS.

Guarantee
    Nobody is used whom the other house did not name as covered for the purpose, when the release is made and whenever
    it is handed out; if the other house cannot be reached, or answers anything else, the call ends with an error. The
    other house has noted the export before it answers.
Leaves open
    People whose rows are left out afterwards, because they agreed to no kind of data in them, are in the noted export,
    too: a list of former exports may be too long, never too short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import SystemRandom
from typing import Any

from kohorte.errors import EngineError
from kohorte.patients.consents.coverage import Coverage, Covered
from kohorte.patients.consents.register import changed
from kohorte.trust.remote import HouseRefused, OtherHouse

PIDS_AT_ONCE = 10_000
CHANGED = "consent-changed"


class ConsentsElsewhere:
    """The consents of another house for the exports of one project; `exports` are their numbers there."""

    def __init__(self, house: OtherHouse, project: str, exports: Sequence[int] = ()) -> None:
        self._house, self._project = house, project
        self.exports = list(exports)

    def covered(self, pids: Iterable[str], purpose: str) -> Covered:
        """Ask who is covered; the other house notes an export of them. The order tells nothing about rows."""
        wanted = sorted(pids)
        SystemRandom().shuffle(wanted)
        people: dict[str, Coverage] = {}
        for start in range(0, len(wanted), PIDS_AT_ONCE):
            some = wanted[start : start + PIDS_AT_ONCE]
            body = {"pids": some, "purpose": purpose, "project": self._project}
            told = self._house.call("POST", "/patients/exports", body)
            number, found = _understood(told, set(some))
            self.exports.append(number)
            people |= {pid: Coverage(len(people) + place, kinds) for place, (pid, kinds) in enumerate(found.items())}
        return Covered(people)

    def note_export(
        self, expected: Covered, *, purpose: str, project: str, rows: int, columns: Sequence[str], sha256: str
    ) -> int:
        """Check again that everybody is covered; the other house has noted them already."""
        del expected, purpose, project, rows, columns, sha256
        self.confirm()
        return self.exports[0] if self.exports else 0

    def confirm(self) -> None:
        """Ask whether everybody in the exports is still covered."""
        for number in self.exports:
            try:
                self._house.call("POST", f"/patients/exports/{number}/confirm")
            except HouseRefused as error:
                if error.reason != CHANGED:
                    raise
                raise changed() from None


def _understood(told: Any, asked: set[str]) -> tuple[int, dict[str, frozenset[str] | None]]:
    """The number of an export and the people in it; anything else than an answer to the question is refused."""
    try:
        number, found = told["export"], {one["pid"]: _kinds(one["categories"]) for one in told["people"]}
        if isinstance(number, int) and set(found) <= asked:
            return number, found
    except (KeyError, TypeError):
        pass
    raise EngineError("the other house answered with something else than consents", code="trust-house-failed")


def _kinds(told: Any) -> frozenset[str] | None:
    if told is None or (isinstance(told, list) and told and all(isinstance(kind, str) for kind in told)):
        return None if told is None else frozenset(told)
    raise TypeError
