"""What a table says about people and its plan does not; these notes are open points of every verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from kohorte.algorithm_names import RECODER_NAMES
from kohorte.data import Role, loose_keys, one_text, spelling_keys
from kohorte.errors import InputError
from kohorte.in_words import count, listed
from kohorte.plans.people.contradicted_person import contradictions
from kohorte.plans.people.repeated import PEOPLE, absent, present, with_people
from kohorte.plans.people.unstated_person import table_note
from kohorte.plans.plan import Plan
from kohorte.sources import COUNT, TableSource

LOOSE = "\0loose"


@dataclass(frozen=True)
class Tying:
    """A column that stays in a release and ties rows of one person together.

    Of its `repeated` values, which occur in several rows, `own` belong to one person each.
    """

    column: str
    own: int
    repeated: int


FEW_TIES = 5
MOSTLY_OWN = 0.9
"""A column ties rows if nine tenths of its repeated values belong to one person each, and these are at least five, or
as many as there are people with several rows: our own choice. Values of sex, ward or diagnosis are shared by people."""


@dataclass(frozen=True)
class People:
    """The people of a table by columns that say whom a row is about.

    These have `spellings` different combinations of values, which are about `people`; `several` of them have several
    rows. `alike` groups of people differ only in leading zeros, decimals or punctuation.
    """

    columns: tuple[str, ...]
    spellings: int
    people: int
    several: int
    alike: int = 0

    @classmethod
    def of(cls, source: TableSource, columns: tuple[str, ...]) -> People:
        """Count the people of a table."""
        shown = with_people(present(source, columns), columns)
        rows = shown.group_by(PEOPLE).agg(pl.col(COUNT).sum())[COUNT]
        return cls(columns, shown.height, len(rows), int((rows > 1).sum()), _alike(shown, columns))


def _alike(shown: pl.DataFrame, columns: Sequence[str]) -> int:
    """The number of groups of different people whose identifiers differ in little that may be a matter of writing."""
    loose = one_text([loose_keys(spelling_keys(shown[name])) for name in columns]).alias(LOOSE)
    if loose.n_unique() == shown[PEOPLE].n_unique():
        return 0
    people = pl.DataFrame([loose, shown[PEOPLE]]).unique().group_by(LOOSE).len()
    return int((people["len"] > 1).sum())


def tying_columns(source: TableSource, persons: People, columns: Sequence[str]) -> Iterator[Tying]:
    """Find columns whose repeated values belong to one person each, although the plan does not say so."""
    least = max(1, min(FEW_TIES, persons.several))
    for name in columns if persons.several else ():
        own, repeated = _owned(source, persons, name)
        if own >= least and own >= MOSTLY_OWN * repeated:
            yield Tying(name, own, repeated)


def _owned(source: TableSource, persons: People, name: str) -> tuple[int, int]:
    """How many values of a column occur in several rows of one person only, and how many in several rows at all."""
    shown = source.count_shown(list(dict.fromkeys((*persons.columns, name)))).filter(~absent(name))
    if persons.spellings > persons.people:
        shown = with_people(shown, persons.columns).group_by(PEOPLE, name).agg(pl.col(COUNT).sum())
    values = shown.group_by(name).agg(pl.len().alias(PEOPLE), pl.col(COUNT).sum())
    repeated = values.filter(pl.col(COUNT) > 1)
    return int((repeated[PEOPLE] == 1).sum()), repeated.height


def person_notes(
    source: TableSource, plan: Plan, *, original: TableSource | None = None, may_link: bool = True
) -> tuple[str, ...]:
    """Say where rows are counted although several may be about one person, where people may be counted several times,
    and which columns tie rows together.

    A release does not have the columns that say it; the `original` table from which it was made does. Without it, what
    the release does not show is an open point. Where `linked_by` is refused, `may_link` is false. The notes contain
    names and counts, never a value.
    """
    wanted = identifiers(plan)
    whole = source if original is None or set(wanted) <= set(source.columns) else original
    whole = whole.without_marks(plan.missing_values)
    if not plan.unit.is_stated:
        return (table_note(whole, plan, wanted),)
    return (*(found.note for found in contradictions(whole, plan.unit)), *_tied(whole, plan, may_link))


def identifiers(plan: Plan) -> tuple[str, ...]:
    """The columns that may say whom a row is about and that a release does not have."""
    subset = None if plan.subset is None else plan.subset.name
    return tuple(name for name in plan.removed_columns if name != subset)


def _tied(source: TableSource, plan: Plan, may_link: bool) -> Iterator[str]:
    """Say which spellings count as one person, and which columns tie rows together without being stated."""
    unit, columns = plan.unit, set(source.columns)
    if not unit.counts_people or not columns.issuperset(unit.columns):
        return
    subset = None if plan.subset is None else plan.subset.name
    staying = [
        name
        for name in (*plan.names(Role.SENSITIVE), *plan.names(Role.INSENSITIVE))
        if name in columns and name != subset and name not in unit.links
    ]
    persons = People.of(source, unit.columns)
    yield from _joined_spellings(persons)
    yield from _nearly_alike(persons)
    for tying in tying_columns(source, persons, staying):
        link = f"add 'linked_by: {tying.column}' to the plan, or " if may_link and _links(plan, tying.column) else ""
        yield (
            f"{tying.column!r} stays in the release and ties rows of one person together: of its {tying.repeated:,} "
            f"values that occur in several rows, {tying.own:,} belong to one person each; {link}make the column "
            "identifying"
        )


def _links(plan: Plan, name: str) -> bool:
    """Whether the plan could state that a column ties rows together."""
    if plan.unit.links or plan.search.algorithm in RECODER_NAMES:
        return False
    try:
        replace(plan, linked_by=name)
    except InputError:
        return False
    return True


def _joined_spellings(persons: People) -> Iterator[str]:
    """Say how many spellings count as the same person as another one."""
    if joined := persons.spellings - persons.people:
        yield (
            f"people are counted whatever the spelling of {', '.join(map(repr, persons.columns))}: {count(joined)} of "
            f"{count(persons.spellings, 'value')} {'differs' if joined == 1 else 'differ'} from another one only in "
            "capital letters, blanks, invisible characters or the encoding of letters, and "
            f"{'counts' if joined == 1 else 'count'} as the same person; give different people identifiers that differ "
            "in more than that"
        )


def _nearly_alike(persons: People) -> Iterator[str]:
    """Say how many groups of people may be one person each, written in several ways."""
    if persons.alike:
        yield (
            f"people may be counted several times: {count(persons.alike, 'group')} of values of "
            f"{listed(list(map(repr, persons.columns)))} {'differs' if persons.alike == 1 else 'differ'} only in "
            "leading zeros, a decimal zero at the end, or punctuation, and the values of a group count as several "
            "people; write them alike if each group is one person"
        )
