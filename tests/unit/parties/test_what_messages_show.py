"""Recorded messages of whole runs contain no value, no key and no hash that a list of plausible values inverts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from kohorte.parties.ciphers import agreement
from kohorte.parties.ciphers.commutative import CommutativeKey
from kohorte.parties.own_table import own_table
from kohorte.parties.sealed import SealedTable, unpack
from kohorte.parties.sealed_release import SealedRelease
from kohorte.parties.study import Study
from support.eavesdropper import (
    Windows,
    encrypted,
    hashes,
    keyed_hashes,
    keys_found,
    keys_kept,
    plain_forms,
    points,
    recorded,
    texts_found,
    values_found,
)
from support.joint_studies import run_study, written_study

PARTIES = ("clinic-a", "clinic-b", "clinic-c")
COLUMNS = {"clinic-a": ["income", "note"], "clinic-b": ["postcode", "sex"], "clinic-c": ["town", "diagnosis"]}
LENGTHS = {"postcode": 7}
PLAUSIBLE = 10_000
PLAN: dict[str, Any] = {
    "kohorte": 1,
    "attributes": {
        "TID": {"role": "identifying"},
        "name": {"role": "identifying"},
        "income": {
            "role": "quasi-identifying",
            "hierarchy": {"intervals": {"lower": 0, "upper": 100_000, "widths": [10_000, 50_000]}},
        },
        "postcode": {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 7}}},
        "sex": {"role": "quasi-identifying"},
        "town": {
            "role": "quasi-identifying",
            "hierarchy": {
                "tree": {"Freistaat Bayern": ["München", "Würzburg"], "Freistaat Sachsen": ["Dresden", "Görlitz"]}
            },
        },
        "diagnosis": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2}],
    "suppression_limit": 0.1,
}
STATED = {"Freistaat Bayern", "Freistaat Sachsen", "München", "Würzburg", "Dresden", "Görlitz"}
"""Labels that the plan lists: everybody knows them."""


def patients(rows: int) -> pl.DataFrame:
    """Made-up patients whose values are long enough to be recognized, and notes that occur nowhere else."""
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "TID": [f"patient-{number:05d}" for number in range(rows)],
            "name": [f"Zebedäus Canary {number}" for number in range(rows)],
            "income": [f"{amount}.{cent:02d}" for amount, cent in draw.integers((20_000, 0), (60_000, 100), (rows, 2))],
            "postcode": draw.choice(["8166712", "8167599", "9707055", "0106744"], rows),
            "sex": draw.choice(["weiblich", "männlich"], rows),
            "town": draw.choice(["München", "Würzburg", "Dresden", "Görlitz"], rows),
            "diagnosis": draw.choice(["Lungenentzündung", "Gastritis", "Herzinfarkt"], rows),
            "note": [f"canary-{number:04d}" for number in draw.permutation(PLAUSIBLE)[:rows]],
        }
    )


def divided(frame: pl.DataFrame, distribution: str) -> dict[str, pl.DataFrame]:
    if distribution == "horizontal":
        return {name: frame[number::3] for number, name in enumerate(PARTIES)}
    return {name: frame.select("TID", *own).sample(fraction=1, shuffle=True) for name, own in COLUMNS.items()}


def study_of(folder: Path, protocol: str, distribution: str) -> Study:
    """A study; protocol AC is A with dummy rows and counters."""
    more: dict[str, Any] = {"dummies": 0.25} if protocol == "AC" else {}
    if distribution == "vertical":
        more |= {"identifier": "TID", "parties": {name: {"columns": own} for name, own in COLUMNS.items()}}
    return written_study(folder, PLAN, protocol=protocol[0], distribution=distribution, **more)


@dataclass(frozen=True)
class Run:
    """A run with everything that was sent, all its keys, and the labels of all columns at all levels."""

    study: Study
    messages: Mapping[str, bytes]
    keys: frozenset[bytes]
    labels: Mapping[str, frozenset[str]]
    release: pl.DataFrame

    def to(self, name: str) -> set[str]:
        """The kinds of messages that a member gets."""
        return {file.split(f"-to-{name}-")[1][: -len(".bin")] for file in self.messages if f"-to-{name}-" in file}


def run(folder: Path, protocol: str, distribution: str) -> Run:
    frame, study = patients(60), study_of(folder / "study", protocol, distribution)
    tables = divided(frame, distribution)
    with keys_kept() as keys:
        releases = run_study(study, tables, record=folder / "sent")
    opened = releases[study.finisher]
    assert opened is not None
    labels: dict[str, set[str]] = {"TID": set(frame["TID"]), "name": set(frame["name"])}
    for name, table in tables.items():
        for column, own in own_table(table, study, name, lengths=LENGTHS).columns.items():
            labels.setdefault(column, set()).update(own.texts)
    frozen = {column: frozenset(texts) for column, texts in labels.items()}
    return Run(study, recorded(folder / "sent"), frozenset(keys), frozen, opened.frame)


RUNS = [(protocol, distribution) for protocol in ("A", "AC", "B", "C") for distribution in ("horizontal", "vertical")]
QUICK = [("A", "vertical"), ("B", "horizontal")]


def kinds(protocols: Iterable[str] = ("A", "AC", "B", "C")) -> list[Any]:
    """All kinds of runs with these protocols; only two kinds are quick."""
    chosen = [kind for kind in RUNS if kind[0] in protocols]
    return [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in chosen]


class Runs(dict[tuple[str, str], Run]):
    """One run of each protocol, horizontally and vertically, made when a test first needs it."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self.folders = folders

    def __missing__(self, kind: tuple[str, str]) -> Run:
        return self.setdefault(kind, run(self.folders.mktemp("run"), *kind))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory)


