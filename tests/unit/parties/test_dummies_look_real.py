"""What a helper that keeps everything can tell about which rows are dummy rows.

Guesses by single counts (tests/support/dummy_spotter.py) are as good as chance for dummy rows of whole rows. Dummy rows
of joined rows can be told where columns of different parties depend on each other, and the certificate says how well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import kohorte as ko
from kohorte.parties.counting import telling
from kohorte.parties.counting.telling import SOME, steps_of, told
from kohorte.parties.dummy_rows import joined as joined_module
from kohorte.parties.dummy_rows import whole
from kohorte.parties.dummy_rows.joined import Group, chance_alike, with_joined_dummies
from kohorte.parties.dummy_rows.whole import LONGEST_TEXT, with_local_dummies
from kohorte.parties.own_table import LabelledColumn, OwnTable, own_table
from kohorte.parties.sealed import SealedTable, unpack
from kohorte.parties.study import Study
from support import dummy_spotter
from support.counters_of_a_run import opened_counters
from support.dummy_spotter import told_by_counts, told_by_training
from support.eavesdropper import keys_kept, recorded
from support.joint_studies import run_study, written_study
from testbed import joint, tables

Table = NDArray[np.integer]


@pytest.fixture(autouse=True)
def repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same dummy rows in every run of the tests."""
    draw = np.random.default_rng(6)
    for module in (whole, joined_module, telling):
        monkeypatch.setattr(module, "generator", lambda: draw)


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
        for name, value in told_by_counts(mixed, np.arange(len(mixed)) >= len(rows)).items():
            found.setdefault(name, []).append(value)
    return {name: float(np.mean(values)) for name, values in found.items()}


def above(found: Mapping[str, float], bound: float) -> dict[str, float]:
    """The guesses that tell dummy rows better than a bound."""
    return {name: value for name, value in found.items() if value > bound}


@pytest.mark.parametrize("table", MADE_UP, ids=lambda table: table.__name__)
def test_dummy_rows_of_whole_rows_are_told_only_by_chance(table: Callable[[np.random.Generator], Table]) -> None:
    assert above(averages(table(np.random.default_rng(4)), 3), CHANCE) == {}


def test_a_value_that_two_rows_have_tells_nothing_about_them() -> None:
    """Dummy rows had either a value that nobody has or one of at least three rows."""
    draw = np.random.default_rng(4)
    rows = np.stack([draw.zipf(1.3, 3000) % 5000, draw.integers(0, 9, 3000), draw.integers(0, 9, 3000)], axis=1)
    mixed = codes_of(with_local_dummies(own_of(rows), SHARE))
    often = pl.Series(mixed[:, 0]).to_frame("v").select(pl.len().over("v"))["len"].to_numpy()
    dummy = np.arange(len(mixed)) >= len(rows)
    shares = {count: float(dummy[often == count].mean()) for count in (1, 2, 3)}
    assert {count: share for count, share in shares.items() if not 0.1 < share < 0.3} == {}, shares


def public(folder: Path, name: str, rows: int) -> pl.DataFrame:
    return ko.read_table(folder / f"{name}.csv").frame.sample(rows, seed=1)


def as_codes(frame: pl.DataFrame) -> Table:
    columns = [frame[column].cast(pl.String).rank("dense").to_numpy() - 1 for column in frame.columns]
    return np.stack(columns, axis=1).astype(np.int64)


@pytest.mark.parametrize("name", ["adult", "cup"])
def test_dummy_rows_of_the_public_tables_are_told_only_by_chance(name: str, benchmark_folder: Path) -> None:
    assert above(averages(as_codes(public(benchmark_folder, name, 3000)), 2), CHANCE) == {}


def test_copies_and_random_rows_are_told_so_that_the_test_can_fail() -> None:
    rows = people(np.random.default_rng(4))
    dummy = np.arange(3750) >= 3000
    draw = np.random.default_rng(5)
    copies = np.concatenate([rows, rows[draw.integers(3000, size=750)]])
    assert told_by_counts(copies, dummy)["equal rows"] > 0.6
    mixed = np.concatenate([rows, rows[draw.integers(3000, size=(750, 5)), np.arange(5)]])
    assert told_by_counts(mixed, dummy)["together"] > 0.7


def test_rows_that_leave_no_other_combination_get_copies() -> None:
    """Two columns of two values, with seven rows of each combination: nothing new can be made up."""
    rows = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 7, axis=0)
    numbers = [with_local_dummies(own_of(rows), SHARE).rows - 28 for _ in range(30)]
    assert min(numbers) > 2
    assert 5 < np.mean(numbers) < 9


# Joined rows: no party knows them


def joined(tables: Mapping[str, OwnTable]) -> tuple[Table, NDArray[np.bool_]]:
    """The joined rows with dummy rows, and which of them are dummy rows."""
    fewest = min(own.rows for own in tables.values())
    group = Group({name: chance_alike(own) for name, own in tables.items()}, fewest)
    whole: pl.DataFrame | None = None
    for name, own in tables.items():
        mixed = with_joined_dummies(own, SHARE, key=bytes(32), group=group, name=name)
        assert mixed.identifiers is not None
        part = pl.DataFrame({"id": mixed.identifiers, **{f"{name} {c}": v.codes for c, v in mixed.columns.items()}})
        whole = part if whole is None else whole.join(part, on="id")
    assert whole is not None
    return whole.drop("id").to_numpy().astype(np.int64), whole["id"].str.starts_with("\0").to_numpy()


