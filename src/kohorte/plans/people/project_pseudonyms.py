"""Identifying columns that stay in a release as pseudonyms of a domain.

The values become pseudonyms before the table is encoded, so that no original value reaches the search or a file. This
module knows no key: the caller hands in a function that makes pseudonyms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import polars as pl

from kohorte.data import as_text, spelling_keys
from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED
from kohorte.in_words import count
from kohorte.plans.plan import Plan
from kohorte.sources import FrameSource, TableSource

Pseudonymize: TypeAlias = Callable[[str, pl.Series], pl.Series]
"""Takes the name of a domain and different texts; returns the pseudonym of each, in the same order."""

TEXT, PSEUDONYM, KEY = "text", "pseudonym", "key"


def refuse_without_pseudonyms(plan: Plan, pseudonymize: Pseudonymize | None) -> None:
    """Refuse to release a table whose plan names a domain if nobody can make pseudonyms."""
    if plan.pseudonyms and pseudonymize is None:
        name, domain = next(iter(plan.pseudonyms.items()))
        raise InputError(
            f"{name!r} becomes a pseudonym of the domain {domain!r}, and nothing makes pseudonyms here: use 'kohorte "
            "anonymize --folder FOLDER', or give pseudonymize in Python",
            code="release-pseudonyms",
        )


def with_pseudonyms(source: TableSource, plan: Plan, pseudonymize: Pseudonymize | None) -> TableSource:
    """Return the table with pseudonyms in the columns for which the plan names a domain; without a function, with one
    text per person.
    """
    if not plan.pseudonyms:
        return source
    frame = source.in_memory("a plan with pseudonyms")
    for name, domain in plan.pseudonyms.items():
        texts = as_text(frame[name])
        if not plan.unit.counts_people:
            _refuse_repeated(texts, name)
        if pseudonymize is not None:
            frame = frame.with_columns(_replaced(texts, name, domain, plan, pseudonymize))
    return FrameSource(frame if pseudonymize is not None else keyed_pseudonyms(frame, plan))


def _replaced(texts: pl.Series, name: str, domain: str, plan: Plan, pseudonymize: Pseudonymize) -> pl.Series:
    different = texts.drop_nulls().unique(maintain_order=True)
    made = pseudonymize(domain, different)
    table = pl.DataFrame([different.alias(TEXT), made.alias(PSEUDONYM), spelling_keys(different).alias(KEY)])
    _refuse_ambiguous(table.drop_nulls(), name, domain)
    if made.is_in(list(plan.missing_values)).any():
        raise InputError(
            f"column {name!r}: a pseudonym of the domain {domain!r} is a text that missing_values lists; take longer "
            "pseudonyms",
            code="release-pseudonyms",
        )
    if not len(different):
        return texts.alias(name)
    return texts.replace_strict(different, made, default=None, return_dtype=pl.String).alias(name)


def _refuse_ambiguous(table: pl.DataFrame, name: str, domain: str) -> None:
    """Refuse two pseudonyms of one person, who would be counted twice, and one pseudonym of two people."""
    pairs = table.select(KEY, PSEUDONYM).unique()
    if several := pairs.height - pairs[KEY].n_unique():
        raise InputError(
            f"column {name!r}: {count(several, 'value differs', 'values differ')} from another one only in capital "
            "letters, blanks, invisible characters or the encoding of letters; they seem to be one person, who would "
            f"get several pseudonyms of the domain {domain!r}; write them alike",
            code="release-pseudonyms",
        )
    if shared := pairs.height - pairs[PSEUDONYM].n_unique():
        raise InputError(
            f"column {name!r}: {count(shared, 'value')} would share the pseudonym with another one; make a domain with "
            "longer pseudonyms (--length)",
            code="pseudonym-coincidence",
        )


def _refuse_repeated(texts: pl.Series, name: str) -> None:
    """Refuse a pseudonym that would tie rows together although the plan states that every row is another person."""
    repeated = len(texts.drop_nulls()) - spelling_keys(texts.drop_nulls()).n_unique()
    if repeated:
        raise InputError(
            f"column {name!r}: {count(repeated, 'row has', 'rows have')} the same value as another row, so that its "
            "pseudonym would tie them together, although the plan states that every row is another person (person: "
            "none); say with person whom a row is about",
            code="release-pseudonyms",
        )


def keyed_pseudonyms(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """The original table with one text per person in the columns that become pseudonyms, whatever the spelling."""
    names = [name for name in plan.pseudonyms if name in frame.columns]
    return frame.with_columns(spelling_keys(as_text(frame[name])).alias(name) for name in names)


def shown_originals(table: TableSource, original: pl.DataFrame | None, plan: Plan) -> tuple[list[str], list[str]]:
    """Say where a release shows values of the original table instead of pseudonyms: problems and open points.

    Pseudonyms that keep a format can coincide with the number of somebody else. If most values coincide, they are none.
    """
    problems, points = [], []
    for name, domain in plan.pseudonyms.items():
        if name not in table.columns:
            continue
        if original is None or name not in original.columns:
            points.append(
                f"whether {name!r} shows pseudonyms of the domain {domain!r} was not checked: give the original table"
            )
            continue
        texts = table.count_shown([name])[name].drop_nulls()
        shown = spelling_keys(texts.filter(texts != SUPPRESSED)).unique()
        same = int(shown.is_in(spelling_keys(as_text(original[name])).drop_nulls().unique().implode()).sum())
        said = f"{count(same)} of {count(len(shown), 'value')} of {name!r} also occur in the original table"
        if 2 * same > len(shown):
            problems.append(f"{said}: they are not pseudonyms of the domain {domain!r}")
        elif same:
            points.append(f"{said}; pseudonyms of the domain {domain!r} that keep a format can coincide by chance")
    return problems, points
