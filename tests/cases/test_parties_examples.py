"""The examples of the protocols: eight people at three parties, 2-anonymity.

Source: Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation,
Technische Universität München, 2015, sections 4.4.3.2 to 4.4.5.3 with figures 4.7 to 4.24; hierarchies of figures 2.9
to 2.11. For the same person, figures 4.7, 4.9 and 4.14 print the postal code 82676, figures 4.11 to 4.13, 4.18 and 4.24
print 82667. Each test takes the code that its figure prints; the release is the same. Figure 4.12 prints 8192* above
82667, which must be 8266*.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.kernels.arrays import Codes
from kohorte.parties.ciphers.counters import ElGamal, ElGamalPublic
from kohorte.parties.counting.asking import answer
from kohorte.parties.counting.counted_table import CountedTable
from kohorte.parties.counting.counter_engine import CounterEngine, TrueDomain
from kohorte.parties.counting.leading import Found, Lead
from kohorte.parties.integration import append
from kohorte.parties.own_table import OwnTable, own_table
from kohorte.parties.sealed import Cells, SealedColumn, SealedTable, unpack
from kohorte.parties.study import Study
from kohorte.parties.transport.channel import Channel
from kohorte.parties.transport.local import LocalChannels
from support.joint_studies import run_study, written_study

PARTIES = ("P1", "P2", "P3")
COLUMNS = ("sex", "age", "zip")
LENGTHS = {"zip": 5}

# Figure 4.7: the columns of the three parties.
TID = ["1", "2", "3", "4", "5", "6", "7", "8"]
ZIP = ["82676", "81775", "81925", "81825", "81774", "82669", "82453", "82451"]
AGE = ["34", "45", "66", "70", "35", "21", "18", "17"]
SEX = ["m", "w", "m", "m", "w", "m", "w", "w"]
VERTICAL = {
    "P1": pl.DataFrame({"TID": TID, "zip": ZIP}),
    "P2": pl.DataFrame({"TID": TID, "age": AGE}),
    "P3": pl.DataFrame({"TID": TID, "sex": SEX}),
}

# Figure 4.11: the rows of the three parties.
ROWS = {
    "P1": [("m", "34", "82667"), ("w", "45", "81775"), ("m", "66", "81925")],
    "P2": [("m", "70", "81825"), ("w", "35", "81774"), ("m", "21", "82669")],
    "P3": [("w", "18", "82453"), ("w", "17", "82451")],
}
HORIZONTAL = {name: pl.DataFrame(rows, schema=COLUMNS, orient="row") for name, rows in ROWS.items()}

# Figures 4.10, 4.17 and 4.20, decrypted.
NODE = (0, 1, 3)
RELEASED = [
    ("m", "20-60", "82***"),
    ("w", "20-60", "81***"),
    ("m", ">=61", "81***"),
    ("m", ">=61", "81***"),
    ("w", "20-60", "81***"),
    ("m", "20-60", "82***"),
    ("w", "<=19", "82***"),
    ("w", "<=19", "82***"),
]

# Figures 4.21 and 4.22: two dummy rows. Ages and labels are printed, and 82543 in figure 4.24; the other postal code is
# not printed, only that it is in 82***.
DUMMIES = [("w", "65", "82431"), ("m", "20", "82543")]

PLAN: dict[str, Any] = {
    "kohorte": 1,
    "attributes": {
        "TID": {"role": "identifying"},
        "sex": {"role": "quasi-identifying", "hierarchy": {"tree": ["m", "w"]}},
        "age": {
            "role": "quasi-identifying",
            "hierarchy": {
                "intervals": {
                    "levels": [{"bounds": [1, 20, 61, 100], "labels": ["<=19", "20-60", ">=61"]}],
                    "integer": True,
                }
            },
        },
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 5}}},
    },
    "models": [{"model": "k-anonymity", "k": 2}],
    "suppression_limit": 0.0,
    "metric": {"metric": "non_uniform_entropy"},
}


def study_of(folder: Path, protocol: str, distribution: str, **dummies: float) -> Study:
    vertical = {
        "identifier": "TID",
        "parties": {"P1": {"columns": ["zip"]}, "P2": {"columns": ["age"]}, "P3": {"columns": ["sex"]}},
    }
    more = vertical if distribution == "vertical" else {"parties": {name: {} for name in PARTIES}}
    return written_study(folder, PLAN, protocol=protocol, distribution=distribution, **more, **dummies)


@pytest.mark.parametrize("distribution", ["vertical", "horizontal"])
@pytest.mark.parametrize("protocol", ["A", "B", "C"])
def test_the_parties_get_the_released_table_of_the_figures(protocol: str, distribution: str, tmp_path: Path) -> None:
    study = study_of(tmp_path, protocol, distribution)
    releases = run_study(study, VERTICAL if distribution == "vertical" else HORIZONTAL)
    for name in PARTIES:
        release = releases[name]
        assert release is not None
        assert tuple(release.figures["levels"][column] for column in COLUMNS) == NODE
        assert Counter(release.frame.select(COLUMNS).rows()) == Counter(RELEASED)
        assert (release.figures["suppressed"], release.figures["classes"]) == (0, 4)


@pytest.mark.parametrize("code", ["82667", "82676"])
def test_both_postal_codes_that_are_printed_for_one_person_give_the_same_release(code: str, tmp_path: Path) -> None:
    study = study_of(tmp_path, "B", "horizontal")
    first = HORIZONTAL["P1"].with_columns(pl.col("zip").replace("82667", code))
    release = run_study(study, {**HORIZONTAL, "P1": first})["P1"]
    assert release is not None
    assert Counter(release.frame.select(COLUMNS).rows()) == Counter(RELEASED)


# Figures 4.12, 4.15 and 4.19: parts of hierarchies


def labels_of(table: OwnTable, column: str) -> list[tuple[str, ...]]:
    """The labels of each value at all levels."""
    own = table.columns[column]
    texts = dict(enumerate(own.texts))
    return sorted(tuple(texts.get(cell, "*") for cell in row) for row in own.levels.tolist())


def test_a_party_brings_only_the_part_of_a_hierarchy_that_its_values_need(tmp_path: Path) -> None:
    study = study_of(tmp_path, "B", "horizontal")
    own = own_table(HORIZONTAL["P1"], study, "P1", lengths=LENGTHS)
    assert labels_of(own, "sex") == [("m", "*"), ("w", "*")]
    assert labels_of(own, "age") == [("34", "20-60", "*"), ("45", "20-60", "*"), ("66", ">=61", "*")]
    assert [row[:2] for row in labels_of(own, "zip")] == [("81775", "8177*"), ("81925", "8192*"), ("82667", "8266*")]


def unencrypted(own: OwnTable, counters: Cells | None = None) -> SealedTable:
    """A table whose cells are the labels themselves: what the helper does must not depend on the cipher."""
    columns = {}
    for name, column in own.columns.items():
        padded = b"".join(text.encode().ljust(8, b"\0") for text in column.texts)
        cells = np.frombuffer(padded, dtype=np.uint8).reshape(len(column.texts), 8)
        columns[name] = SealedColumn(column.codes, column.levels, cells, column.shares)
    return SealedTable(columns, None, counters)


def test_equal_lines_of_the_parts_of_a_hierarchy_become_one(tmp_path: Path) -> None:
    study = study_of(tmp_path, "B", "horizontal")
    parts = [unencrypted(own_table(HORIZONTAL[name], study, name, lengths=LENGTHS)) for name in PARTIES]
    assert [len(part.columns["sex"].levels) for part in parts] == [2, 2, 1]
    whole = append(parts)
    assert whole.rows == 8
    assert {name: len(column.levels) for name, column in whole.columns.items()} == {"sex": 2, "age": 8, "zip": 8}
    labels = {bytes(cell).rstrip(b"\0").decode() for cell in whole.columns["age"].cells}
    assert labels == {*AGE, "<=19", "20-60", ">=61"}


# Figures 4.21 to 4.24: dummy rows and counters


class Keyholder:
    """Decrypts, and asks the helper directly."""

    def __init__(self, private: ElGamal, helper: CountedTable) -> None:
        self._private, self._helper = private, helper

    def ask(self, node: tuple[int, ...], exact: Any) -> bytes:
        return self._helper.counted(node, dict.fromkeys(exact, True))

    def decrypt(self, counters: Cells) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self._private.decrypt(counters, 10)

    @property
    def public(self) -> ElGamalPublic:
        return self._private.public

    def add(self, counters: Cells, group_of: Codes, groups: int) -> Cells:
        return self.public.sum_groups(counters, group_of, groups)


@pytest.fixture
def counted(tmp_path: Path) -> tuple[CountedTable, Keyholder, Study]:
    """The ten rows of figure 4.22 at the helper, before they are generalized."""
    study = study_of(tmp_path, "C", "horizontal")
    rows = [*zip(SEX, AGE, ZIP, strict=True), *DUMMIES]
    own = own_table(pl.DataFrame(rows, schema=COLUMNS, orient="row"), study, "P1", lengths=LENGTHS)
    private = ElGamal.random()
    counters = private.public.encrypt(np.array([1] * 8 + [0] * 2))
    table = CountedTable(unencrypted(own, counters), study.plan, private.public)
    return table, Keyholder(private, table), study


def test_the_groups_of_0_1_3_have_two_two_two_two_and_no_people(
    counted: tuple[CountedTable, Keyholder, Study],
) -> None:
    table, keyholder, _ = counted
    facts, arrays = unpack(table.counted(NODE, {}))
    assert facts["classes"] == 5
    assert sorted(keyholder.decrypt(arrays["counters"]).tolist()) == [0, 2, 2, 2, 2]


def test_the_counters_of_a_node_come_in_another_order_each_time(
    counted: tuple[CountedTable, Keyholder, Study],
) -> None:
    table, keyholder, _ = counted
    places = {tuple(keyholder.decrypt(unpack(table.counted(NODE, {}))[1]["counters"])) for _ in range(40)}
    assert len(places) > 1  # by chance only one of five places in 40 draws: 5 ** -39


def test_who_decrypts_sees_four_classes_of_two_people(counted: tuple[CountedTable, Keyholder, Study]) -> None:
    table, keyholder, study = counted
    domain = TrueDomain.read(table.domain(), study.plan, keyholder.decrypt)
    engine = CounterEngine(domain, keyholder)
    assert domain.marginals.rows == 8
    assert sorted(engine.groups(NODE).sizes.tolist()) == [2, 2, 2, 2]
    with_people, rows = engine.kept_order[NODE]
    assert len(with_people) == 4
    assert sorted(rows.tolist()) == [1, 2, 2, 2, 3]  # dummy rows included


def test_a_class_of_one_dummy_row_is_known_for_certain_if_nothing_may_be_suppressed(
    counted: tuple[CountedTable, Keyholder, Study],
) -> None:
    """Section 4.4.5.5: the fifth class of figure 4.23 has one row, 2-anonymity holds, so that it is a dummy row.

    The helper is shown every class. If rows may be suppressed, the class is hidden like other small ones.
    """
    table, keyholder, study = counted
    assert study.plan.suppression_limit == 0.0
    found = searched(table, keyholder, study.plan)
    assert (found.node, found.exposed) == (NODE, 1)
    assert found.kept.tolist() == [True] * 5
    found = searched(table, keyholder, replace(study.plan, suppression_limit=0.01))
    assert (found.node, found.exposed) == (NODE, 0)
    assert sorted(found.kept.tolist()) == [False, True, True, True, True]


def searched(table: CountedTable, keyholder: Keyholder, plan: ko.Plan) -> Found:
    """Search with the helper in another thread."""
    channels = LocalChannels(["P1", "helper"])
    found: list[Found] = []

    def lead(channel: Channel) -> None:
        leading = Lead(channel, plan, "helper", keyholder.decrypt, keyholder.public)
        found.append(leading.search(None))
        leading.choose(found[0])

    channels.run({"P1": lead, "helper": lambda channel: answer(channel, "P1", table)})
    return found[0]


def test_rows_whose_counter_is_0_are_dropped_at_the_end(counted: tuple[CountedTable, Keyholder, Study]) -> None:
    """Figure 4.22: ten rows with their counters; the eight with counter 1 are the release. Equal ones are one row."""
    table, keyholder, study = counted
    facts, _ = unpack(table.counted(NODE, {}))
    release, counters = table.released(NODE, np.ones(facts["classes"], dtype=bool))
    texts = {name: [bytes(cell).rstrip(b"\0").decode() for cell in cells] for name, cells in release.cells.items()}
    opened = release.opened(texts, study.plan).select(COLUMNS)
    counts = keyholder.decrypt(counters).tolist()
    assert {row: count for row, count in zip(opened.rows(), counts, strict=True) if count} == Counter(RELEASED)
    assert [row for row, count in zip(opened.rows(), counts, strict=True) if not count] == [("w", ">=61", "82***")]


def rows_sent(folder: Path, distribution: str) -> dict[str, int]:
    """Run the example with protocol C; how many rows each party sends to the helper, each with a different counter."""
    study = study_of(folder / "study", "C", distribution, dummies=0.25)
    run_study(study, VERTICAL if distribution == "vertical" else HORIZONTAL, record=folder / "sent")
    sent = {name: next((folder / "sent").glob(f"*-{name}-to-helper-table.bin")) for name in PARTIES}
    tables = {name: SealedTable.from_bytes(path.read_bytes()) for name, path in sent.items()}
    for name, table in tables.items():
        if distribution == "vertical" and name != "P1":  # the first party counts the joined rows
            assert table.counters is None
            continue
        assert table.counters is not None
        assert len(np.unique(table.counters, axis=0)) == table.rows
    return {name: table.rows for name, table in tables.items()}


def test_a_quarter_of_dummy_rows_of_eight_people_is_two(tmp_path: Path) -> None:
    """Figure 4.21."""
    assert rows_sent(tmp_path, "vertical") == {"P1": 10, "P2": 10, "P3": 10}


def test_a_quarter_of_dummy_rows_of_three_people_is_one_or_none(tmp_path: Path) -> None:
    """Figure 4.24 has one; here the number is rounded at random, so that it does not tell how many people there are."""
    rows = rows_sent(tmp_path, "horizontal")
    assert rows["P1"] in (3, 4)
    assert rows["P2"] in (3, 4)
    assert rows["P3"] in (2, 3)