def secret_texts(labels: Mapping[str, frozenset[str]]) -> set[str]:
    return {text for texts in labels.values() for text in texts} - STATED


@pytest.mark.parametrize("kind", kinds(), ids="-".join)
def test_no_message_contains_a_value(kind: tuple[str, str], runs: Runs) -> None:
    own = runs[kind]
    texts = secret_texts(own.labels)
    assert {"patient-00001", "Lungenentzündung", "8166712", "[20000, 30000)"} <= texts
    assert texts_found(texts, own.messages.values()) == set()
    assert texts_found({"Zebedäus", "canary-", "patient-0"}, own.messages.values()) == set()


@pytest.mark.parametrize("kind", kinds(), ids="-".join)
def test_labels_that_the_plan_lists_are_only_in_the_certificate_which_contains_the_plan(
    kind: tuple[str, str], runs: Runs
) -> None:
    others = [message for name, message in runs[kind].messages.items() if not name.endswith("-certificate.bin")]
    assert texts_found(STATED, others) == set()


@pytest.mark.parametrize("kind", kinds(), ids="-".join)
def test_no_message_contains_a_key(kind: tuple[str, str], runs: Runs) -> None:
    own = runs[kind]
    assert len(own.keys) > 10
    assert min(map(len, own.keys)) >= 32
    assert keys_found(own.keys, own.messages.values()) == []


@pytest.mark.parametrize("kind", kinds("BC"), ids="-".join)
def test_the_helper_gets_no_message_that_is_meant_for_parties(kind: tuple[str, str], runs: Runs) -> None:
    expected = {"B": {"table", "certificate"}, "C": {"public-key", "table", "ask", "certificate"}}
    assert runs[kind].to("helper") == expected[kind[0]]


@pytest.mark.parametrize("kind", kinds("AB"), ids="-".join)
def test_who_passes_the_release_on_does_not_know_the_order_of_its_rows(kind: tuple[str, str], runs: Runs) -> None:
    own = runs[kind]
    last = [message for name, message in own.messages.items() if name.endswith(f"-to-{own.study.finisher}-release.bin")]
    sent = SealedRelease.from_bytes(last[-1], own.study.released_columns)
    assert _repetitions(sent.codes["note"].tolist()) == _repetitions(range(60)), "all notes are different"
    column = next(name for name in ("town", "postcode", "sex") if own.release[name].n_unique() > 1)
    assert _repetitions(sent.codes[column].tolist()) != _repetitions(own.release[column].to_list())


def _repetitions(cells: Iterable[object]) -> list[int]:
    """Where each cell occurs first: the same for two columns that differ only in the names of their cells."""
    first: dict[object, int] = {}
    return [first.setdefault(cell, place) for place, cell in enumerate(cells)]


@pytest.mark.parametrize("protocol", ["A", pytest.param("AC", marks=pytest.mark.slow)])
def test_a_party_is_asked_only_about_columns_that_it_brings(protocol: str, runs: Runs) -> None:
    own = runs[protocol, "vertical"]
    asked = {name: unpack(message) for name, message in own.messages.items() if name.endswith("-unknown.bin")}
    assert len(asked) == 2
    for file, (facts, _) in asked.items():
        party = file.split("-to-")[1].removesuffix("-unknown.bin")
        assert set(facts["columns"]) == set(COLUMNS[party])


def test_an_eavesdropper_would_see_values_and_keys() -> None:
    message = b"\x07" + "Lungenentzündung".encode() + b"\x00" + bytes(range(64)).hex().encode()
    assert texts_found({"Lungenentzündung", "Gastritis"}, [message]) == {"Lungenentzündung"}
    assert texts_found({"männlich"}, [b'{"sex": "m\\u00e4nnlich"}']) == {"männlich"}
    assert texts_found({"männlich"}, ["männlich".encode("utf-16-le")]) == {"männlich"}
    assert keys_found([bytes(range(64)), bytes(64)], [message]) == [bytes(range(64))]
    assert plain_forms("weiblich") >= {b"weiblich", b"w\0e\0i\0b\0l\0i\0c\0h\0"}


