"""Identifiers that differ only in a suffix, such as `4711/1` and `4711/2`: perhaps one patient with two cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from kohorte.data import loose_keys, one_text, spelling_keys
from kohorte.hierarchies import SUPPRESSED
from kohorte.identifiers.agreement import MOSTLY, Agreement, agreement
from kohorte.identifiers.people import numbering
from kohorte.in_words import count, listed
from kohorte.plans.people.numbered_by_content import kept_for_life
from kohorte.plans.people.repeated import absent, present
from kohorte.sources import TableSource

STEM, SUFFIX, WHOLE = "\0stem", "\0suffix", "\0whole"
SHORT = (r"^(?P<stem>.*[0-9].*)-(?P<suffix>[0-9]{1,3})$", r"^(?P<stem>.*[0-9])(?P<suffix>\p{L})$")
"""A short number after a mark, or one letter after a digit; what stands before it contains a digit."""
ANY = (
    (*SHORT, r"^(?P<stem>.*[0-9].*)-(?P<suffix>[\p{L}0-9]+)$"),
    (r"^(?P<suffix>[0-9]{1,3}|\p{L})-(?P<stem>.*[0-9].*)$",),
)
"""Longer suffixes, and prefixes, which only columns that people keep for life can tell from parts of a number."""
MOST_EACH = 5
"""If a stem has more identifiers on average, it is the number of a site or a year rather than of a patient."""
EVIDENT = 0.5
"""So many of the groups must count their suffixes from the beginning, where no column tells. All our own choice."""


@dataclass(frozen=True)
class Suffixed:
    """Groups of identifiers of a column that differ only in a suffix, and the columns in which their rows agree."""

    column: str
    groups: int
    agreeing: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The open point, with counts."""
        why = (
            f"rows of a group nearly always agree in {listed(list(map(repr, self.agreeing)))}"
            if self.agreeing
            else "the suffixes count up, as those of cases or stays do"
        )
        return (
            f"people may be counted several times: {count(self.groups, 'group')} of values of {self.column!r} "
            f"{'differs' if self.groups == 1 else 'differ'} only in a suffix or prefix, such as a short number "
            f"after a mark, and {why}; the values of a group count as several people; remove it if each group is one "
            "person"
        )


def suffixed_numbers(source: TableSource, columns: Sequence[str]) -> Suffixed | None:
    """Find groups of identifiers that differ only in a suffix and seem to be one person each.

    What people keep for life decides, where there is such a column that tells. Otherwise the suffixes must count up
    from the beginning in most groups, with few identifiers in each.
    """
    if not columns:
        return None
    column = next((name for name in columns if numbering(name) is not None), columns[-1])
    identifiers = _Identifiers(present(source, columns), columns, column)
    tried = (_grouped(source, identifiers, patterns) for patterns in (SHORT, *ANY))
    return next((found for found in tried if found is not None), None)


def _grouped(source: TableSource, identifiers: _Identifiers, patterns: Sequence[str]) -> Suffixed | None:
    """The groups of identifiers with the same stem by some patterns, if they seem to be one person each."""
    people, columns, column = identifiers.stems(patterns), identifiers.columns, identifiers.column
    if people[SUFFIX].null_count() == people.height:
        return None
    each = people.group_by(STEM).agg(pl.len().alias(WHOLE), pl.col(SUFFIX))
    groups = each.filter(pl.col(WHOLE) > 1)
    if groups.is_empty() or people.height > MOST_EACH * each.height:
        return None
    kept = [name for name in kept_for_life(source.columns) if name not in columns]
    rows = source.count_shown([*columns, *kept]).filter(~pl.any_horizontal(map(absent, columns)))
    people = _Identifiers(rows, columns, column).stems(patterns, kept)
    found = {name: _agreement(people[STEM], people[name]) for name in kept}
    told = {name: one for name, one in found.items() if one.is_told}
    if told:
        agree = all(one.share >= MOSTLY for one in told.values()) and any(one.holds for one in told.values())
        return Suffixed(column, groups.height, tuple(told)) if agree else None
    if patterns is not SHORT:
        return None
    differing = any(one.repeated and one.share < MOSTLY for one in found.values())
    counting = sum(map(_counts_up, groups[SUFFIX].to_list()))
    return Suffixed(column, groups.height) if not differing and counting >= EVIDENT * groups.height else None


class _Identifiers:
    """The identifiers that some rows show, without what only their spelling adds."""

    def __init__(self, shown: pl.DataFrame, columns: Sequence[str], column: str) -> None:
        self.columns, self.column = columns, column
        self._shown = shown
        self._texts = {name: loose_keys(spelling_keys(shown[name])) for name in columns}

    def stems(self, patterns: Sequence[str], kept: Sequence[str] = ()) -> pl.DataFrame:
        """The different identifiers, each with its stem, to which the other columns of the person belong, its suffix,
        and the values of other columns in its first row."""
        matched = [pl.col(WHOLE).str.extract_groups(pattern) for pattern in patterns]
        before, after = (pl.coalesce(one.struct.field(part) for one in matched) for part in ("stem", "suffix"))
        parts = pl.DataFrame([self._texts[self.column].alias(WHOLE)]).select(
            WHOLE, before.fill_null(pl.col(WHOLE)).alias(STEM), after.alias(SUFFIX)
        )
        others = (text for name, text in self._texts.items() if name != self.column)
        stems = one_text([*others, parts[STEM]]).alias(STEM)
        found = parts.with_columns(stems, *(self._shown[name] for name in kept)).drop_nulls(STEM)
        return found.unique([STEM, WHOLE], keep="first", maintain_order=True)


def _agreement(stems: pl.Series, values: pl.Series) -> Agreement:
    """How often identifiers with the same stem have the same value; each identifier counts once."""
    keys = spelling_keys(values)
    known = keys.is_not_null() & (values != SUPPRESSED)
    codes, coded = ((one.filter(known).rank("dense").cast(pl.UInt32) - 1).to_numpy() for one in (stems, keys))
    once = np.ones(len(codes), dtype=np.int64)
    after = (int(codes.max(initial=0)) + 1, int(coded.max(initial=0)) + 1)
    return agreement(codes, coded, once, missing=after)


def _counts_up(suffixes: list[str | None]) -> bool:
    """Whether the suffixes of a stem are the first numbers or letters; one identifier may have none."""
    given = [one for one in suffixes if one is not None]
    places = sorted(int(one) if one.isdigit() else ord(one) - ord("a") + 1 for one in given)
    return bool(places) and 0 <= places[0] <= 2 and places[-1] <= len(suffixes) + 1
