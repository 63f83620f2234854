"""What the texts of sensitive values tell about how they were written: spellings that count as one value, and words
that stand for a missing one."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from kohorte.data import Role, spelling_keys
from kohorte.data.missing_values import words_for_missing
from kohorte.hierarchies import SUPPRESSED
from kohorte.in_words import count
from kohorte.plans.plan import Plan
from kohorte.sources import TableSource
from kohorte.sources.sensitive import counted_as

DECIMAL_COMMA = r"^\s*([+-]?\d+),(\d+)\s*$"


def spelling_points(table: TableSource, plan: Plan) -> tuple[str, ...]:
    """Say which sensitive columns have several spellings of a value, or words for a missing one; counts, no value.

    The table is without the texts that the plan lists under `missing_values`.
    """
    columns = set(table.columns)
    names = [name for name in plan.names(Role.SENSITIVE) if name in columns]
    return tuple(said for name in names for said in _said(table, plan, name))


def _said(table: TableSource, plan: Plan, name: str) -> Iterator[str]:
    shown = table.count_shown([name])[name].drop_nulls()
    texts = shown.filter(shown != SUPPRESSED)
    if name in plan.histograms:
        yield from _joined(texts, name)
        yield from _equal_numbers(texts, name)
    if words := len(words_for_missing(texts)):
        yield (
            f"{name!r} has {count(words, 'word', 'words')} that usually {'stands' if words == 1 else 'stand'} for a "
            f"missing value, and {'counts as a value' if words == 1 else 'count as values'}: list them under "
            "missing_values in the plan, so that they count as empty cells"
        )


def _joined(texts: pl.Series, name: str) -> Iterator[str]:
    """Say how many spellings count as the same value as another one, and how many texts show nothing."""
    keys = spelling_keys(texts)
    if joined := len(keys) - keys.null_count() - keys.drop_nulls().n_unique():
        yield (
            f"models count all spellings of a value of {name!r} as one, and the release shows them as they are: "
            f"{count(joined)} of {count(len(texts), 'value')} {'differs' if joined == 1 else 'differ'} from another "
            "one only in capital letters, blanks, invisible characters or the encoding of letters; write them alike, "
            "or different values so that they differ in more"
        )
    if blank := keys.null_count():
        yield f"{count(blank, 'value')} of {name!r} {'shows' if blank == 1 else 'show'} nothing and count as missing"


def _equal_numbers(texts: pl.Series, name: str) -> Iterator[str]:
    """Say how many numbers with a decimal comma equal another value: models read only the decimal point."""
    if not texts.str.contains(DECIMAL_COMMA).any():
        return
    pointed = texts.str.replace(DECIMAL_COMMA, "${1}.${2}")
    if equal := len(set(counted_as(texts))) - len(set(counted_as(pointed))):
        yield (
            f"{count(equal)} of {count(len(texts), 'value')} of {name!r} {'equals' if equal == 1 else 'equal'} another "
            "one if the comma is a decimal comma, and models count them as different values: write equal numbers "
            "alike, so that no class seems to be diverse by them"
        )
