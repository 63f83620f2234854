"""k-map and delta-presence for people, by file and by subset, against a count in plain Python, on random tables."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte import Plan, anonymize
from kohorte.errors import NoSolution

ZIP = {"11": ("11", "1*", "*"), "12": ("12", "1*", "*"), "21": ("21", "2*", "*"), "22": ("22", "2*", "*")}
SEX = {"m": ("m", "*"), "f": ("f", "*")}
LOSS = (Fraction(0), Fraction(1, 3), Fraction(1)), (Fraction(0), Fraction(1))
Row = tuple[str, str, str]
"""Person, zip, sex."""


class Study:
    """People with several rows each, of whom some rows are released."""

    def __init__(self, seed: int, kind: str) -> None:
        chance = random.Random(seed)
        people = chance.randint(4, 12)
        self.kind, self.file = kind.split()[0], kind.endswith("file")
        self.everybody = [
            (f"p{chance.randrange(people)}", chance.choice(list(ZIP)), chance.choice("mf"))
            for _ in range(chance.randint(8, 40))
        ]
        self.flags = [chance.random() < 0.6 for _ in self.everybody]
        self.flags[0] = True
        self.limit = chance.choice((0, 0.2, 0.5))
        self.k = chance.choice((2, 3, 4))
        self.minimum, self.maximum = chance.choice((0, 0, 0.2)), chance.choice((0.5, 0.7, 0.9))

    @property
    def released(self) -> list[Row]:
        return [row for row, flag in zip(self.everybody, self.flags, strict=True) if flag]

    @property
    def frame(self) -> pl.DataFrame:
        rows = self.released if self.file else self.everybody
        frame = pl.DataFrame(rows, schema=["person", "zip", "sex"], orient="row")
        return frame if self.file else frame.with_columns(flag=pl.Series(self.flags).cast(pl.Int8))

    def plan(self, folder: Path) -> Plan:
        pl.DataFrame(self.everybody, schema=["person", "zip", "sex"], orient="row").write_csv(folder / "all.csv")
        among = {"population": str(folder / "all.csv")} if self.file else {"subset": "flag"}
        limits = {"k": self.k} if self.kind == "k-map" else {"minimum": self.minimum, "maximum": self.maximum}
        attributes: dict[str, Any] = {
            "person": {"role": "identifying"},
            "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 2}}},
            "sex": {"role": "quasi-identifying"},
            **({} if self.file else {"flag": {"role": "insensitive"}}),
        }
        models = [{"model": self.kind, **limits, **among}]
        base = {"kohorte": 1, "attributes": attributes, "models": models, "person": "person"}
        return Plan.from_dict({**base, "suppression_limit": self.limit})

    @property
    def best_cost(self) -> Fraction | None:
        return min(filter(lambda cost: cost is not None, map(self._cost, product(range(3), range(2)))), default=None)

    def _cost(self, node: tuple[int, int]) -> Fraction | None:
        """The loss at a node; None if it is no solution."""
        table, population = _classes(self.released, node), _classes(self.everybody, node)
        if self.kind == "delta-presence" and self.minimum > 0 and set(population) - set(table):
            return None
        bad = {shown for shown, rows in table.items() if not self._holds(rows, population[shown])}
        suppressed = sum(len(table[shown]) for shown in bad)
        if suppressed > Fraction(str(self.limit)) * len(self.released) or (bad and node == (2, 1)):
            return None
        of_row = (LOSS[0][node[0]] + LOSS[1][node[1]]) / 2
        return (suppressed + of_row * (len(self.released) - suppressed)) / len(self.released)

    def _holds(self, rows: list[Row], population: list[Row]) -> bool:
        """The model, and that no class is a single person."""
        people, of_population = ({person for person, *_ in some} for some in (rows, population))
        if len(people) < 2:
            return False
        if self.kind == "k-map":
            return len(of_population) >= self.k
        share = Fraction(len(people), len(of_population))
        return Fraction(str(self.minimum)) <= share <= Fraction(str(self.maximum))


def _classes(rows: list[Row], node: tuple[int, int]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[ZIP[row[1]][node[0]], SEX[row[2]][node[1]]].append(row)
    return found


@pytest.mark.parametrize("kind", ["k-map subset", "k-map file", "delta-presence subset", "delta-presence file"])
def test_the_best_release_counts_people_of_table_and_population(kind: str, tmp_path: Path) -> None:
    found = 0
    for seed in range(40):
        study = Study(seed, kind)
        try:
            cost = anonymize(study.frame, study.plan(tmp_path)).cost
        except NoSolution:
            cost = None
        wanted = study.best_cost
        assert cost == (None if wanted is None else pytest.approx(float(wanted))), seed
        found += cost is not None
    assert found >= 10