def parts_of(rows: Table, parties: int) -> dict[str, OwnTable]:
    """The columns divided between parties in turn."""
    identifiers = tuple(f"person {number}" for number in range(len(rows)))
    return {f"P{number}": own_of(rows[:, number::parties], identifiers) for number in range(parties)}


def public_parts(frame: pl.DataFrame, name: str, folder: Path) -> dict[str, OwnTable]:
    """A public table divided as published, with its hierarchies."""
    parts = joint.divided_columns(frame, joint.COLUMNS[name, 3])
    columns = dict(zip(parts, joint.COLUMNS[name, 3], strict=True))
    plan = tables.plan(name, k=5, limit=0.0, metric="non_uniform_entropy")
    study = Study.from_yaml(joint.study_file(folder, plan, protocol="C", parties=columns, vertical=True))
    return {party: own_table(part, study, party, lengths={}) for party, part in parts.items()}


JOINED = [(few_values, 0.58), (heavy_tails, 0.62), (one_key, 0.58), (two_columns, 0.62)]


@pytest.mark.parametrize(("table", "bound"), JOINED, ids=lambda given: getattr(given, "__name__", None))
def test_dummy_rows_of_joined_rows_are_hardly_told_if_the_parties_columns_are_independent(
    table: Callable[[np.random.Generator], Table], bound: float
) -> None:
    assert above(told_by_counts(*joined(parts_of(table(np.random.default_rng(4)), 2))), bound) == {}


@pytest.mark.parametrize("name", ["adult", "cup"])
def test_dummy_rows_of_the_joined_public_tables_are_hardly_told(
    name: str, benchmark_folder: Path, tmp_path: Path
) -> None:
    rows, dummy = joined(public_parts(public(benchmark_folder, name, 3000), name, tmp_path))
    assert above(told_by_counts(rows, dummy), 0.6) == {}


def test_parties_with_different_people_make_a_dummy_row_from_the_same_person() -> None:
    """Both parties know the ward; a dummy row with two wards would be made from two people."""
    draw = np.random.default_rng(3)
    ward = draw.integers(0, 3, (2000, 1))
    names = [f"person {number}" for number in range(2000)]
    here, there = np.arange(1500), draw.permutation(np.arange(600, 2000))
    parts = {
        "here": own_of(ward[here], tuple(names[row] for row in here)),
        "there": own_of(ward[there], tuple(names[row] for row in there)),
    }
    rows, dummy = joined(parts)
    assert int((~dummy).sum()) == 900
    assert 180 < int(dummy.sum()) < 270  # a quarter, less those whose turn comes at one party only
    assert (rows[dummy, 0] == rows[dummy, 1]).mean() > 0.97  # chance: one third


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, 2.5])
def test_parties_with_the_same_people_choose_the_same_dummy_rows(share: float) -> None:
    own = parts_of(few_values(np.random.default_rng(4))[:200], 2)
    group = Group({name: chance_alike(table) for name, table in own.items()}, 200)
    mixed = {name: with_joined_dummies(table, share, key=b"key", group=group, name=name) for name, table in own.items()}
    identifiers = [set((table.identifiers or ())[200:]) for table in mixed.values()]
    assert identifiers[0] == identifiers[1]
    assert len(identifiers[0]) == round(200 * share)
    assert all(len(name.encode()) <= LONGEST_TEXT for name in identifiers[0])


def test_how_likely_two_rows_are_alike_is_counted() -> None:
    rows = np.array([[0, 0], [0, 0], [0, 1], [1, 1]])
    pairs = list(combinations(range(4), 2))
    assert chance_alike(own_of(rows)) == sum((rows[one] == rows[two]).all() for one, two in pairs) / len(pairs)
    assert chance_alike(own_of(rows), ["c0"]) == 3 / 6
    assert chance_alike(own_of(rows[:1])) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("adult", marks=pytest.mark.exhaustive), "cup"])
