"""The made-up hospital of the release check with a patient list: distinct people, and a table with their PIDs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from testbed.hospital import patients

SYLLABLES = ("ka", "lo", "mi", "nu", "re", "sto", "tha", "vi", "wex", "zu")
K = 5
SHOWN = ("age", "sex", "occupation")


def identities(number: int) -> list[dict[str, str]]:
    """Up to 1,000 people whom no record linkage takes for one another."""
    return [
        {
            "first_name": _name(7 * one + 3),
            "last_name": f"{_name(one)}mann",
            "birth_date": f"{1930 + one * 37 % 70}-{1 + one * 5 % 12:02}-{1 + one * 11 % 28:02}",
        }
        for one in range(number)
    ]


def table_with_pids(pids: Sequence[str]) -> pl.DataFrame:
    """A table with one row or more for each PID; the first half gets methadone, the others ibuprofen."""
    people = len(pids)
    table = patients(people + people // 4, people=people, treated=people // 2)
    return table.with_columns(pl.col("patient").str.slice(1).cast(pl.Int64).replace_strict(range(people), pids))


def few_stand_out(before: pl.DataFrame, after: pl.DataFrame, k: int = K) -> bool:
    """Whether the classes of two answers differ by a few rows, which belong to the few people between the answers."""
    both = before.group_by(SHOWN).len().join(after.group_by(SHOWN).len(), on=SHOWN, how="full", suffix="_after")
    gone = (both["len"].fill_null(0).cast(pl.Int64) - both["len_after"].fill_null(0).cast(pl.Int64)).abs()
    return bool(gone.is_between(1, k - 1).any())


def _name(number: int) -> str:
    return "".join(SYLLABLES[number // part % len(SYLLABLES)] for part in (1, 10, 100)).title()
