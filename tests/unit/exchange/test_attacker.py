"""An attacker who may ask as often as he likes: nobody is singled out by anything that was answered.

Each sequence of random requests, from two institutions that work together, is checked under the default policy, and
what may be sent is sent. Then all sets of people that were told are laid over each other in plain Python. The same
attack succeeds if nothing is remembered.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from kohorte.disclosures.ledger import Ledger
from kohorte.exchange.checking.check import check_request
from kohorte.exchange.statistics import shipped_statistics
from testbed.hospital import DIAGNOSES, OCCUPATIONS, holding, patients, request

TODAY = date(2026, 11, 17)
PEOPLE, K, REQUESTS = 1000, 5, 5
TABLE = patients(1300, people=PEOPLE, treated=500)
NAMES = ("age", "sex", "occupation", "diagnosis")


def made_up(dice: random.Random) -> dict[str, Any]:
    """A condition: a drug, without some people who have a known or a sensitive property."""
    drug = {"attribute": "drug", "is": dice.choice(["methadone", "ibuprofen"])}
    known = [
        {"attribute": "age", "is": str(dice.randint(20, 79))},
        {"attribute": "age", "at_least": dice.randint(25, 75)},
        {"attribute": "occupation", "is": dice.choice(OCCUPATIONS)},
        {"attribute": "sex", "is": dice.choice(["female", "male"])},
        {"attribute": "diagnosis", "in": dice.sample(DIAGNOSES, 2)},
    ]
    parts: list[dict[str, Any]] = dice.sample(known, dice.randint(0, 2))
    without = {"not": {"all": parts}} if dice.random() < 0.7 else {"all": parts}
    return {"all": [drug, without]} if parts else drug


def attack(folder: Path, number: int, *, remembers: bool) -> tuple[int, int]:
    """The number of answers to a sequence of requests, and the smallest group that all of them together tell apart."""
    dice, house = random.Random(number), holding()
    ledger = Ledger.open(folder / str(number), create=True)
    told: list[dict[int, set[int]]] = []
    for at in range(REQUESTS):
        names = tuple(dice.sample(NAMES, dice.randint(2, 4)))
        asked = request(made_up(dice), names, institution=f"Institute {'AC'[at % 2]}")
        draft = check_request(asked, TABLE, house, shipped_statistics(), ledger, today=TODAY).draft
        if draft is None:
            continue
        if remembers:
            ledger.record(draft.disclosure, k=K)
        classes: dict[int, set[int]] = {}
        for person, shown in zip(draft.disclosure.people.tolist(), draft.disclosure.classes.tolist(), strict=True):
            classes.setdefault(shown, set()).add(person)
        told.append(classes)
    everybody = set(ledger.fingerprints(TABLE["patient"]).tolist())
    ledger.close()
    assert len(everybody) == PEOPLE
    seen = Counter(
        tuple(frozenset(name for name, members in one.items() if person in members) for one in told)
        for person in everybody
    )
    return len(told), min(seen.values())


def attacks(folder: Path, sequences: range, *, remembers: bool) -> tuple[int, int]:
    results = [attack(folder, number, remembers=remembers) for number in sequences]
    return sum(answers for answers, _ in results), min(smallest for _, smallest in results)


def test_an_attacker_who_asks_as_often_as_he_likes_singles_out_nobody(tmp_path: Path) -> None:
    answers, smallest = attacks(tmp_path, range(2), remembers=True)
    assert answers > 2
    assert smallest >= K


def test_the_attack_succeeds_if_nothing_is_remembered(tmp_path: Path) -> None:
    assert attacks(tmp_path, range(2), remembers=False)[1] < K


@pytest.mark.slow
@pytest.mark.parametrize("sequences", [150, pytest.param(500, marks=pytest.mark.exhaustive)])
def test_hundreds_of_sequences_of_requests_single_out_nobody(tmp_path: Path, sequences: int) -> None:
    answers, smallest = attacks(tmp_path, range(sequences), remembers=True)
    assert answers > sequences
    assert smallest >= K