def test_all_rows_of_the_public_tables_with_their_dummy_rows(name: str, benchmark_folder: Path, tmp_path: Path) -> None:
    """The figures that docs/parties.md states: single counts, and training with the answers for half of the rows."""
    frame = ko.read_table(benchmark_folder / f"{name}.csv").frame
    whole = as_codes(frame)
    third = whole[: len(whole) // 3]
    mixed = codes_of(with_local_dummies(own_of(third), SHARE))
    dummy = np.arange(len(mixed)) >= len(third)
    assert above(told_by_counts(mixed, dummy), CHANCE) == {}
    assert told_by_training(mixed, dummy) < {"adult": 0.7, "cup": 0.58}[name]
    rows, dummy = joined(public_parts(frame, name, tmp_path))
    assert above(told_by_counts(rows, dummy), 0.58) == {}
    assert told_by_training(rows, dummy) < 0.75


# What the certificate says


def _joint_facts(folder: Path, rows: Table, *, vertical: bool) -> tuple[dict[str, Any], str]:
    """Run a study of two parties with protocol C; return the statement about the parties, and the certificate."""
    frame = pl.DataFrame(rows, schema=["a", "b"])
    plan = {
        "kohorte": 1,
        "attributes": {name: {"role": "quasi-identifying"} for name in frame.columns},
        "models": [{"model": "k-anonymity", "k": 5}],
        "suppression_limit": 0.0,
    }
    parties: dict[str, Any] = {name: {"columns": [name]} if vertical else {} for name in frame.columns}
    more = {"distribution": "vertical", "identifier": "TID"} if vertical else {}
    study = written_study(folder, plan, protocol="C", parties=parties, dummies=SHARE, **more)
    numbered = frame.with_row_index("TID").with_columns(pl.col("TID").cast(pl.String))
    halves = {"a": frame[: len(rows) // 2], "b": frame[len(rows) // 2 :]}
    release = run_study(study, {name: numbered.select("TID", name) for name in "ab"} if vertical else halves)["a"]
    assert release is not None
    facts: Any = release.certificate.facts["joint"]
    return facts, release.certificate.to_text()


def test_the_certificate_says_that_dummy_rows_can_be_told_where_columns_of_parties_depend_on_each_other(
    tmp_path: Path,
) -> None:
    """With 300 values, too few pairs of people agree for the parties to notice that one column determines the other."""
    draw = np.random.default_rng(1)
    value = draw.integers(0, 300, 400)
    same, in_words = _joint_facts(tmp_path / "same", np.stack([value, value], axis=1), vertical=True)
    assert same["dummy_rows"]["told"] > 0.7
    assert f"they are, {same['dummy_rows']['told']:.0%} of the time; 50% is chance." in in_words
    other, _ = _joint_facts(tmp_path / "other", draw.integers(0, 4, (400, 2)), vertical=True)
    assert other["dummy_rows"]["told"] < 0.67  # the people are chosen by a key: the best of eleven guesses varies


def test_the_certificate_of_whole_rows_says_that_dummy_rows_are_told_by_chance(tmp_path: Path) -> None:
    facts, _ = _joint_facts(tmp_path, np.random.default_rng(1).integers(0, 9, (500, 2)), vertical=False)
    assert facts["dummy_rows"]["told"] < 0.67


def test_what_is_certified_is_what_a_helper_can_count() -> None:
    """The area of the package, from rows and people in steps, against that of each row."""
    rows = np.concatenate([people(np.random.default_rng(4)), np.random.default_rng(5).integers(0, 60, (750, 5))])
    dummy = np.arange(3750) >= 3000
    different, of, sizes = np.unique(rows.astype(np.uint32), axis=0, return_inverse=True, return_counts=True)
    steps = steps_of(different, sizes)
    real = np.tile(np.bincount(of.reshape(-1), weights=~dummy)[steps.chosen], len(steps.step_of))
    people_of_step = np.bincount(steps.step_of.reshape(-1), weights=real, minlength=steps.count).astype(np.int64)
    best = max(told_by_counts(rows, dummy).values())
    assert told(steps.rows, people_of_step) == pytest.approx(best, abs=0.03)


def test_mirrored_rows_are_certified_as_told_exactly_by_chance_also_if_only_some_rows_are_compared() -> None:
    """Rows were drawn without their mirror images, and certificates stated up to 54 % by chance."""
    real = np.random.default_rng(4).geometric(0.15, (12_000, 4)).clip(max=20)
    rows = np.concatenate([real, 21 - real]).astype(np.uint32)
    different, of, sizes = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    steps = steps_of(different, sizes)
    assert len(different) > SOME >= len(steps.chosen) > SOME // 2
    is_real = np.arange(len(rows)) < len(real)
    people_of = np.tile(np.bincount(of.reshape(-1), weights=is_real)[steps.chosen], len(steps.step_of))
    people_of_step = np.bincount(steps.step_of.reshape(-1), weights=people_of, minlength=steps.count).astype(np.int64)
    assert told(steps.rows, people_of_step) == pytest.approx(0.5, abs=1e-12)


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
    people_of = opened_counters(keys, messages)
    for table in sent:
        assert table.counters is not None
        people_of_row = people_of(table.counters)
        assert int(people_of_row.sum()) == 800
        arrival = np.arange(table.rows, dtype=np.float64)
        assert dummy_spotter.told(arrival, people_of_row == 0) < 0.5 + 4 * 0.29 * (1 / 800 + 1 / 200) ** 0.5
        assert len(np.unique(table.counters, axis=0)) == table.rows
    asked = [unpack(message) for name, message in messages.items() if name.endswith("-to-helper-ask.bin")]
    kept = [arrays["kept"] for _, arrays in asked if "kept" in arrays]
    assert len(kept) == 1
    assert kept[0].all()  # classes without people, too: the helper is not told which they are
