"""Two lists compared without names, against the truth."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.linkage.data import Data, draw
from kohorte.patients.encodings.exchange import compared, encoded
from kohorte.patients.identity import Identity
from kohorte.patients.linkage.record import Record
from kohorte.trust.keys import Key
from testbed import identities
from testbed.identities import Person

PEOPLE, COMMON = 20_000, 5_000
"""The people of each list, and how many of them are in both."""


@dataclass(frozen=True)
class Exchange:
    """What became of the people who are in both lists."""

    scenario: str
    people: int
    common: int
    matches_right: int
    matches_wrong: int
    grey_right: int
    grey_wrong: int
    encoded_per_second: int


def measure() -> tuple[Exchange, ...]:
    """Compare two encoded lists, with and without insurance numbers."""
    return _measured("all fields"), _measured("without insurance numbers", "versichertennummer")


def _measured(scenario: str, *left_out: str) -> Exchange:
    drawn = draw(PEOPLE, COMMON, seed=21)
    strangers = identities.people(PEOPLE - len(drawn.rows), seed=22)
    data = Data(drawn.known, drawn.rows + strangers, drawn.truth).without(*left_out)
    secret = Key(1, secrets.token_bytes(32))
    started = time.process_time()
    mine, theirs = (encoded(_records(people), secret) for people in (data.known, data.rows))
    seconds = time.process_time() - started
    truth = {(str(who), str(row)) for row, who in enumerate(data.truth) if who is not None}
    counts = Counter((pair.verdict, (pair.id, pair.other_id) in truth) for pair in compared(mine, theirs))
    return Exchange(
        scenario,
        len(data.known),
        len(truth),
        counts["match", True],
        counts["match", False],
        counts["grey", True],
        counts["grey", False],
        round((len(data.known) + len(data.rows)) / seconds),
    )


def _records(people: Iterable[Person]) -> Iterator[tuple[str, Record]]:
    for place, one in enumerate(people):
        identity = Identity(
            one.vorname, one.nachname, one.geburtsname, one.geburtsdatum, one.geschlecht, one.plz, one.ort,
            one.versichertennummer,
        )  # fmt: skip
        yield str(place), Record.of(identity)
