"""A helper cannot tell dummy rows of whole rows from real ones better than by chance; those of joined rows, somewhat.

What is tested: guesses by single counts (tests/support/dummy_spotter.py), on tables whose columns depend on each other
as little or as much as in the public tables. What is not promised: a guess that is learnt from rows whose answer is
known, and columns of which one determines another.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import kohorte as ko
from kohorte.parties.ciphers.counters import ElGamal
from kohorte.parties.dummies import number_of, with_joined_dummies, with_local_dummies
from kohorte.parties.own_table import LabelledColumn, OwnTable
from kohorte.parties.sealed import SealedTable, unpack
from support.dummy_spotter import scores, surest, told
from support.eavesdropper import keys_kept, recorded
from support.joint_studies import run_study, written_study
from testbed import joint

Table = NDArray[np.integer]
SHARE = 0.25
CHANCE = 0.55
"""As good as chance: what is left of a half if tables of some thousand rows are drawn at random."""


def own_of(rows: Table, identifiers: tuple[str, ...] | None = None) -> OwnTable:
    """A table of codes, with two levels: a value and everything."""
    columns = {}
    for number in range(rows.shape[1]):
        count = int(rows[:, number].max()) + 1
        levels = np.stack([np.arange(count), np.full(count, count)], axis=1).astype(np.uint32)
        texts = (*(f"value {value}" for value in range(count)), "everything")
        columns[f"c{number}"] = LabelledColumn(rows[:, number].astype(np.uint32), levels, texts)
    return OwnTable(columns, identifiers)


def codes_of(own: OwnTable) -> Table:
    return np.stack([column.codes for column in own.columns.values()], axis=1)


def few_values(draw: np.random.Generator) -> Table:
    return draw.integers(0, 4, (3000, 4))


def heavy_tails(draw: np.random.Generator) -> Table:
    return draw.zipf(1.5, (3000, 5)) % 200


def people(draw: np.random.Generator) -> Table:
    """Ages, marital status and work that go together, and a town."""
    age = np.clip(draw.gamma(4, 10, 3000), 15, 90).astype(int)
    status = np.where(draw.random(3000) < np.clip((age - 18) / 25, 0.02, 0.9), 1 + (draw.random(3000) < 0.2), 0)
    work = np.where((age > 64) | (age < 18), 0, draw.integers(1, 12, 3000))
    return np.stack([age, status, work, draw.zipf(1.6, 3000) % 60, draw.integers(0, 2, 3000)], axis=1)


def one_key(draw: np.random.Generator) -> Table:
    return np.stack([np.arange(3000), draw.integers(0, 50, 3000), draw.integers(0, 9, 3000)], axis=1)


def two_columns(draw: np.random.Generator) -> Table:
    return draw.integers(0, 50, (3000, 2))


MADE_UP = [few_values, heavy_tails, people, one_key, two_columns]


def averages(rows: Table, repetitions: int) -> dict[str, float]:
    """How well each guess tells dummy rows of whole rows, in the mean."""
    found: dict[str, list[float]] = {}
    for _ in range(repetitions):
        mixed = codes_of(with_local_dummies(own_of(rows), SHARE))
        dummy = np.arange(len(mixed)) >= len(rows)
        for name, score in scores(mixed).items():
            found.setdefault(name, []).append(told(score, dummy))
    del found["arrival"]  # not yet shuffled
    return {name: float(np.mean(values)) for name, values in found.items()}


@pytest.mark.parametrize("table", MADE_UP, ids=lambda table: table.__name__)
def test_dummy_rows_of_whole_rows_are_told_only_by_chance(table: Callable[[np.random.Generator], Table]) -> None:
    found = averages(table(np.random.default_rng(4)), 4)
    assert {name: value for name, value in found.items() if value > CHANCE} == {}


def public(folder: Path, name: str, rows: int) -> tuple[Table, list[str]]:
    frame = ko.read_table(folder / f"{name}.csv").frame.sample(rows, seed=1)
    columns = [frame[column].cast(pl.String).rank("dense").to_numpy() - 1 for column in frame.columns]
    return np.stack(columns, axis=1).astype(np.int64), frame.columns


@pytest.mark.parametrize("name", ["adult", "cup"])
def test_dummy_rows_of_the_public_tables_are_told_only_by_chance(name: str, benchmark_folder: Path) -> None:
    found = averages(public(benchmark_folder, name, 3000)[0], 2)
    assert {name: value for name, value in found.items() if value > CHANCE + 0.02} == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adult", "cup"])
def test_dummy_rows_of_all_rows_of_the_public_tables_are_told_only_by_chance(name: str, benchmark_folder: Path) -> None:
    rows = public(benchmark_folder, name, 30_000)[0]
    found = averages(rows[::3], 3)
    assert {name: value for name, value in found.items() if value > CHANCE} == {}


def test_copies_and_random_rows_are_told_so_that_the_test_can_fail() -> None:
    rows = people(np.random.default_rng(4))
    dummy = np.arange(3750) >= 3000
    draw = np.random.default_rng(5)
    copies = np.concatenate([rows, rows[draw.integers(3000, size=750)]])
    assert told(scores(copies)["equal rows"], dummy) > 0.6
    mixed = np.concatenate([rows, rows[draw.integers(3000, size=(750, 5)), np.arange(5)]])
    assert told(scores(mixed)["together"], dummy) > 0.7
    assert surest(scores(mixed)["together"], dummy) > 0.7


# Joined rows: a party knows only its own columns, so that the disguise is rough


def joined(rows: Table, columns: list[list[int]]) -> tuple[Table, NDArray[np.bool_]]:
    """The joined rows of parties with these columns, dummy rows at the end."""
    identifiers = tuple(f"person {number}" for number in range(len(rows)))
    parties, count = [f"P{number}" for number in range(len(columns))], number_of(SHARE, len(rows))
    parts = []
    for name, own in zip(parties, columns, strict=True):
        table = own_of(rows[:, own], identifiers)
        parts.append(codes_of(with_joined_dummies(table, count, key=bytes(32), parties=parties, name=name)))
    return np.concatenate(parts, axis=1), np.arange(len(rows) + count) >= len(rows)


@pytest.mark.parametrize("name", ["adult", "cup"])
def test_no_dummy_row_of_joined_rows_is_told_for_certain(name: str, benchmark_folder: Path) -> None:
    """One row in five is a dummy row; of the most suspicious ones, not more than about every second is."""
    rows, names = public(benchmark_folder, name, 3000)
    mixed, dummy = joined(rows, [[names.index(one) for one in own] for own in joint.COLUMNS[name, 3]])
    found = {guess: (told(score, dummy), surest(score, dummy)) for guess, score in scores(mixed).items()}
    del found["arrival"]
    assert max(area for area, _ in found.values()) < 0.66
    assert max(share for _, share in found.values()) < 0.6


# Whole runs: what arrives at the helper


def test_neither_the_order_nor_the_counters_tell_dummy_rows_to_the_helper(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    plan = {
        "kohorte": 1,
        "attributes": {"age": {"role": "quasi-identifying"}, "town": {"role": "quasi-identifying"}},
        "models": [{"model": "k-anonymity", "k": 5}],
        "suppression_limit": 0.0,
    }
    study = written_study(tmp_path / "study", plan, protocol="C", parties={"a": {}, "b": {}})
    frame = pl.DataFrame({"age": draw.integers(20, 40, 1600), "town": draw.choice(["M", "W", "D"], 1600)})
    with keys_kept() as keys:
        run_study(study, {"a": frame[:800], "b": frame[800:]}, record=tmp_path / "sent")
    messages = recorded(tmp_path / "sent")
    sent = [SealedTable.from_bytes(message) for name, message in messages.items() if name.endswith("-helper-table.bin")]
    key = _key_of(keys, messages)
    for table in sent:
        assert table.counters is not None
        people_of_row = key.decrypt(table.counters, 1)
        assert int(people_of_row.sum()) == 800
        arrival = np.arange(table.rows, dtype=np.float64)
        assert told(arrival, people_of_row == 0) < 0.5 + 4 * 0.29 * (1 / 800 + 1 / 200) ** 0.5
        assert len(np.unique(table.counters, axis=0)) == table.rows
    asked = [unpack(message) for name, message in messages.items() if name.endswith("-to-helper-ask.bin")]
    kept = [arrays["kept"] for _, arrays in asked if "kept" in arrays]
    assert len(kept) == 1
    assert kept[0].all()  # classes without people, too: the helper is not told which they are


def _key_of(keys: set[bytes], messages: dict[str, bytes]) -> ElGamal:
    """The private key whose public half the helper got."""
    (public_half,) = [message for name, message in messages.items() if name.endswith("-helper-public-key.bin")]
    candidates = [ElGamal(key) for key in keys if len(key) == 32 and key[-1] < 16]
    return next(one for one in candidates if one.public.to_bytes() == public_half)
