"""The key by which people are told apart: one for all spellings of an identifier.

`Müller`, `MÜLLER ` and the same name with a combining mark are one person. If spellings counted as people, a class of
one person could be taken for a class of several. Different people with the same key would count as one, so that k is
rather reached too late than too early. Leading zeros tell people apart: `007` and `7` can be two numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import polars as pl

PLAIN = r"^[\x21-\x7E]+$"
BLANKS = re.compile(r"[\s\x00-\x20\x7F-\x9F]+")
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that show nothing (Default_Ignorable_Code_Point of Unicode)."""
LATIN = re.compile("[\u0021-\u007e\u00a1-\u00ac\u00ae-\u02ff]+")

LOOSE = r"[^\p{L}\p{N}]|(?:^|[^0-9])0[0-9]"
"""What `loose_keys` changes: marks, and zeros before a digit."""


def spelling_keys(text: pl.Series) -> pl.Series:
    """The key of each text, the same for all its spellings; missing if nothing can be seen of it.

    Compatible characters are the same (Unicode NFKC), and so are capital and small letters. Invisible characters and
    blanks around a text do not count, and several blanks between words are one.
    """
    keys = text.str.strip_chars().str.to_lowercase()
    odd = (~keys.str.contains(PLAIN)).fill_null(value=False)
    if not odd.any():
        return keys
    strange = text.filter(odd).unique()
    known = pl.DataFrame([strange.alias("text"), pl.Series("key", [_key(one) for one in strange], dtype=pl.String)])
    found = pl.DataFrame([text.alias("text")]).join(known, on="text", how="left", maintain_order="left")["key"]
    return found.zip_with(odd, keys).alias(text.name)


def person_keys(columns: Sequence[pl.Series]) -> pl.Series:
    """The key of the person whom each row is about, from the texts of the columns that say it; missing if one is."""
    return one_text([spelling_keys(column) for column in columns])


def one_spelling(text: pl.Series) -> pl.Series:
    """The texts, with the first spelling of all that have the same key; missing if nothing can be seen."""
    distinct = text.drop_nulls().unique().sort()
    keys = spelling_keys(distinct)
    if not keys.null_count() and keys.n_unique() == len(distinct):  # as in most tables
        return text
    known = pl.DataFrame([distinct.alias("text"), keys.alias("key")]).drop_nulls()
    known = known.select("text", pl.col("text").first().over("key").alias("first"))
    found = pl.DataFrame([text.alias("text")]).join(known, on="text", how="left", maintain_order="left")
    return found["first"].alias(text.name)


def loose_keys(keys: pl.Series) -> pl.Series:
    """What is left of keys without leading zeros, a decimal `.0` at the end, and marks beside a letter.

    Different people can be alike in it: `7` and `007`, `17` and `17.0`, `p17` and `p-17`.
    """
    changing = keys.str.contains(LOOSE).fill_null(value=False)
    if not changing.any():  # as in most tables
        return keys
    found = keys.filter(changing).str.replace(r"^([0-9]+)[.,]0+$", "$1")
    for mark, instead in ((r"[^\p{L}\p{N}]+", "-"), (r"(\p{L})-", "$1"), (r"-(\p{L})", "$1"), (r"^-|-$", "")):
        found = found.str.replace_all(mark, instead)
    return keys.clone().scatter(changing.arg_true(), found.str.replace_all(r"(^|[^0-9])0+([0-9])", "$1$2"))


def one_text(columns: Sequence[pl.Series]) -> pl.Series:
    """Several columns of text as one; their lengths keep different combinations apart."""
    if len(columns) == 1:
        return columns[0]
    parts = [
        pl.concat_str(pl.lit(column).str.len_bytes().cast(pl.String), pl.lit(":"), pl.lit(column)) for column in columns
    ]
    return pl.select(pl.concat_str(parts)).to_series()


def _key(text: str) -> str | None:
    """The key of one text, by the caseless matching of Unicode (The Unicode Standard, section 3.13, D146)."""
    folded = text.casefold()
    if LATIN.fullmatch(folded) and unicodedata.is_normalized("NFKC", folded):
        return folded
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold()).casefold()
    visible = BLANKS.sub(" ", INVISIBLE.sub("", unicodedata.normalize("NFKC", folded))).strip(" ")
    return unicodedata.normalize("NFKC", visible) or None
