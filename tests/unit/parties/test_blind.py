"""Tables of ciphertexts put together and anonymized, with hashes instead of ciphertexts."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InputError, ProtocolError
from kohorte.parties.blind import anonymize_blindly
from kohorte.parties.integration import append, join, permuted, refuse_lost, refuse_nobody
from kohorte.parties.own_table import OwnTable, longest_values, own_table
from kohorte.parties.sealed import SealedColumn, SealedTable, pack, unpack
from kohorte.parties.sealed_release import SealedRelease
from kohorte.parties.study import Study
from support.joint_studies import written_study

PLAN = {
    "kohorte": 1,
    "attributes": {
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
        "sex": {"role": "quasi-identifying", "hierarchy": {"tree": {"any": ["m", "f"]}}},
        "note": {"role": "insensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 2}],
    "suppression_limit": 0.4,
}
LEFT = pl.DataFrame({"zip": ["81667", "81675", "97070"], "sex": ["m", "m", "f"], "note": ["a", "=b", None]})
RIGHT = pl.DataFrame({"zip": ["8166", "81667"], "sex": ["m", None], "note": ["a", "c"]})


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return written_study(tmp_path, PLAN)


def hashed(own: OwnTable) -> SealedTable:
    """A table with a hash for each label."""

    def cells(texts: tuple[str, ...], column: str) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
        digests = [hashlib.sha256(f"{column} {text}".encode()).digest()[:16] for text in texts]
        return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(len(texts), 16)

    columns = {
        name: SealedColumn(column.codes, column.levels, cells(column.texts, name), column.shares)
        for name, column in own.columns.items()
    }
    return SealedTable(columns, None if own.identifiers is None else cells(own.identifiers, "id"))


def both(study: Study) -> list[SealedTable]:
    return [hashed(own_table(frame, study, "clinic-a", lengths={"zip": 5})) for frame in (LEFT, RIGHT)]


def test_a_table_survives_being_sent(study: Study) -> None:
    table = both(study)[0]
    read = SealedTable.from_bytes(table.to_bytes())
    assert read.to_bytes() == table.to_bytes()


def test_a_permuted_table_has_the_same_rows_in_another_order(study: Study) -> None:
    table = append(both(study) * 20)
    mixed = permuted(table)

    def rows(one: SealedTable) -> list[tuple[bytes, ...]]:
        shown = [
            [
                bytes(one.columns[name].cells[cell]) if cell < len(one.columns[name].cells) else b""
                for cell in column.at(0)
            ]
            for name, column in one.columns.items()
        ]
        return list(zip(*shown, strict=True))

    assert rows(mixed) != rows(table)
    assert sorted(rows(mixed)) == sorted(rows(table))


def test_the_blind_search_finds_what_the_search_on_text_finds(study: Study) -> None:
    pooled = ko.anonymize(pl.concat([LEFT, RIGHT]), study.plan)
    figures = anonymize_blindly(permuted(append(both(study))), study.plan).figures
    assert figures.levels == pooled.levels
    assert figures.cost == pytest.approx(pooled.cost)
    assert (figures.suppressed, figures.classes) == (pooled.suppressed, pooled.classes)


def test_only_cells_that_the_release_shows_are_sent_on(study: Study) -> None:
    table = append(both(study))
    found = anonymize_blindly(table, study.plan)
    release = SealedRelease.of(table, found.rows, found.shown, {})
    assert len(release.cells["zip"]) < len(table.columns["zip"].cells)
    assert all(
        int(codes[codes < 2**32 - 2].max(initial=0)) < max(1, len(release.cells[name]))
        for name, codes in release.codes.items()
    )
    assert SealedRelease.from_bytes(release.permuted().to_bytes(), list(release.codes)).rows == 5


def test_hierarchies_that_contradict_each_other_are_refused_without_a_value(study: Study, tmp_path: Path) -> None:
    other = {
        **PLAN["attributes"],
        "sex": {"role": "quasi-identifying", "hierarchy": {"tree": {"all": ["m"], "any": ["f"]}}},
    }  # type: ignore[dict-item]
    theirs = written_study(tmp_path / "other", {**PLAN, "attributes": other})
    tables = [both(study)[0], hashed(own_table(LEFT, theirs, "clinic-a", lengths={"zip": 5}))]
    with pytest.raises(InputError, match="'sex': the hierarchies of the parties contradict each other at level 1"):
        append(tables)


def test_hierarchies_of_different_heights_are_refused(study: Study) -> None:
    short = hashed(own_table(RIGHT.with_columns(zip=pl.lit("1")), study, "clinic-a", lengths={"zip": 4}))
    with pytest.raises(InputError, match="'zip': the hierarchies of the parties have different numbers of levels"):
        append([both(study)[0], short])


def test_the_longest_value_of_a_redaction_is_told_so_that_all_have_the_same_levels(study: Study) -> None:
    assert longest_values(RIGHT, study, "clinic-a") == {"zip": 5}


VERTICAL = {
    "distribution": "vertical",
    "identifier": "id",
    "parties": {"clinic-a": {"columns": ["zip"]}, "clinic-b": {"columns": ["sex", "note"]}},
}


def vertical(tmp_path: Path, left: list[str], right: list[str], **more: object) -> tuple[Study, dict[str, SealedTable]]:
    study = written_study(tmp_path, PLAN, **VERTICAL, **more)
    one = pl.DataFrame({"id": left, "zip": [f"8166{name[-1]}" for name in left]})
    two = pl.DataFrame({"id": right, "sex": ["m"] * len(right), "note": right})
    return study, {
        "clinic-a": hashed(own_table(one, study, "clinic-a", lengths={"zip": 5})),
        "clinic-b": hashed(own_table(two, study, "clinic-b", lengths={})),
    }


def test_rows_are_joined_by_their_identifiers_and_others_are_counted(tmp_path: Path) -> None:
    _, tables = vertical(tmp_path, ["p1", "p2", "p3"], ["p3", "p1", "p4", "p5"])
    joined, lost = join(tables)
    assert joined.rows == 2
    assert lost == {"clinic-a": 1, "clinic-b": 2}
    zips, notes = joined.columns["zip"], joined.columns["note"]
    digests = {bytes(zips.cells[zips.at(0)[row]]): bytes(notes.cells[notes.at(0)[row]]) for row in range(2)}
    expected = {
        hashlib.sha256(f"zip 8166{number}".encode()).digest()[:16]: hashlib.sha256(f"note p{number}".encode()).digest()[
            :16
        ]
        for number in (1, 3)
    }
    assert digests == expected


def test_a_study_of_the_same_people_is_refused_if_somebody_is_missing(tmp_path: Path) -> None:
    _, tables = vertical(tmp_path, ["p1", "p2"], ["p1", "p3"])
    joined, lost = join(tables)
    with pytest.raises(InputError, match="only 1 of their rows are at all of them; clinic-a has 1 others, clinic-b"):
        refuse_lost(lost, joined.rows, dummies=False)


def test_parties_with_nobody_in_common_are_refused(tmp_path: Path) -> None:
    _, tables = vertical(tmp_path, ["p1"], ["p2"])
    joined, lost = join(tables)
    assert lost == {"clinic-a": 1, "clinic-b": 1}
    with pytest.raises(InputError, match="no person is at all parties: the identifiers do not match"):
        refuse_nobody([joined])


def test_a_group_may_have_nobody_in_common_if_another_has_somebody(tmp_path: Path) -> None:
    nobody, somebody = (join(vertical(tmp_path / right, ["p1"], [right])[1])[0] for right in ("p2", "p1"))
    refuse_nobody([nobody, somebody])
    with pytest.raises(InputError, match="no person is at all parties of any group"):
        refuse_nobody([nobody, nobody])


@pytest.mark.parametrize(
    ("ids", "code"), [(["a", "a"], "study-identifier-repeated"), (["a", None], "study-identifier-missing")]
)
def test_identifiers_must_be_there_and_different(ids: list[str | None], code: str, tmp_path: Path) -> None:
    study = written_study(tmp_path, PLAN, **VERTICAL)
    with pytest.raises(InputError) as refused:
        own_table(pl.DataFrame({"id": ids, "zip": ["1", "2"]}), study, "clinic-a", lengths={"zip": 1})
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("columns", "code"),
    [({"id": ["a"]}, "study-columns-missing"), ({"id": ["a"], "zip": ["1"], "sex": ["m"]}, "study-columns-unnamed")],
)
def test_a_party_brings_its_columns_and_no_others(columns: dict[str, list[str]], code: str, tmp_path: Path) -> None:
    study = written_study(tmp_path, PLAN, **VERTICAL)
    with pytest.raises(InputError) as refused:
        own_table(pl.DataFrame(columns), study, "clinic-a", lengths={"zip": 1})
    assert refused.value.code == code


def test_pregeneralized_values_never_leave_below_their_minimum_level(tmp_path: Path) -> None:
    attributes = {
        **PLAN["attributes"],
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}, "minimum_level": 2},
    }  # type: ignore[dict-item]
    study = replace(written_study(tmp_path, {**PLAN, "attributes": attributes}), pregeneralize=True)
    own = own_table(LEFT, study, "clinic-a", lengths={"zip": 5})
    assert own.columns["zip"].texts[:1] == ("816**",)
    assert not any(text in own.columns["zip"].texts for text in ("81667", "8166*"))
    full = own_table(LEFT, replace(study, pregeneralize=False), "clinic-a", lengths={"zip": 5})
    assert "81667" in full.columns["zip"].texts


def broken(table: SealedTable) -> dict[str, bytes]:
    """Messages that are not tables."""
    message = table.to_bytes()
    facts, arrays = unpack(message)
    codes = arrays["0.codes"].copy()
    codes[0] = 200
    levels = arrays["0.levels"].copy()
    levels[0, 0] = 10_000
    return {
        "empty": b"",
        "cut": message[:-1],
        "longer": message + b"\0",
        "no head": b"\xff\xff\xff\xff" + message[4:],
        "not JSON": b"\2\0\0\0{]",
        "no columns": pack({"columns": []}, arrays),
        "a value that is not there": pack(facts, {**arrays, "0.codes": codes}),
        "a cell that is not there": pack(facts, {**arrays, "0.levels": levels}),
        "columns of different lengths": pack(facts, {**arrays, "1.codes": arrays["1.codes"][:-1]}),
        "wrong kind": pack(facts, {**arrays, "0.cells": arrays["0.cells"].astype(np.float64)}),
        "shares above 1": pack(facts, {**arrays, "1.shares": arrays["1.levels"].astype(np.float64)}),
    }


@pytest.mark.parametrize(
    "how",
    sorted(
        broken(
            SealedTable(
                {
                    name: SealedColumn(np.zeros(2, np.uint32), np.zeros((1, 2), np.uint32), np.zeros((1, 16), np.uint8))
                    for name in "ab"
                }
            )
        )
    ),
)
def test_a_malformed_message_is_refused(how: str, study: Study) -> None:
    with pytest.raises(ProtocolError) as refused:
        SealedTable.from_bytes(broken(both(study)[0])[how])
    assert refused.value.code == "party-message-malformed"
