"""Tables whose medical columns are sealed row by row."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from nacl import bindings
from nacl.public import PrivateKey as NaclKey
from nacl.public import SealedBox
from polars.testing import assert_frame_equal

from kohorte.envelopes.tables import Outcome, open_table, seal_table
from kohorte.errors import KohorteError
from kohorte.sources.batches import TableBatches
from support.envelopes import Pair

VISITS = pl.DataFrame(
    {
        "pid": ["A", "B", "A", "C"],
        "diagnosis": ["I21-infarct", "E11, with\nline", None, 'Ü40 "quoted"'],
        "day": ["2026-01-02", None, "2026-03-04", ""],
    }
)


def seal(tmp_path: Path, key: Pair, frame: pl.DataFrame = VISITS, **options: Any) -> pl.DataFrame:
    frame.write_csv(tmp_path / "visits.csv")
    options.setdefault("keep", ["pid"])
    keep = options.pop("keep")
    table = TableBatches(tmp_path / "visits.csv")
    seal_table(table, tmp_path / "sealed.csv", keep, key.public, force=True, **options)
    return pl.read_csv(tmp_path / "sealed.csv", infer_schema=False)


def open_(tmp_path: Path, key: Pair, frame: pl.DataFrame, **options: Any) -> tuple[pl.DataFrame, Outcome]:
    frame.write_csv(tmp_path / "come.csv")
    done = open_table(
        TableBatches(tmp_path / "come.csv", block=300), tmp_path / "out.csv", key.private, force=True, **options
    )
    return pl.read_csv(tmp_path / "out.csv", infer_schema=False), done


def code_of(tmp_path: Path, key: Pair, frame: pl.DataFrame, **options: Any) -> str:
    with pytest.raises(KohorteError) as refused:
        open_(tmp_path, key, frame, **options)
    assert not (tmp_path / "out.csv").exists()
    assert not any(text in refused.value.message for text in ("I21", "kse1"))
    return refused.value.code


def test_the_sealed_table_shows_the_kept_columns_only(tmp_path: Path, recipient: Pair) -> None:
    table = seal(tmp_path, recipient)
    assert table.columns == ["pid", "sealed"]
    assert table["pid"].to_list() == VISITS["pid"].to_list()
    text = (tmp_path / "sealed.csv").read_text()
    assert not any(word in text for word in ("I21-infarct", "diagnosis", "2026-01-02"))


def test_the_recipient_reads_what_was_sealed(tmp_path: Path, recipient: Pair) -> None:
    found, done = open_(tmp_path, recipient, seal(tmp_path, recipient))
    expected = VISITS.with_columns(pl.col("day").replace("", None))
    assert_frame_equal(found, expected)
    assert done.to_dict() == {"rows": 4, "columns": 2, "missing": 0, "senders": ["nobody"]}
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o600


def test_libraries_alone_open_a_row(tmp_path: Path, recipient: Pair) -> None:
    cell = seal(tmp_path, recipient)["sealed"][1]
    mark, box, sealed = cell.split(".")
    content = SealedBox(NaclKey(recipient.private.raw)).decrypt(urlsafe_b64decode(box))
    assert json.loads(content[64:]) == {"columns": ["diagnosis", "day"], "rows": 4}
    info = b"kohorte envelope 1" + recipient.public.raw + urlsafe_b64decode(box)
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(content[:32])
    data = urlsafe_b64decode(sealed)
    plain = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(data[24:], urlsafe_b64decode(box), data[:24], key)
    assert mark == "kse1"
    assert len(plain) % 128 == 0
    assert json.loads(plain.rstrip(b"\0")[:-1]) == [2, "E11, with\nline", None]


def test_all_short_rows_look_equally_long(tmp_path: Path, recipient: Pair) -> None:
    table = seal(tmp_path, recipient, pl.DataFrame({"pid": ["A", "B"], "hiv": ["no", "yes, for eleven years"]}))
    assert table["sealed"].str.len_chars().n_unique() == 1


def test_rows_may_be_shuffled_and_left_out_and_those_that_are_missing_are_counted(
    tmp_path: Path, recipient: Pair
) -> None:
    table = seal(tmp_path, recipient)
    come = table[[3, 0]].with_columns(pid=pl.Series(["psn-1", "psn-2"]))
    found, done = open_(tmp_path, recipient, come)
    assert found["diagnosis"].to_list() == ['Ü40 "quoted"', "I21-infarct"]
    assert (done.rows, done.missing) == (2, 2)
    (tmp_path / "out.csv").unlink()
    assert code_of(tmp_path, recipient, come, complete=True) == "envelope-rows-missing"


def test_a_row_that_comes_twice_is_noticed(tmp_path: Path, recipient: Pair) -> None:
    table = seal(tmp_path, recipient)
    assert code_of(tmp_path, recipient, table[[0, 1, 1, 3]]) == "envelope-row-twice"


@pytest.mark.parametrize("place", [0, 2, 10, 60, 130, 200, 280, -1])
def test_a_changed_text_is_noticed_with_its_row(tmp_path: Path, recipient: Pair, place: int) -> None:
    table = seal(tmp_path, recipient)
    cell = table["sealed"][2]
    index = place % len(cell)
    if cell[index] == "=":
        index -= 2
    changed = cell[:index] + ("B" if cell[index] != "B" else "C") + cell[index + 1 :]
    frame = table.with_columns(sealed=pl.Series([*table["sealed"][:2], changed, table["sealed"][3]]))
    with pytest.raises(KohorteError, match="row 3"):
        open_(tmp_path, recipient, frame)


def test_parts_of_two_rows_or_tables_cannot_be_joined(tmp_path: Path, recipient: Pair) -> None:
    one, other = seal(tmp_path, recipient), seal(tmp_path, recipient)
    mixed = [
        ".".join((*a.split(".")[:2], b.split(".")[2])) for a, b in zip(one["sealed"], other["sealed"], strict=True)
    ]
    assert code_of(tmp_path, recipient, one.with_columns(sealed=pl.Series(mixed))) == "envelope-damaged"
    both = pl.concat([one, other])
    assert open_(tmp_path, recipient, both)[1].rows == 8


def test_tables_of_two_houses_are_opened_together_if_their_columns_agree(
    tmp_path: Path, recipient: Pair, sender: Pair, stranger: Pair
) -> None:
    one = seal(tmp_path, recipient, sender=sender.private)
    two = seal(tmp_path, recipient, sender=stranger.private)
    senders = [sender.public, stranger.public]
    _, done = open_(tmp_path, recipient, pl.concat([one, two]), senders=senders)
    assert done.senders == sorted(key.fingerprint for key in senders)
    (tmp_path / "out.csv").unlink()
    assert code_of(tmp_path, recipient, pl.concat([one, two]), senders=senders[:1]) == "envelope-sender"
    unlike = seal(tmp_path, recipient, VISITS.drop("day"))
    assert code_of(tmp_path, recipient, pl.concat([one, unlike])) == "envelope-columns"


def test_another_key_opens_no_row(tmp_path: Path, recipient: Pair, stranger: Pair) -> None:
    assert code_of(tmp_path, stranger, seal(tmp_path, recipient)) == "envelope-other-key"


def test_a_table_without_sealed_texts_is_refused(tmp_path: Path, recipient: Pair) -> None:
    assert code_of(tmp_path, recipient, VISITS) == "envelope-table"
    empty = VISITS.select("pid", sealed=pl.Series([None, "x", "y", "z"]))
    assert code_of(tmp_path, recipient, empty) == "envelope-damaged"
    again = seal(tmp_path, recipient).with_columns(day=pl.lit("1"))
    assert code_of(tmp_path, recipient, again) == "envelope-columns"


@pytest.mark.parametrize("keep", [["pud"], ["pid", "pid"], ["pid", "diagnosis", "day"]])
def test_columns_to_keep_that_make_no_sense_are_refused(tmp_path: Path, recipient: Pair, keep: list[str]) -> None:
    with pytest.raises(KohorteError) as refused:
        seal(tmp_path, recipient, keep=keep)
    assert refused.value.code == "envelope-columns"


def test_parquet_is_sealed_and_opened_too(tmp_path: Path, recipient: Pair, stranger: Pair) -> None:
    pl.DataFrame({"pid": ["A", "B"], "crp": [1.5, None]}).write_parquet(tmp_path / "in.parquet")
    seal_table(TableBatches(tmp_path / "in.parquet"), tmp_path / "s.parquet", ["pid"], recipient.public)
    table = TableBatches(tmp_path / "s.parquet")
    open_table(table, tmp_path / "out.parquet", recipient.private)
    assert pl.read_parquet(tmp_path / "out.parquet").rows() == [("A", "1.5"), ("B", None)]
    with pytest.raises(KohorteError) as refused:
        open_table(table, tmp_path / "other.parquet", stranger.private)
    assert refused.value.code == "envelope-other-key"
    assert not (tmp_path / "other.parquet").exists()


def forged(recipient: Pair, facts: object, content: object) -> pl.DataFrame:
    """A row that somebody with the public key makes by hand; whatever is in it must not break the program."""
    secret = bytes(32)
    box = bindings.crypto_box_seal(secret + bytes(32) + json.dumps(facts).encode(), recipient.public.raw)
    info = b"kohorte envelope 1" + recipient.public.raw + box
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(secret)
    padded = bindings.sodium_pad(json.dumps(content).encode() if content != "deep" else b"[" * 100_000, 128)
    sealed = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(padded, box, bytes(24), key)
    parts = (urlsafe_b64encode(part).decode() for part in (box, bytes(24) + sealed))
    return pl.DataFrame({"pid": ["A"], "sealed": [".".join(("kse1", *parts))]})


FACTS = {"columns": ["a"], "rows": 1}


@pytest.mark.parametrize(("facts", "content"), [
    (FACTS, [1, 7]), (FACTS, [1, ["x"]]), (FACTS, [1]), (FACTS, [1, "x", "y"]), (FACTS, [0, "x"]), (FACTS, [2, "x"]),
    (FACTS, ["1", "x"]), (FACTS, {}), (FACTS, None), (FACTS, "deep"), ({"columns": [], "rows": 1}, [1]),
    ({"columns": ["a", "a"], "rows": 1}, [1, "x", "y"]), ({"columns": [""], "rows": 1}, [1, "x"]),
    ({"columns": [5], "rows": 1}, [1, "x"]), ({"rows": 1}, [1, "x"]), ([], [1, "x"]),
    ({"columns": ["a"], "rows": "?"}, [1]),
])  # fmt: skip
def test_a_row_that_was_made_by_hand_and_makes_no_sense_is_refused(
    tmp_path: Path, recipient: Pair, facts: object, content: object
) -> None:
    assert code_of(tmp_path, recipient, forged(recipient, facts, content)) == "envelope-damaged"


def test_a_head_that_promises_many_rows_takes_no_memory(tmp_path: Path, recipient: Pair) -> None:
    _, done = open_(tmp_path, recipient, forged(recipient, {"columns": ["a"], "rows": 10**15}, [1, "x"]))
    assert done.missing == 10**15 - 1
