"""What a table says about people and its plan does not: repeated identifiers, and columns that tie rows together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from kohorte.data import Role, person_keys
from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED
from kohorte.identifiers.people import Numbering, may_be_shared, numbering
from kohorte.in_words import count
from kohorte.plans.person import Person
from kohorte.plans.plan import Plan
from kohorte.sources import COUNT, TableSource

OTHERS = len(Numbering)
"""The rank of an identifying column whose name says neither people nor cases; names of people come last."""
FEWEST = 2
"""A column with a single value numbers nobody, such as that of the hospital; unless its name says that it numbers
people or cases, or nothing else identifies: then all rows may be about one person."""


@dataclass(frozen=True)
class Repeated:
    """Columns that seem to say whom a row is about, with fewer different values than there are rows with a value."""

    columns: tuple[str, ...]
    values: int
    rows: int
    rank: int

    @property
    def line(self) -> str:
        """The line to add to a plan."""
        return Person(self.columns).line

    @property
    def reason(self) -> str:
        """Why a plan should name these columns as the person."""
        return f"{self.facts}: people are counted, not rows; person: none if every row is another person"

    @property
    def facts(self) -> str:
        """The columns with their counts, in words."""
        have = "has" if len(self.columns) == 1 else "together have"
        named = ", ".join(map(repr, self.columns))
        return f"{named} {have} {count(self.values, 'different value')} in {count(self.rows, 'row')}"


def repeated_in_counts(counts: Mapping[str, tuple[int, int]], identifying: Collection[str]) -> Repeated | None:
    """Find the column from its numbers of different values and of rows with a value, without names of people.

    Candidates are all columns whose name says that they number people or cases, whatever their role, and identifying
    columns, unless their name says that people can share a value. A column that numbers people comes first, then the
    one with the fewest values.
    """
    found = [
        Repeated((name,), values, rows, rank)
        for name, (values, rows) in counts.items()
        if (rank := _rank(name, name in identifying)) is not None and _least(rank, identifying) <= values < rows
    ]
    return min(found, key=lambda one: (one.rank, one.values), default=None)


def repeated_people(source: TableSource, roles: Mapping[str, Role]) -> Repeated | None:
    """Find the columns that seem to say whom a row is about, if they have repeated values.

    Names, addresses and the like count only together, and only if no column numbers people.
    """
    columns = dict.fromkeys(source.columns)
    identifying = {name for name, role in roles.items() if role is Role.IDENTIFYING} & columns.keys()
    wanted = [name for name in columns if _rank(name, name in identifying) is not None]
    found = repeated_in_counts({name: _counted(source, [name]) for name in wanted}, identifying)
    if found is not None or any(numbering(name) is Numbering.PEOPLE for name in columns):
        return found
    shared = [name for name in roles if name in identifying and may_be_shared(name)]
    if not shared:
        return None
    values, rows = _counted(source, shared)
    return Repeated(tuple(shared), values, rows, OTHERS + 1) if 1 <= values < rows else None


def refuse_repeated(found: Repeated | None, key: str) -> None:
    """Refuse a table with repeated identifiers; `key` is where the person, or that rows are people, is stated."""
    if found is not None:
        columns = found.columns[0] if len(found.columns) == 1 else str(list(found.columns))
        raise InputError(
            f"several rows seem to be about one person: {found.facts}; say whom a row is about ({key}: {columns}), or "
            f"state that every row is another person ({key}: none)",
            code="person-unstated",
        )


def _least(rank: int, identifying: Collection[str]) -> int:
    """The fewest values of a column that says whom a row is about."""
    return 1 if rank < OTHERS or len(identifying) == 1 else FEWEST


def _rank(name: str, identifying: bool) -> int | None:
    said = numbering(name)
    if said is not None:
        return int(said)
    return OTHERS if identifying and not may_be_shared(name) else None


def _counted(source: TableSource, names: Sequence[str]) -> tuple[int, int]:
    """The number of people whom columns tell apart, and of the rows in which no value is missing or suppressed."""
    shown = _with_people(_present(source, names), names)
    return shown[PEOPLE].n_unique(), int(shown[COUNT].sum())


def _present(source: TableSource, names: Sequence[str]) -> pl.DataFrame:
    """The combinations of values of some columns, without those in which one is missing or suppressed."""
    return source.count_shown(names).filter(~pl.any_horizontal(_absent(name) for name in names))


def _with_people(shown: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Add the key of the person to counted tuples; without tuples that have none."""
    return shown.with_columns(person_keys([shown[name] for name in names]).alias(PEOPLE)).drop_nulls(PEOPLE)