# Lists of plausible values


def plausible(labels: Mapping[str, frozenset[str]]) -> dict[str, list[str]]:
    """10,000 values for each column, the true ones among them."""
    draw = np.random.default_rng(8)
    made: dict[str, Iterator[str]] = {
        "TID": (f"patient-{number:05d}" for number in range(PLAUSIBLE)),
        "note": (f"canary-{number:04d}" for number in range(PLAUSIBLE)),
        "postcode": (f"{number:07d}" for number in draw.integers(0, 10**7, PLAUSIBLE).tolist()),
        "income": (f"{number / 100:.2f}" for number in draw.integers(2 * 10**6, 6 * 10**6, PLAUSIBLE).tolist()),
        "diagnosis": (f"Diagnose {number}" for number in range(PLAUSIBLE)),
    }
    return {
        column: list(dict.fromkeys([*sorted(labels.get(column, ())), *values]))[:PLAUSIBLE]
        for column, values in made.items()
    }


def lengths_of(own: Run) -> set[int]:
    """The lengths to which cells are padded: everybody who sees cells knows them."""
    if own.study.protocol == "A":
        return set()
    tables = [SealedTable.from_bytes(sent) for name, sent in own.messages.items() if name.endswith("-table.bin")]
    widths = {column.cells.shape[1] for table in tables for column in table.columns.values()}
    widths |= {table.identifiers.shape[1] for table in tables if table.identifiers is not None}
    return {width - 20 for width in widths}


def known_to_all(study: Study, column: str) -> dict[str, bytes]:
    """What an attacker would try as a key."""
    public = study.fingerprint()
    return {
        "no key": b"",
        "zeros": bytes(64),
        "the name of the column": column.encode(),
        "the name of the study": study.name.encode(),
        "the hash of the study": bytes.fromhex(public),
        "the hash of the study in digits": public.encode(),
    }


def wide(keys: Mapping[str, bytes]) -> dict[str, bytes]:
    """Keys of 64 bytes, as AES-SIV takes them."""
    return {name: key if len(key) == 64 else hashlib.sha512(key).digest() for name, key in keys.items()}


@pytest.mark.slow
def test_10_000_plausible_values_of_each_column_find_nothing_without_a_key(runs: Runs) -> None:
    every = [runs[kind] for kind in RUNS]
    windows = Windows(message for own in every for message in own.messages.values())
    labels = {column: texts for own in every for column, texts in own.labels.items()}
    some = runs["B", "vertical"]
    for column, values in plausible(labels).items():
        assert len(values) == PLAUSIBLE
        keys = known_to_all(some.study, column)
        ways = (
            hashes() | keyed_hashes(keys) | points({"no key": b""}) | encrypted({"zeros": bytes(64)}, [len(values[0])])
        )
        assert values_found(windows, values, ways) == {}, column


@pytest.mark.parametrize("kind", kinds(), ids="-".join)
def test_not_even_the_true_values_find_anything_without_a_key(kind: tuple[str, str], runs: Runs) -> None:
    """Only true values can be found at all, so that these suffice for ways that take long."""
    own = runs[kind]
    windows = Windows(own.messages.values())
    for column, texts in own.labels.items():
        keys = known_to_all(own.study, column)
        ways = keyed_hashes(keys) | points(keys) | encrypted(wide(keys), lengths_of(own))
        assert values_found(windows, sorted(texts), ways) == {}, column


@pytest.mark.parametrize("kind", kinds(), ids="-".join)
def test_with_a_known_key_the_same_list_finds_the_values(
    kind: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack works if a key is known: a secret of zeros, and for A layers that change nothing."""
    protocol, distribution = kind
    monkeypatch.setattr(agreement, "random_group_secret", lambda: bytearray(32))
    one = (1).to_bytes(32, "little")
    monkeypatch.setattr(CommutativeKey, "random", classmethod(lambda cls: cls(one)))
    own = run(tmp_path, protocol, distribution)
    windows = Windows(own.messages.values())
    for column, purpose in (("diagnosis", "diagnosis"), ("note", "note"), ("TID", "\0identifier")):
        if column == "TID" and distribution == "horizontal":
            continue
        values = sorted({*own.labels[column], *(f"made up {number}" for number in range(500))})
        if protocol[0] == "A":
            ways = points({"a known key": agreement.column_key(bytes(32), f"points {purpose}")})
        else:
            key = agreement.column_key(bytes(32), f"cells {purpose}")
            ways = encrypted({"a known key": key}, lengths_of(own))
        found: set[str] = set().union(*values_found(windows, values, ways).values())
        assert found == set(own.labels[column]), column
