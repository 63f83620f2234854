"""Columns of different parties that determine each other are found without showing a value; dummy rows keep them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from kohorte.errors import ProtocolError
from kohorte.parties.ciphers.counters import ElGamal
from kohorte.parties.dummy_rows import ties
from kohorte.parties.dummy_rows.joined import Group, chance_alike, with_joined_dummies
from kohorte.parties.dummy_rows.ties import Agreeing
from kohorte.parties.own_table import LabelledColumn, OwnTable
from kohorte.parties.sealed import unpack
from support.joint_studies import run_study, written_study

KEY = bytes(32)


@pytest.fixture(autouse=True)
def fewer_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough pairs for the columns of these tests; each costs time."""
    monkeypatch.setattr(ties, "PAIRS", 1200)


def own_of(people: NDArray[np.integer], columns: Mapping[str, NDArray[np.integer]]) -> OwnTable:
    """The table of a party; values are numbers."""
    found = {}
    for name, codes in columns.items():
        count = int(codes.max()) + 1
        levels = np.stack([np.arange(count), np.full(count, count)], axis=1).astype(np.uint32)
        found[name] = LabelledColumn(codes.astype(np.uint32), levels, tuple(map(str, range(count + 1))))
    return OwnTable(found, tuple(f"person {number}" for number in people))


def towns(draw: np.random.Generator, rows: int) -> tuple[OwnTable, OwnTable]:
    """One party knows towns and ages, the other one states, which towns determine, and wards; some people differ."""
    town, age = draw.integers(0, 16, rows), draw.integers(0, 18, rows)
    ward, number = draw.integers(0, 12, rows), np.arange(rows)
    here, there = np.arange(rows - rows // 50), draw.permutation(np.arange(rows // 50, rows))
    one = own_of(here, {"town": town[here], "age": age[here], "case": number[here]})
    other = own_of(there, {"state": (town // 4)[there], "ward": ward[there], "visit": number[there]})
    return one, other


@pytest.mark.parametrize("rows", [400, 3000])
def test_a_column_that_another_one_determines_is_found(rows: int) -> None:
    one, other = (Agreeing.of(own, key=KEY, rows=rows) for own in towns(np.random.default_rng(3), rows))
    with ElGamal.random() as private:
        assert one.tied(other.answer(one.question(private)), private) == {"town", "state"}


def test_columns_in_which_hardly_two_people_agree_are_not_compared() -> None:
    """Their numbers would tell something about the two people of a pair."""
    one, other = (Agreeing.of(own, key=KEY, rows=400) for own in towns(np.random.default_rng(3), 400))
    assert set(one.pairs) == {"town", "age"}
    assert set(other.pairs) == {"state", "ward"}


def test_pairs_are_counted_as_in_plain_text() -> None:
    one, other = (Agreeing.of(own, key=KEY, rows=400) for own in towns(np.random.default_rng(3), 400))
    with ElGamal.random() as private:
        facts, arrays = unpack(other.answer(one.question(private)))
        counts = private.decrypt(arrays["both"], ties.PAIRS)
    plain = [int((own & theirs).sum()) for theirs in other.pairs.values() for own in one.pairs.values()]
    assert counts.tolist() == plain
    assert facts["agree"] == {name: int(same.sum()) for name, same in other.pairs.items()}


def test_what_is_no_question_about_pairs_is_refused() -> None:
    one, _ = (Agreeing.of(own, key=KEY, rows=400) for own in towns(np.random.default_rng(3), 400))
    with ElGamal.random() as private:
        question = one.question(private)
        for message in (b"", question[:-1]):
            with pytest.raises(ProtocolError):
                one.answer(message)
        with pytest.raises(ProtocolError):
            one.tied(question, private)


def test_dummy_rows_keep_columns_that_determine_each_other() -> None:
    one, other = towns(np.random.default_rng(3), 1000)
    alike = {"one": chance_alike(one), "other": chance_alike(other)}
    group = Group(alike, 1000, tied={"town", "state"}, free=["one", "other"])
    mixed = {
        name: with_joined_dummies(own, 0.5, key=KEY, group=group, name=name)
        for name, own in (("one", one), ("other", other))
    }
    parts = [
        pl.DataFrame({"id": own.identifiers, **{name: column.codes for name, column in own.columns.items()}})
        for own in mixed.values()
    ]
    dummies = parts[0].join(parts[1], on="id").filter(pl.col("id").str.starts_with("\0"))
    assert dummies.height > 400
    assert (dummies["town"] // 4 == dummies["state"]).all()


def certified(folder: Path, rows: Mapping[str, NDArray[np.integer]]) -> float:
    """What the certificate of a vertical study says about dummy rows: how well they are told."""
    plan = {
        "kohorte": 1,
        "attributes": {name: {"role": "quasi-identifying"} for name in rows},
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    parties = {name: {"columns": [name]} for name in rows}
    study = written_study(
        folder, plan, protocol="C", parties=parties, distribution="vertical", identifier="TID", dummies=0.25
    )
    tables = {name: pl.DataFrame({"TID": np.arange(len(own)).astype(str), name: own}) for name, own in rows.items()}
    release = run_study(study, tables)[next(iter(rows))]
    assert release is not None
    joint: Any = release.certificate.facts["joint"]
    return float(joint["dummy_rows"]["told"])


def test_a_helper_cannot_tell_dummy_rows_by_columns_of_two_parties_that_determine_each_other(tmp_path: Path) -> None:
    """Exchanged values would tell them more than 0.68 times; of 200 runs none told copies more than 0.6 times."""
    value = np.random.default_rng(1).integers(0, 20, 400)
    assert certified(tmp_path, {"code": value, "text": value}) < 0.65