def _absent(name: str) -> pl.Expr:
    return pl.col(name).is_null() | (pl.col(name) == SUPPRESSED)


@dataclass(frozen=True)
class Tying:
    """A column that stays in a release and ties rows of one person together.

    Of its `repeated` values, which occur in several rows, `own` belong to one person each.
    """

    column: str
    own: int
    repeated: int


FEW_TIES = 5
PEOPLE = "\0people"
MOSTLY_OWN = 0.9
"""A column ties rows if nine tenths of its repeated values belong to one person each, and these are at least five, or
as many as there are people with several rows: our own choice. Values of sex, ward or diagnosis are shared by people."""


@dataclass(frozen=True)
class People:
    """The people of a table by columns that say whom a row is about.

    These have `spellings` different combinations of values, which are about `people`; `several` of them have several
    rows.
    """

    columns: tuple[str, ...]
    spellings: int
    people: int
    several: int

    @classmethod
    def of(cls, source: TableSource, columns: tuple[str, ...]) -> People:
        """Count the people of a table."""
        shown = _with_people(_present(source, columns), columns)
        rows = shown.group_by(PEOPLE).agg(pl.col(COUNT).sum())[COUNT]
        return cls(columns, shown.height, len(rows), int((rows > 1).sum()))


def tying_columns(source: TableSource, persons: People, columns: Sequence[str]) -> Iterator[Tying]:
    """Find columns whose repeated values belong to one person each, although the plan does not say so."""
    least = max(1, min(FEW_TIES, persons.several))
    for name in columns if persons.several else ():
        own, repeated = _owned(source, persons, name)
        if own >= least and own >= MOSTLY_OWN * repeated:
            yield Tying(name, own, repeated)


def _owned(source: TableSource, persons: People, name: str) -> tuple[int, int]:
    """How many values of a column occur in several rows of one person only, and how many in several rows at all."""
    shown = source.count_shown(list(dict.fromkeys((*persons.columns, name)))).filter(~_absent(name))
    if persons.spellings > persons.people:
        shown = _with_people(shown, persons.columns).group_by(PEOPLE, name).agg(pl.col(COUNT).sum())
    values = shown.group_by(name).agg(pl.len().alias(PEOPLE), pl.col(COUNT).sum())
    repeated = values.filter(pl.col(COUNT) > 1)
    return int((repeated[PEOPLE] == 1).sum()), repeated.height


def person_notes(source: TableSource, plan: Plan) -> tuple[str, ...]:
    """Say where rows are counted although several seem to be about one person, and which columns tie rows together.

    Only columns that the table has are looked at; the notes contain names and counts, never a value.
    """
    unit, source = plan.unit, source.without_marks(plan.missing_values)
    if not unit.is_stated:
        return _unstated(source, plan)
    if not unit.counts_people or any(name not in source.columns for name in unit.columns):
        return ()
    subset = None if plan.subset is None else plan.subset.name
    staying = [
        name
        for name in (*plan.names(Role.SENSITIVE), *plan.names(Role.INSENSITIVE))
        if name in source.columns and name != subset and name not in unit.links
    ]
    persons = People.of(source, unit.columns)
    tied = (
        f"{tying.column!r} stays in the release and ties rows of one person together: of its {tying.repeated:,} values "
        f"that occur in several rows, {tying.own:,} belong to one person each; add 'linked_by: {tying.column}' to the "
        "plan, or make the column identifying"
        for tying in tying_columns(source, persons, staying)
    )
    return (*_joined_spellings(persons), *tied)


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


def _unstated(source: TableSource, plan: Plan) -> tuple[str, ...]:
    found = repeated_people(source, plan.unit.roles)
    if found is None:
        return ()
    stays = all(plan.unit.roles.get(name) in (Role.SENSITIVE, Role.INSENSITIVE) for name in found.columns)
    tied = "; it stays in the release, where it ties rows together" if stays else ""
    return (
        f"rows are counted, not people: {found.facts}, so that several rows seem to be about one person{tied}; add "
        f"'{found.line}' to the plan, or 'person: none' if every row is another person",
    )
