"""Mirrored dummy rows: whatever a helper sees, it sees as often with the two halves of the table exchanged.

The tables are checked without the package: all names that labels can have under encryption are tried one after another.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from numpy.typing import NDArray

import kohorte as ko
from kohorte.errors import InputError, ProtocolError
from kohorte.in_words import listed
from kohorte.parties.counting.veiled import left_over
from kohorte.parties.dummy_rows.exchange import exchanged_labels
from kohorte.parties.dummy_rows.mirrored import with_mirrored_rows
from kohorte.parties.dummy_rows.statement import dummy_warnings
from kohorte.parties.dummy_rows.whole import LONGEST_TEXT
from kohorte.parties.own_table import LabelledColumn, OwnTable, labels_of, listed_values, numbered
from kohorte.parties.sealed import SealedTable, unpack
from kohorte.parties.suitability import refuse_unsuited
from kohorte.search.surrogate import entropies
from support.counters_of_a_run import opened_counters
from support.dummy_spotter import told, told_by_counts
from support.eavesdropper import keys_kept, recorded
from support.joint_studies import rows_of, run_study, written_study

Labels = tuple[str | None, ...]
Table = NDArray[np.integer]


def key_of(number: int) -> Callable[[str], bytes]:
    return lambda column: f"key {number} of {column}".encode()


def column_of(values: Sequence[Labels], codes: Sequence[int], shares: Sequence[Sequence[float]] = ()) -> LabelledColumn:
    return numbered(np.array(codes, dtype=np.uint32), values, np.array(shares) if shares else None)


def mirrored(own: OwnTable, number: int) -> OwnTable:
    return with_mirrored_rows(own, None, key_of(number), b"people")


# What a helper sees, tried with all names


def seen(table: OwnTable, marked: int) -> Counter[object]:
    """The views of a helper, with all names that ciphertexts can give to labels; one half of the rows is marked.

    A view is what arrives: for each column the labels of all values, with their shares, and the rows in no order.
    """
    columns = list(table.columns.values())
    half = table.rows // 2
    found: Counter[object] = Counter()
    for names in product(*(permutations(range(len(column.texts))) for column in columns)):
        named = [
            [
                (
                    tuple(
                        label if label is None or label == "*" else name[column.texts.index(label)] for label in labels
                    ),
                    None if column.shares is None else tuple(column.shares[value].tolist()),
                )
                for value, labels in enumerate(labels_of(column))
            ]
            for name, column in zip(names, columns, strict=True)
        ]
        rows = Counter(
            (row // half == marked, *(own[column.codes[row]] for own, column in zip(named, columns, strict=True)))
            for row in range(table.rows)
        )
        found[(tuple(map(frozenset, named)), frozenset(rows.items()))] += 1
    return found


FOUR: list[Labels] = [("a", "*"), ("b", "*"), ("c", "*"), ("d", "*")]
WITH_MISSING: list[Labels] = [("a", "*"), ("b", "*"), ("c", "*"), (None, "*")]
GROUPS: list[Labels] = [("a", "X", "*"), ("b", "X", "*"), ("c", "Y", "*")]
REPEATED: list[Labels] = [("a", "X", "*"), ("X", "X", "*"), ("b", "X", "*"), ("c", "c", "*")]
GENERALIZED: list[Labels] = [("X", "X", "*"), ("Y", "Y", "*"), ("Z", "Z", "*")]
COUNTED: list[Labels] = [("1", "one"), ("1.0", "one"), ("x", "x"), ("y", "y")]
CASES: dict[str, tuple[list[Labels], list[list[float]], int]] = {
    "values": (FOUR, [], 3),
    "a missing value": (WITH_MISSING, [], 3),
    "groups of different sizes": (GROUPS, [], 2),
    "a text at two places": (REPEATED, [], 1),
    "labels instead of values": (GENERALIZED, [], 3),
    "numbers written in two ways": (COUNTED, [], 1),
    "shares": (FOUR, [[0.0, 1.0], [0.0, 1.0], [0.5, 1.0], [0.0, 1.0]], 3),
    "shares of groups": (GROUPS, [[0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 1.0]], 1),
}


def small(values: Sequence[Labels], shares: Sequence[Sequence[float]]) -> OwnTable:
    """Some values more often than others, and a second column that goes with them."""
    first = [0, 0, 0, 1, 1, 2, len(values) - 1, 0]
    second = [0, 0, 0, 1, 1, 0, 1, 1]
    return OwnTable({"a": column_of(values, first, shares), "b": column_of([("m", "*"), ("f", "*")], second)})


@pytest.mark.parametrize("case", CASES)
def test_every_view_of_a_helper_is_as_likely_with_the_halves_exchanged(case: str) -> None:
    values, shares, different = CASES[case]
    own = small(values, shares)
    exchanges: dict[frozenset[tuple[str, str]], int] = {}
    for number in range(30):
        pairs = exchanged_labels(own.columns["a"], key_of(number)("a"))
        exchanges.setdefault(frozenset(pair for pair in pairs.items() if "\0" not in "".join(pair)), number)
    assert len(exchanges) >= different, "pairs are drawn"
    for number in list(exchanges.values())[:3]:
        table = mirrored(own, number)
        assert table.rows == 2 * own.rows
        assert seen(table, 0) == seen(table, 1)


def test_another_relabelling_is_told_so_that_the_test_can_fail() -> None:
    """Values that are exchanged in a circle: all counts are alike on average, but not in a single run."""
    codes = [0, 0, 0, 1, 1, 2]
    circle = OwnTable({"a": column_of([("a",), ("b",), ("c",)], [*codes, *((code + 1) % 3 for code in codes)])})
    assert seen(circle, 0) != seen(circle, 1)
    others = OwnTable({"a": column_of([("a",), ("b",), ("c",)], [0, 0, 0, 1, 1, 1, 2, 2])})
    assert seen(others, 0) != seen(others, 1)


# The exchange of labels


def forest(draw: np.random.Generator) -> list[Labels]:
    """Values with towns, states and countries of different sizes."""
    names = [(f"{c}", f"{c}{s}", f"{c}{s}{t}") for c in "AB" for s in "xyz" for t in range(int(draw.integers(1, 5)))]
    return [(town, state, country, "*") for country, state, town in names]


@pytest.mark.parametrize("number", range(5))
def test_an_exchange_is_its_own_inverse_and_keeps_the_hierarchy(number: int) -> None:
    values = forest(np.random.default_rng(number))
    column = column_of(values, range(len(values)))
    pairs = exchanged_labels(column, key_of(number)("town"))
    assert all(pairs[other] == one != other for one, other in pairs.items())
    whole = with_mirrored_rows(OwnTable({"town": column}), None, key_of(number), b"").columns["town"]
    above: dict[tuple[int, str | None], str | None] = {}
    for labels in labels_of(whole):
        for level in range(3):
            assert above.setdefault((level, labels[level]), labels[level + 1]) == labels[level + 1]
    invented = [text for text in whole.texts if text.startswith("\0")]
    assert all(len(text.encode()) <= LONGEST_TEXT for text in invented)
    assert len(invented) < len(values) / 2
    stay = [text for text in column.texts if text not in pairs]
    assert len(stay) <= 4, "one of three states in a country that stays, and one of its towns"


def test_a_group_is_not_exchanged_for_one_with_few_values() -> None:
    """Most values of the large group would get invented partners, and how often they occur would be seen."""
    groups = {"many": 20, "few": 2, "two": 2}
    values = [(f"{group} {number}", group, "*") for group, count in groups.items() for number in range(count)]
    for number in range(10):
        whole = mirrored(OwnTable({"a": column_of(values, range(len(values)))}), number).columns["a"]
        assert not any(text.startswith("\0") for text in whole.texts)
        images = [labels_of(whole)[code][0] for code in whole.codes[len(values) :].tolist()]
        assert all(str(image).startswith("many") for image in images[:20])
        assert len({*images}) == len(values)
        assert sum(image != labels[0] for image, labels in zip(images[:20], values, strict=False)) == 20


def test_parties_with_other_rows_exchange_the_same_labels(tmp_path: Path) -> None:
    plan = {**PLAN, "attributes": {"town": TOWN, "sex": SEX}, "models": PLAN["models"][:1]}
    study = written_study(tmp_path, plan, protocol="C", dummies="mirrored")
    found = {name: listed_values(study, name) for name in ("town", "sex")}
    known = {name: column for name, column in found.items() if column is not None}
    assert set(known) == {"town", "sex"}
    towns = [row[0] for row in TOWNS]
    own = column_of([(*row, "*") for row in TOWNS[:5]], range(5))
    others = column_of([(*row, "*") for row in TOWNS[3:]], range(len(TOWNS) - 3))
    partners: dict[str | None, str | None] = {}
    for column in (own, others):
        whole = with_mirrored_rows(OwnTable({"town": column}), known, key_of(1), b"").columns["town"]
        values, half = labels_of(whole), len(whole.codes) // 2
        for real, dummy in zip(whole.codes[:half], whole.codes[half:], strict=True):
            assert partners.setdefault(values[real][0], values[dummy][0]) == values[dummy][0]
    assert set(partners) == set(towns)


def test_a_column_whose_values_the_plan_does_not_list_stays_if_others_have_it() -> None:
    own = OwnTable({"zip": column_of([("1", "*"), ("2", "*")], [0, 1, 1])})
    whole = with_mirrored_rows(own, {}, key_of(1), b"").columns["zip"]
    assert whole.codes.tolist() == [0, 1, 1, 0, 1, 1]


def test_the_dummy_row_of_a_person_has_the_same_identifier_at_all_parties() -> None:
    here = OwnTable({"a": column_of([("x",), ("y",)], [0, 1])}, ("Anna", "Ben"))
    there = OwnTable({"b": column_of([("1",), ("2",)], [0, 1, 0])}, ("Ben", "Carl", "Anna"))
    first, second = (with_mirrored_rows(own, None, key_of(1), b"key").identifiers for own in (here, there))
    assert first is not None
    assert second is not None
    assert (
        dict(zip(first[:2], first[2:], strict=True)).items() <= dict(zip(second[:3], second[3:], strict=True)).items()
    )
    assert all(len(name.encode()) <= LONGEST_TEXT for name in (*first, *second))
    other = with_mirrored_rows(here, None, key_of(1), b"other").identifiers
    assert other is not None
    assert not set(first[2:]) & set(other[2:])


# Counts, and a helper that learns without answers


def people(draw: np.random.Generator, rows: int = 400) -> Table:
    """Ages, status and work that go together, and a town of heavy tails."""
    age = np.clip(draw.gamma(4, 10, rows), 15, 90).astype(int) // 5
    status = np.where(draw.random(rows) < np.clip((age - 4) / 5, 0.02, 0.9), 1 + (draw.random(rows) < 0.2), 0)
    return np.stack([age, status, np.where(age > 12, 0, draw.integers(1, 7, rows)), draw.zipf(1.6, rows) % 60], axis=1)


def parts_of(rows: Table, parties: int) -> list[OwnTable]:
    """The columns divided between parties in turn, each value with a group of ten."""
    found = []
    for party in range(parties):
        columns = {}
        for number in range(party, rows.shape[1], parties):
            different, codes = np.unique(rows[:, number], return_inverse=True)
            values: list[Labels] = [(f"{value}", f"group {value // 10}", "*") for value in different]
            columns[f"c{number}"] = column_of(values, codes.tolist())
        found.append(OwnTable(columns, tuple(f"person {row}" for row in range(len(rows)))))
    return found


def joined(parts: Sequence[OwnTable], level: int) -> tuple[Table, NDArray[np.bool_]]:
    """The joined rows at a level, and which of them are dummy rows."""
    whole: pl.DataFrame | None = None
    for own in parts:
        shown = {name: column.levels[:, level][column.codes] for name, column in own.columns.items()}
        part = pl.DataFrame({"id": own.identifiers, **shown})
        whole = part if whole is None else whole.join(part, on="id")
    assert whole is not None
    return whole.drop("id").to_numpy().astype(np.int64), whole["id"].str.starts_with("\0").to_numpy()


@pytest.mark.parametrize("parties", [1, 2, 4])
@pytest.mark.parametrize("level", [0, 1])
def test_every_count_tells_a_mirrored_row_exactly_by_chance(parties: int, level: int) -> None:
    rows = people(np.random.default_rng(1))
    found = told_by_counts(*joined([mirrored(own, 3) for own in parts_of(rows, parties)], level))
    assert found == pytest.approx(dict.fromkeys(found, 0.5), abs=1e-12)


def test_columns_of_different_parties_that_determine_each_other_tell_nothing() -> None:
    """Values that occur once and determine the other column: imitated rows are told there."""
    value = np.random.default_rng(2).permutation(200)
    found = told_by_counts(*joined([mirrored(own, 3) for own in parts_of(np.stack([value, value], axis=1), 2)], 0))
    assert found == pytest.approx(dict.fromkeys(found, 0.5), abs=1e-12)


def test_people_whom_one_party_lacks_lose_their_dummy_rows() -> None:
    parts = parts_of(people(np.random.default_rng(1)), 2)
    lacking = np.arange(150)
    columns = {name: column_of(labels_of(c), c.codes[lacking].tolist()) for name, c in parts[0].columns.items()}
    assert parts[0].identifiers is not None
    parts[0] = OwnTable(columns, parts[0].identifiers[:150])
    rows, dummy = joined([mirrored(own, 3) for own in parts], 0)
    assert (len(rows), int(dummy.sum())) == (300, 150)
    found = told_by_counts(rows, dummy)
    assert found == pytest.approx(dict.fromkeys(found, 0.5), abs=1e-12)


def guessed(rows: Table, draw: np.random.Generator) -> NDArray[np.float64]:
    """A guess without known answers: the direction in which rows differ most, with names in a random order."""
    shuffled = [
        draw.permutation(len(names))[of] for names, of in (np.unique(own, return_inverse=True) for own in rows.T)
    ]
    marks = np.concatenate([np.eye(int(own.max()) + 1)[own] for own in shuffled], axis=1)
    centred = marks - marks.mean(axis=0)
    direction = draw.normal(size=marks.shape[1])
    for _ in range(30):  # towards the first principal component
        direction = centred.T @ (centred @ direction)
        direction /= np.abs(direction).max()
    found: NDArray[np.float64] = centred @ (direction * np.sign(direction[np.abs(direction).argmax()]))
    return found


def average_guess(dummies: Callable[[Table, int], tuple[Table, NDArray[np.bool_]]], runs: int) -> tuple[float, float]:
    """How often a guess says which row is the dummy row, in the mean of many runs, and the standard error.

    Not the better one of a guess and its contrary: a helper does not know which it is.
    """
    found = []
    for number in range(runs):
        rows, dummy = dummies(people(np.random.default_rng(number), 80), number)
        score = guessed(rows, np.random.default_rng(1000 + number))
        ranks = pl.Series(score).rank("average").to_numpy()
        few, many = int(dummy.sum()), int((~dummy).sum())
        found.append((ranks[dummy].sum() - few * (few + 1) / 2) / (few * many))
    return float(np.mean(found)), float(np.std(found) / runs**0.5)


def test_a_helper_that_learns_without_answers_is_right_half_of_the_time() -> None:
    """150 runs with other tables, keys and names: the mean is within four standard errors (99.99 %) of a half."""
    mean, error = average_guess(lambda rows, n: joined([mirrored(own, n) for own in parts_of(rows, 2)], 0), 150)
    assert abs(mean - 0.5) < 4 * error + 1e-9
    assert error < 0.02


def test_rows_that_are_made_up_are_told_without_answers_so_that_the_test_can_fail() -> None:
    def rare(rows: Table, number: int) -> tuple[Table, NDArray[np.bool_]]:
        draw = np.random.default_rng(number)
        made = np.stack([draw.integers(0, own.max() + 1, len(rows)) for own in rows.T], axis=1)
        return np.concatenate([rows, made]), np.arange(2 * len(rows)) >= len(rows)

    rows, dummy = rare(people(np.random.default_rng(1)), 1)
    assert max(told_by_counts(rows, dummy).values()) > 0.6
    mean, error = average_guess(rare, 25)
    assert abs(mean - 0.5) > 4 * error


# Whole runs

TOWNS = [
    ("München", "Bayern"),
    ("Würzburg", "Bayern"),
    ("Augsburg", "Bayern"),
    ("Dresden", "Sachsen"),
    ("Görlitz", "Sachsen"),
    ("Wien", "Wien"),
    ("Linz", "Oberösterreich"),
    ("Steyr", "Oberösterreich"),
]
NOTE = {"role": "insensitive"}
TOWN = {"role": "quasi-identifying", "hierarchy": {"rows": [[*row, "*"] for row in TOWNS]}}
SEX = {"role": "quasi-identifying", "hierarchy": {"rows": [["f", "*"], ["m", "*"], ["d", "*"]]}}
DIAGNOSIS = {"tree": {"lung": ["asthma", "COPD"], "heart": ["infarction", "angina", "flutter"]}}
PLAN: dict[str, Any] = {
    "kohorte": 1,
    "attributes": {
        "town": TOWN,
        "sex": SEX,
        "age": {
            "role": "quasi-identifying",
            "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [10, 50]}},
        },
        "diagnosis": {"role": "sensitive", "hierarchy": DIAGNOSIS},
        "note": {"role": "insensitive"},
    },
    "models": [
        {"model": "k-anonymity", "k": 2},
        {"model": "t-closeness_hierarchical", "attribute": "diagnosis", "t": 0.6},
    ],
    "suppression_limit": 0.0,
}
NAMES = tuple(PLAN["attributes"])
VERTICAL = {"a": ["town", "note"], "b": ["sex", "age"], "c": ["diagnosis"]}
HYBRID = {
    "a": {"group": "north", "columns": ["town", "note", "sex"]},
    "b": {"group": "north", "columns": ["age", "diagnosis"]},
    "c": {"group": "south", "columns": [*NAMES]},
}


def patients(rows: int, seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    towns = draw.choice([town for town, _ in TOWNS], rows, p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])
    frame = pl.DataFrame(
        {
            "town": towns,
            "sex": draw.choice(["m", "f", "d"], rows, p=[0.5, 0.45, 0.05]),
            "age": draw.integers(20, 60, rows).astype(str),
            "diagnosis": draw.choice(["asthma", "COPD", "infarction", "angina"], rows),
            "note": [f"n{number % 7}" for number in range(rows)],
            "TID": [f"P{number}" for number in range(rows)],
        }
    )
    return frame.with_columns(pl.when(pl.Series(draw.random(rows) < 0.05)).then(None).otherwise("town").alias("town"))


def study_and_tables(
    folder: Path, protocol: str, distribution: str, **plan: Any
) -> tuple[Any, dict[str, pl.DataFrame]]:
    """A study of 60 patients with mirrored rows, and the tables of its three parties."""
    frame = patients(60, 3)
    parties: Mapping[str, Any] = {name: {} for name in "abc"}
    if distribution == "horizontal":
        tables = {name: frame[number::3].select(NAMES) for number, name in enumerate("abc")}
        more = {}
    else:
        parties = HYBRID if distribution == "hybrid" else {name: {"columns": own} for name, own in VERTICAL.items()}
        rows = (
            {"a": frame[:30], "b": frame[:30], "c": frame[30:]}
            if distribution == "hybrid"
            else dict.fromkeys("abc", frame)
        )
        tables = {name: rows[name].select("TID", *parties[name]["columns"]) for name in "abc"}
        more = {"identifier": "TID"}
    study = written_study(
        folder,
        {**PLAN, **plan},
        protocol=protocol,
        distribution=distribution,
        parties=parties,
        dummies="mirrored",
        **more,
    )
    return study, tables


SUPPRESSING = {"suppression_limit": 0.2, "models": [{"model": "k-anonymity", "k": 3}]}
RUNS = [
    ("C", "horizontal", SUPPRESSING),
    ("C", "vertical", {**SUPPRESSING, "metric": "loss"}),
    ("C", "hybrid", {**SUPPRESSING, "missing": "suppress"}),
    ("C", "horizontal", {}),
    ("C", "vertical", {"metric": "loss"}),
    ("C", "horizontal", {"metric": "loss"}),
    ("C", "hybrid", {"metric": "entropy"}),
    ("A", "horizontal", {"metric": "precision"}),
    ("A", "vertical", {}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "distribution", "plan"), RUNS)
def test_the_release_with_mirrored_rows_is_that_of_all_rows_in_one_table(
    protocol: str, distribution: str, plan: dict[str, Any], tmp_path: Path
) -> None:
    study, tables = study_and_tables(tmp_path, protocol, distribution, **plan)
    pooled = ko.anonymize(patients(60, 3).drop("TID"), study.plan)
    release = run_study(study, tables)["b"]
    assert release is not None
    assert release.figures["levels"] == pooled.levels
    assert release.figures["suppressed"] == pooled.suppressed
    assert (pooled.suppressed > 0) == (study.plan.suppression_limit > 0)
    assert release.figures["cost"] == pytest.approx(pooled.cost, rel=1e-12)
    assert rows_of(release.frame, NAMES) == rows_of(pooled.data, NAMES)
    joint: Any = release.certificate.facts["joint"]
    assert joint["dummies"] == "mirrored"
    assert (joint["dummy_rows"]["told"], joint["dummy_rows"]["exposed"]) == (0.5, 0)
    assert "every row has a mirror image among the dummy rows" in release.certificate.to_text()


@pytest.mark.parametrize("distribution", ["horizontal", "vertical"])
def test_what_arrives_at_the_helper_tells_no_dummy_row(distribution: str, tmp_path: Path) -> None:
    """Every count on the recorded tables, at every level, with the counters opened afterwards."""
    study, tables = study_and_tables(tmp_path / "study", "C", distribution, metric="loss")
    with keys_kept() as keys:
        run_study(study, tables, record=tmp_path / "sent")
    messages = recorded(tmp_path / "sent")
    sent = [SealedTable.from_bytes(message) for name, message in messages.items() if name.endswith("-helper-table.bin")]
    for level in (0, 1):
        frame, dummy = _arrived(sent, level, opened_counters(keys, messages))
        assert (len(dummy), int(dummy.sum())) == (120, 60)
        found = told_by_counts(frame, dummy)
        assert found == pytest.approx(dict.fromkeys(found, 0.5), abs=1e-12)


PATTERNS: dict[str, Any] = {
    "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 5}}},
    "born": {"role": "quasi-identifying", "hierarchy": {"dates": {"levels": ["month", "year", "decade"]}}},
    "age": PLAN["attributes"]["age"],
    "sex": {"role": "quasi-identifying", "hierarchy": {"ordering": {"values": ["f", "m", "d"]}}},
}


def written_tables(folder: Path, distribution: str, **plan: Any) -> tuple[Any, pl.DataFrame, dict[str, pl.DataFrame]]:
    """A study that says nothing about dummy rows, of columns that the plan does not list, all rows, and the tables."""
    draw, rows = np.random.default_rng(5), 60
    frame = pl.DataFrame(
        {
            "zip": draw.choice(["81667", "81675", "8167", "97070", "1067"], rows),
            "born": [
                f"{year}-{month:02}-{day:02}"
                for year, month, day in draw.integers([1950, 1, 1], [1990, 13, 29], (rows, 3))
            ],
            "age": draw.integers(20, 60, rows).astype(str),
            "sex": draw.choice(["m", "f", "d"], rows, p=[0.5, 0.45, 0.05]),
            "TID": [f"P{number}" for number in range(rows)],
        }
    ).with_columns(pl.when(pl.Series(draw.random(rows) < 0.1)).then(None).otherwise("zip").alias("zip"))
    attributes = {**PATTERNS, **plan.pop("attributes", {})}
    settings: dict[str, Any] = {"parties": {name: {} for name in "abc"}, "distribution": distribution}
    tables = {name: frame[number::3].drop("TID") for number, name in enumerate("abc")}
    if distribution == "hybrid":
        groups = {"a": ("north", ["zip", "born"]), "b": ("north", ["age", "sex"]), "c": ("south", [*PATTERNS])}
        settings["parties"] = {name: {"group": group, "columns": own} for name, (group, own) in groups.items()}
        halves = {"north": frame[:30], "south": frame[30:]}
        tables = {name: halves[group].select("TID", *own) for name, (group, own) in groups.items()}
        settings["identifier"] = "TID"
    settings |= {key: plan.pop(key) for key in ("pregeneralize",) if key in plan}
    plan = {"kohorte": 1, "attributes": attributes, "models": [{"model": "k-anonymity", "k": 3}], **plan}
    return written_study(folder, plan, protocol="C", dummies=None, **settings), frame.drop("TID"), tables


@pytest.mark.parametrize(
    ("distribution", "plan"),
    [
        ("horizontal", {"suppression_limit": 0.2}),
        ("horizontal", {"metric": "loss"}),
        ("hybrid", {"suppression_limit": 0.2, "metric": "entropy"}),
    ],
)
def test_values_that_nobody_lists_are_mirrored_by_default_and_released_as_if_pooled(
    distribution: str, plan: dict[str, Any], tmp_path: Path
) -> None:
    study, frame, tables = written_tables(tmp_path, distribution, **plan)
    assert study.mirrored
    pooled = ko.anonymize(frame, study.plan)
    release = run_study(study, tables)["b"]
    assert release is not None
    assert (release.figures["levels"], release.figures["suppressed"]) == (pooled.levels, pooled.suppressed)
    assert release.figures["cost"] == pytest.approx(pooled.cost, rel=1e-12)
    assert rows_of(release.frame, [*PATTERNS]) == rows_of(pooled.data, [*PATTERNS])
    joint: Any = release.certificate.facts["joint"]
    assert (joint["dummy_rows"]["told"], joint["dummy_rows"]["exposed"]) == (0.5, 0)


def test_codes_numbers_and_dates_tell_no_dummy_row(tmp_path: Path) -> None:
    """Every count on the recorded tables, at every level, with the counters opened afterwards."""
    study, _, tables = written_tables(tmp_path / "study", "horizontal", metric="loss")
    with keys_kept() as keys:
        run_study(study, tables, record=tmp_path / "sent")
    messages = recorded(tmp_path / "sent")
    sent = [SealedTable.from_bytes(message) for name, message in messages.items() if name.endswith("-helper-table.bin")]
    for level in range(4):
        frame, dummy = _arrived(sent, level, opened_counters(keys, messages))
        assert (len(dummy), int(dummy.sum())) == (120, 60)
        assert len(np.unique(frame, axis=0)) > 4
        found = told_by_counts(frame, dummy)
        assert found == pytest.approx(dict.fromkeys(found, 0.5), abs=1e-12)


def test_the_certificate_says_which_sizes_were_seen_and_leaves_them_open(tmp_path: Path) -> None:
    """The figures are counted again on what arrived at the helper, with the counters opened afterwards."""
    study, _, tables = written_tables(tmp_path / "study", "horizontal", suppression_limit=0.2, person="none")
    with keys_kept() as keys:
        release = run_study(study, tables, record=tmp_path / "sent")["b"]
    assert release is not None
    messages = recorded(tmp_path / "sent")
    sent = [SealedTable.from_bytes(message) for name, message in messages.items() if name.endswith("-helper-table.bin")]
    frame, dummy = _arrived(sent, 0, opened_counters(keys, messages))
    facts: Any = release.certificate.facts
    stated = facts["joint"]["dummy_rows"]
    for name, values in zip(sent[0].columns, frame.T, strict=True):
        people, images = set(values[~dummy].tolist()), set(values[dummy].tolist())
        assert stated["unmatched_values"][name] == round(len(images - people) / len(people), 2), name
    assert stated["unmatched_values"]["zip"] > 0.5 > stated["unmatched_values"]["sex"]
    most = sorted(name for name, share in stated["unmatched_values"].items() if share > 0.5)
    point = f"nobody has the mirror images of most values of {listed(most, 'and')}: the helper saw how often each"
    assert any(one.startswith(point) for one in facts["warnings"]), facts["warnings"]
    assert facts["verdict"]["standing"] == "amber"
    shares = stated["unmatched_values"]["zip"]
    assert f"zip: nobody has the mirror image of {shares:.0%} of the values" in release.certificate.to_text()


def test_classes_without_dummy_rows_are_counted_and_left_open(tmp_path: Path) -> None:
    """One column of codes: mirror images of 81*** and 97*** that nobody has, or one that both have together."""
    plan = {
        "kohorte": 1,
        "attributes": {"zip": PATTERNS["zip"], "note": dict(NOTE)},
        "models": [{"model": "k-anonymity", "k": 3}],
        "person": "none",
    }
    study = written_study(tmp_path, plan, protocol="C", dummies=None, parties={name: {} for name in "ab"})
    frame = pl.DataFrame({"zip": ["81667"] * 9 + ["97070"] * 5 + ["10115"] * 4, "note": ["n"] * 18})
    release = run_study(study, {name: frame[number::2] for number, name in enumerate("ab")})["a"]
    assert release is not None
    facts: Any = release.certificate.facts
    assert facts["release"]["levels"] == {"zip": 0}
    stated = facts["joint"]["dummy_rows"]
    assert stated["unmatched_classes"] == stated["unmatched_values"]["zip"]
    assert stated["unmatched_classes"] in (1.0, 0.33)  # two of the three codes may have been exchanged for each other
    point = "nobody is in the mirror images of most classes of the release: the helper saw how many people"
    assert any(point in one for one in facts["warnings"]) == (stated["unmatched_classes"] == 1.0)


def test_a_certificate_that_hides_which_sizes_were_seen_is_not_signed(tmp_path: Path) -> None:
    study, _, _ = written_tables(tmp_path, "horizontal")
    seen_sizes = {"told": 0.5, "exposed": 0, "unmatched_values": {"zip": 0.9, "sex": 0.2}, "unmatched_classes": 0.8}
    (values, classes) = dummy_warnings(study, seen_sizes)
    assert "most values of zip:" in values
    assert "most classes of the release" in classes
    for wrong in ({"zip": 2}, {"zip": "x"}, [0.9]):
        with pytest.raises(ProtocolError):
            dummy_warnings(study, {**seen_sizes, "unmatched_values": wrong})


def test_the_certificate_is_amber_if_the_study_chose_dummy_rows_that_tell_or_show_more(tmp_path: Path) -> None:
    unlisted = {**PLAN["attributes"], "sex": {"role": "quasi-identifying"}}
    said = {
        0.25: "dummy rows are imitated, as the study chose",
        "mirrored": "do not exchange the values of sex, as the",
    }
    for dummies, words in said.items():
        plan = {**PLAN, "attributes": unlisted, "person": "none"}
        study = written_study(tmp_path, plan, protocol="C", dummies=dummies, parties={name: {} for name in "ab"})
        frame = patients(30, 3).select(NAMES)
        release = run_study(study, {name: frame[number::2] for number, name in enumerate("ab")})["b"]
        assert release is not None
        facts: Any = release.certificate.facts
        assert facts["verdict"]["standing"] == "amber"
        assert any(words in point for point in facts["warnings"]), facts["warnings"]
        assert facts["verdict"]["reasons"] == facts["warnings"]
        assert words in " ".join(release.certificate.to_text().split())


def _arrived(
    sent: Sequence[SealedTable], level: int, people_of: Callable[[NDArray[np.uint8]], NDArray[np.int64]]
) -> tuple[Table, NDArray[np.bool_]]:
    """The rows of all parties as a helper puts them together: numbers that stand for ciphertexts and shares."""
    parts = []
    for table in sent:
        shown = {}
        for name, column in table.columns.items():
            shown_at = min(level, column.levels.shape[1] - 1)
            at = column.at(shown_at)
            special = np.array([cell >= 2**32 - 2 for cell in at.tolist()])
            cells = [b"" if s else column.cells[cell].tobytes() for cell, s in zip(at.tolist(), special, strict=True)]
            shares = [0.0] * table.rows if column.shares is None else column.shares[column.codes, shown_at].tolist()
            shown[name] = [f"{cell.hex()} {share}" for cell, share in zip(cells, shares, strict=True)]
        if table.identifiers is not None:
            shown["id"] = [row.tobytes().hex() for row in table.identifiers]
        part = pl.DataFrame(shown)
        if table.counters is not None:
            part = part.with_columns(people=pl.Series(people_of(table.counters)))
        parts.append(part)
    if sent[0].identifiers is None:
        whole = pl.concat([part.select(parts[0].columns) for part in parts])
    else:
        whole = parts[0].join(parts[1], on="id").join(parts[2], on="id").drop("id")
    names = whole.drop("people").select(pl.all().rank("dense").cast(pl.Int64))
    return names.to_numpy(), (whole["people"] == 0).to_numpy()


def test_the_helper_does_not_learn_which_classes_are_suppressed(tmp_path: Path) -> None:
    """It is only told which combination was chosen; the keys of its classes go to the other parties, in shares."""
    study, tables = study_and_tables(tmp_path / "study", "C", "vertical", **SUPPRESSING)
    run_study(study, tables, record=tmp_path / "sent")
    messages = recorded(tmp_path / "sent")
    asked = [unpack(message) for name, message in messages.items() if name.endswith("-to-helper-ask.bin")]
    assert all(set(facts) <= {"node", "exact", "veiled"} and not arrays for facts, arrays in asked)
    assert [facts.get("veiled") for facts, _ in asked[-2:]] == [None, True]
    keys = {name: unpack(message)[1]["shares"] for name, message in messages.items() if "class-keys" in name}
    handed = [unpack(message)[1]["shares"] for name, message in messages.items() if name.endswith("-a-shares.bin")]
    assert [len(share) for share in handed] == [len(handed[0])] * 2
    first, second = keys.values()
    assert first.shape == second.shape
    assert len(handed[0]) < len(first), "some classes are suppressed, or have dummy rows only"
    (release,) = [unpack(message)[1] for name, message in messages.items() if name.endswith("-to-a-release.bin")]
    ends = [0, *release["ends"].tolist()]
    blocks = [release["blocks"][low:high].tobytes() for low, high in itertools.pairwise(ends)]
    for share, other, block in zip(first, second, blocks, strict=True):
        assert ChaCha20Poly1305((share ^ other).tobytes()).decrypt(bytes(12), block, None)
        for one in (share, other):
            with pytest.raises(InvalidTag):
                ChaCha20Poly1305(one.tobytes()).decrypt(bytes(12), block, None)


def test_rows_that_are_shown_more_often_than_they_are_counted_are_refused() -> None:
    rows = np.array([[1, 0], [1, 1]], dtype=np.uint8)
    assert left_over(rows, np.array([3, 2]), rows[[0, 0]], np.array([1, 1])).tolist() == [1, 2]
    for shown, counts in ((rows[:1], [4]), (rows[:1] + 7, [1])):
        with pytest.raises(ProtocolError) as refused:
            left_over(rows, np.array([3, 2]), shown, np.array(counts))
        assert refused.value.code == "party-message-malformed"


# What is refused


@pytest.mark.parametrize(
    ("protocol", "plan", "distribution", "reason"),
    [
        ("A", {"suppression_limit": 0.1}, "vertical", "which classes are not shown"),
        (
            "C",
            {
                "attributes": {
                    **PLAN["attributes"],
                    "age": {"role": "quasi-identifying"},
                    "town": dict(NOTE),
                    "sex": dict(NOTE),
                }
            },
            "horizontal",
            "the plan must list",
        ),
    ],
)
def test_mirrored_rows_that_would_be_told_or_copied_are_refused(
    protocol: str, plan: dict[str, Any], distribution: str, reason: str, tmp_path: Path
) -> None:
    study, _ = study_and_tables(tmp_path, protocol, distribution, **plan)
    with pytest.raises(InputError, match=reason) as refused:
        refuse_unsuited(study)
    assert refused.value.code == "study-unsuited"


def test_the_study_file_says_mirrored(tmp_path: Path) -> None:
    study, _ = study_and_tables(tmp_path / "one", "C", "vertical")
    assert (study.mirrored, study.dummies) == (True, 1.0)
    with pytest.raises(InputError, match="dummies is mirrored, or the share") as refused:
        written_study(tmp_path / "two", PLAN, protocol="C", dummies="mirror")
    assert refused.value.code == "study-dummies"
    with pytest.raises(InputError, match="protocol B has no dummy rows"):
        written_study(tmp_path / "three", PLAN, protocol="B", dummies="mirrored")


def test_protocol_c_mirrors_rows_where_this_keeps_its_promise_unless_the_study_chooses(tmp_path: Path) -> None:
    unlisted = {name: {"role": "quasi-identifying"} for name in ("town", "sex")}
    plan = {**PLAN, "attributes": {"town": TOWN}, "models": PLAN["models"][:1]}
    chosen = {
        "listed": written_study(tmp_path / "1", plan, protocol="C", dummies=None),
        "suppressing": written_study(tmp_path / "2", {**plan, "suppression_limit": 0.1}, protocol="C", dummies=None),
        "vertical": written_study(
            tmp_path / "7",
            {**plan, "attributes": unlisted},
            protocol="C",
            distribution="vertical",
            identifier="TID",
            parties={"a": {"columns": ["town"]}, "b": {"columns": ["sex"]}},
        ),
        "stated": written_study(tmp_path / "5", plan, protocol="C", dummies=0.25),
        "A": written_study(tmp_path / "6", plan, protocol="A"),
    }
    assert {name: (study.dummies, study.mirrored) for name, study in chosen.items()} == {
        "listed": (1.0, True),
        "suppressing": (1.0, True),
        "vertical": (1.0, True),
        "stated": (0.25, False),
        "A": (0.0, False),
    }
    for study in chosen.values():
        refuse_unsuited(study)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"town": {"role": "quasi-identifying"}}, "the plan must list the values of a quasi-identifier"),
        ({"town": {"role": "quasi-identifying", "hierarchy": {"rows": [["Wien", "*"]]}}}, "the plan must list"),
        ({"sex": {"role": "quasi-identifying"}}, "exchange the values of sex alike"),
        ({"diagnosis": {"role": "sensitive"}}, "exchange the values of diagnosis alike"),
    ],
)
def test_a_study_must_choose_what_the_helper_may_learn_where_mirrored_rows_hide_too_little(
    attributes: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    """Imitated rows were the default here, which are told more often than by chance."""
    models = [{"model": "k-anonymity", "k": 3}]
    if "diagnosis" in attributes:
        models.append({"model": "l-diversity_distinct", "l": 2, "attribute": "diagnosis"})
    plan = {**PLAN, "attributes": {"town": TOWN, **attributes}, "models": models}
    with pytest.raises(InputError, match=reason) as refused:
        refuse_unsuited(written_study(tmp_path / "default", plan, protocol="C", dummies=None))
    assert refused.value.code == "study-unsuited"
    refuse_unsuited(written_study(tmp_path / "imitated", plan, protocol="C", dummies=0.25))


def test_an_answer_for_one_row_is_an_answer_for_its_mirror_image() -> None:
    """What the documentation says about its limits: counts that are equal for a row and its mirror image pair them."""
    rows = people(np.random.default_rng(1))
    both, dummy = joined([mirrored(own, 3) for own in parts_of(rows, 1)], 0)
    frame = pl.DataFrame(both, schema=[f"c{number}" for number in range(both.shape[1])])
    often = frame.select(pl.len().over(name).alias(name) for name in frame.columns).to_numpy()
    real = {tuple(row) for row in often[~dummy].tolist()}
    assert {tuple(row) for row in often[dummy].tolist()} == real
    assert told(often.sum(axis=1).astype(np.float64), dummy) == pytest.approx(0.5)


def test_the_order_of_questions_does_not_depend_on_the_order_of_values() -> None:
    """Exchanging the halves permutes values: a sum that differs in its last bit would decide what is asked next."""
    draw = np.random.default_rng(4)
    for _ in range(200):
        counts = draw.integers(1, 12, 17).astype(np.float64)
        same, permuted = entropies([[counts]]), entropies([[draw.permutation(counts)]])
        assert same[0].tobytes() == permuted[0].tobytes()
