"""Spellings of one identifier have one key; identifiers of different people keep different ones."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.data import person_keys, spelling_keys
from support.examples import examples

NAME = "Müller-Lüdenscheidt"


def keys(*texts: str | None) -> list[str | None]:
    return spelling_keys(pl.Series(texts, dtype=pl.String)).to_list()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (NAME, unicodedata.normalize("NFD", NAME)),
        (NAME, NAME.upper()),
        (NAME, f" {NAME}\t"),
        (NAME, f"\u00a0{NAME}\u2003"),
        ("Ana María", "ANA \u00a0 MARI\u0301A"),
        ("P0017", "p0017 "),
        ("P0017", "\uff30\uff10\uff10\uff11\uff17"),
        ("P0017", "\ufeffP00\u00ad17\u200b"),
        ("Groß", "GROSS"),
        ("ΟΔΟΣ", "οδος"),
        ("K-1", "\u212a-1"),
    ],
)
def test_spellings_of_one_identifier_have_one_key(one: str, other: str) -> None:
    assert len({*keys(one, other)}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("007", "7"), ("Muller", "Müller"), ("a b", "ab"), ("P-1", "P1"), ("1", "l")]
)
def test_different_identifiers_have_different_keys(one: str, other: str) -> None:
    assert len({*keys(one, other)}) == 2


def test_an_identifier_of_which_nothing_is_seen_is_missing() -> None:
    assert keys(None, "", "  ", "\u00a0", "\u200b", "x") == [None, None, None, None, None, "x"]


@examples(200)
@given(st.text(max_size=8))
def test_a_key_depends_neither_on_the_form_of_letters_nor_on_blanks_around(text: str) -> None:
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    [key] = {*keys(text, *forms, f"\u00a0 {text}\n", f"\ufeff{text}")}
    assert keys(key) == [key]


def test_several_columns_keep_their_parts_apart() -> None:
    found = person_keys([pl.Series(["1", "11", "1 ", "A", None]), pl.Series(["11", "1", "11", "b", "x"])])
    assert found[0] == found[2]
    assert found[:4].n_unique() == 3
    assert found[4] is None


def test_the_names_of_columns_are_kept() -> None:
    assert spelling_keys(pl.Series("patient", ["Ä", "b"])).name == "patient"
