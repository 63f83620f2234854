"""The ledger against an attacker who computes everything: Boolean algebra and arithmetic of the told sets."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from kohorte.disclosures.candidate import LEFT_OUT, Candidate
from kohorte.disclosures.ledger import Ledger
from support.disclosure_oracle import Release, algebra, linear, smallest, told_sets, values_in_common

RECIPIENTS = ("A", "B", "C")
GROUPS = (("A", "B"), ("B", "C"))


class Sequence:
    """Random requests for one small table: rows, conditions and classes; some people have several rows."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.dice = random.Random(seed)
        self.people = self.dice.randint(4, 12)
        self.k = self.dice.randint(2, 3)
        rows = [*range(self.people), *self.dice.choices(range(self.people), k=self.dice.choice((0, 0, 2, 4)))]
        self.ledger = Ledger.open(folder, create=True, actor="tester")
        self.index = self.ledger.fingerprints([f"p{number}" for number in rows])
        self.rows = rows
        self.values = [self.dice.randint(0, 1) for _ in range(self.people)]

    def candidate(self) -> Candidate:
        """A request: often a few people more or less than everybody, in one to three classes."""
        share = self.dice.choice((0.5, 0.8, 0.9, 1.0, 1.0))
        number = self.dice.randint(1, 3)
        class_of = [self.dice.randrange(number) for _ in self.rows]
        shown = [self.dice.random() < share for _ in self.rows]
        classes = [one if kept else LEFT_OUT for one, kept in zip(class_of, shown, strict=True)]
        return Candidate(self.index, np.array(classes), self.dice.choice(RECIPIENTS))

    def told_by(self, candidate: Candidate) -> Release:
        """What the candidate tells, in the words of the oracle."""
        told: dict[int, set[int]] = {}
        for person, one in zip(self.rows, candidate.classes.tolist(), strict=True):
            if one != LEFT_OUT:
                told.setdefault(person, set()).add(one)
        return {person: frozenset(classes) for person, classes in told.items()}


def known_to(sequence: list[tuple[str, Release]], group: tuple[str, ...]) -> list[Release]:
    return [release for recipient, release in sequence if recipient in group]


def groups_of(recipient: str, together: object) -> list[tuple[str, ...]]:
    if together == "all":
        return [RECIPIENTS]
    if together == "alone":
        return [(recipient,)]
    return [group for group in GROUPS if recipient in group]


def try_sequence(seed: int, folder: Path, together: object, *, repair: bool) -> tuple[int, int]:
    """Ask, compare the answer with the oracle, release what passes; returns how many passed and how many did not."""
    run = Sequence(seed, folder)
    told: list[tuple[str, Release]] = []
    refused = 0
    for _ in range(6):
        candidate = run.candidate()
        groups = groups_of(candidate.recipient, together)
        release = run.told_by(candidate)
        derived = [algebra(told_sets([*known_to(told, group), release]), run.people) for group in groups]
        harmful = any(smallest(sets) < run.k for sets in derived)
        assert bool(run.ledger.examine(candidate, run.k, together)) == harmful
        chosen: Candidate | None = candidate
        if harmful:
            refused += 1
            chosen = run.ledger.repaired(candidate, run.k, together) if repair else None
        if chosen is None:
            continue
        kept = chosen.classes != LEFT_OUT
        assert (chosen.classes[kept] == candidate.classes[kept]).all()
        run.ledger.record(chosen, "hash", k=run.k, together=together)
        told.append((chosen.recipient, run.told_by(chosen)))
        for group in groups:
            sets = told_sets(known_to(told, group))
            assert smallest(algebra(sets, run.people)) >= run.k
            assert not linear(sets, run.people, run.k)
    run.ledger.refuse_changed()
    run.ledger.close()
    return len(told), refused


def count_sequences(seeds: range, folder: Path) -> tuple[int, int]:
    results = [
        try_sequence(seed, folder / str(seed), together, repair=seed % 2 == 0)
        for seed, together in zip(seeds, ("all", "alone", GROUPS) * len(seeds), strict=False)
    ]
    return sum(passed for passed, _ in results), sum(refused for _, refused in results)


def test_what_the_ledger_finds_is_what_can_be_derived(tmp_path: Path) -> None:
    passed, refused = count_sequences(range(12), tmp_path)
    assert passed > 10
    assert refused > 10


@pytest.mark.slow
def test_what_the_ledger_finds_is_what_can_be_derived_in_many_sequences(tmp_path: Path) -> None:
    passed, refused = count_sequences(range(100, 400), tmp_path)
    assert passed > 300
    assert refused > 300


def test_people_who_can_be_told_apart_do_not_share_a_value(tmp_path: Path) -> None:
    homogeneous = 0
    for seed in range(10):
        run = Sequence(seed, tmp_path / str(seed))
        run.rows, run.index = run.rows[: run.people], run.index[: run.people]
        codes = np.array(run.values)
        told: list[Release] = []
        for _ in range(4):
            plain = run.candidate()
            everybody = Candidate(plain.people, plain.classes, "A", sensitive={"diagnosis": codes})
            release = run.told_by(everybody)
            sets = told_sets([*told, release])
            shown = sum(1 << person for person in {p for one in (*told, release) for p in one})
            small = smallest(algebra(sets, run.people)) < run.k
            alike = any(one & shown == one for one in values_in_common(sets, run.people, run.values))
            assert bool(run.ledger.examine(everybody, run.k)) == (small or alike)
            homogeneous += alike and not small
            if not small and not alike:
                run.ledger.record(everybody)
                told.append(release)
    assert homogeneous > 0
