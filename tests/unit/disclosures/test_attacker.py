"""An attacker with unlimited requests against 1,000 people: with the memory nobody stands out, without it many do."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from kohorte.disclosures.candidate import Candidate
from kohorte.disclosures.ledger import Ledger
from support.disclosing_attacker import Answer, Attacker, population, smallest_group

K = 5
PEOPLE = 1000
REQUESTS = 12


def attack(seed: int, folder: Path | None) -> tuple[int, int]:
    """Ask and compare; returns the size of the smallest group that stands out, and how many requests were answered."""
    dice = random.Random(seed)
    people = population(dice, PEOPLE)
    attacker = Attacker(dice, dice.choice(people))
    ledger = None if folder is None else Ledger.open(folder, create=True, actor="tester")
    answers: list[Answer] = []
    for number in range(REQUESTS):
        here = people[: PEOPLE - 3 * (REQUESTS - number - 1)]  # three people arrive before every request
        asked = attacker.ask()
        answer = asked.classes(here, K)
        if ledger is not None:
            answer = remembered(ledger, asked.recipient, answer, len(here))
        if answer:
            answers.append(answer)
    if ledger is not None:
        ledger.close()
    return smallest_group(PEOPLE, answers), len(answers)


def remembered(ledger: Ledger, recipient: str, answer: Answer, people: int) -> Answer:
    """The answer as the memory lets it pass."""
    table = ledger.fingerprints([str(person) for person in range(people)])
    classes = np.array([answer.get(person, -1) for person in range(people)])
    passed = ledger.repaired(Candidate(table, classes, recipient, table=table), K)
    if passed is None:
        return {}
    ledger.record(passed, k=K)
    return {person: int(one) for person, one in enumerate(passed.classes) if one >= 0}


def test_with_the_memory_nobody_stands_out_and_without_it_people_do(tmp_path: Path) -> None:
    for seed in range(3):
        smallest, answered = attack(seed, tmp_path / str(seed))
        assert smallest >= K
        assert answered > 0
    assert min(attack(seed, None)[0] for seed in range(3)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("sequences", [150, pytest.param(500, marks=pytest.mark.exhaustive)])
def test_in_many_sequences_nobody_stands_out_and_most_would_without_the_memory(sequences: int, tmp_path: Path) -> None:
    with_memory = [attack(seed, tmp_path / str(seed)) for seed in range(sequences)]
    assert min(smallest for smallest, _ in with_memory) >= K
    assert sum(answered for _, answered in with_memory) > 2 * sequences  # refusing everything would be safe, too
    assert sum(attack(seed, None)[0] < K for seed in range(sequences)) > 0.8 * sequences
