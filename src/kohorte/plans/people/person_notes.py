"""What a table says about people and its plan does not; these notes are open points of every verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from kohorte.algorithm_names import RECODER_NAMES
from kohorte.data import Role, loose_keys, one_text, spelling_keys
from kohorte.data.missing_values import MARKS
from kohorte.errors import InputError
from kohorte.in_words import count, listed
from kohorte.plans.people.candidates import Candidates
from kohorte.plans.people.contradicted_person import contradictions
from kohorte.plans.people.population_people import population_notes
from kohorte.plans.people.repeated import PEOPLE, present, with_people
from kohorte.plans.people.suffixed_numbers import suffixed_numbers
from kohorte.plans.people.tying_columns import tying_columns
from kohorte.plans.people.unstated_person import table_note
from kohorte.plans.plan import Plan
from kohorte.sources import COUNT, TableSource

LOOSE = "\0loose"
ANSWER = ", or say in counted_because of person why people are counted rightly"


@dataclass(frozen=True)
class People:
    """The people of a table by columns that say whom a row is about.

    These have `spellings` different combinations of values, which are about `people`; `several` of them have several
    rows. `alike` groups of people differ only in leading zeros, decimals or punctuation. `unknown` columns have a word
    for a missing value in several rows, which count as one person.
    """

    columns: tuple[str, ...]
    spellings: int
    people: int
    several: int
    alike: int = 0
    unknown: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: TableSource, columns: tuple[str, ...]) -> People:
        """Count the people of a table."""
        shown = with_people(present(source, columns), columns)
        rows = shown.group_by(PEOPLE).agg(pl.col(COUNT).sum())[COUNT]
        unknown = tuple(name for name in columns if _stand_for_missing(shown, name))
        return cls(columns, shown.height, len(rows), int((rows > 1).sum()), _alike(shown, columns), unknown)


def _alike(shown: pl.DataFrame, columns: Sequence[str]) -> int:
    """The number of groups of different people whose identifiers differ in little that may be a matter of writing."""
    loose = one_text([loose_keys(spelling_keys(shown[name])) for name in columns]).alias(LOOSE)
    if loose.n_unique() == shown[PEOPLE].n_unique():
        return 0
    people = pl.DataFrame([loose, shown[PEOPLE]]).unique().group_by(LOOSE).len()
    return int((people["len"] > 1).sum())


def _stand_for_missing(shown: pl.DataFrame, name: str) -> bool:
    """Whether a word that usually stands for a missing value says in several rows whom they are about."""
    words = spelling_keys(shown[name]).is_in(list(MARKS)).fill_null(value=False)
    return int(shown[COUNT].filter(words).sum()) > 1


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
    of_populations = tuple(population_notes(plan))
    if not plan.unit.is_stated:
        return (table_note(whole, plan, wanted), *of_populations)
    found = tuple(one.note for one in contradictions(whole, plan.unit))
    answered = plan.person is not None and bool(plan.person.counted_because)
    suffixed = () if found or answered else _suffixed(whole, plan)
    return (*found, *suffixed, *_tied(whole, plan, may_link), *of_populations)


def identifiers(plan: Plan) -> tuple[str, ...]:
    """The columns that may say whom a row is about and that a release does not have."""
    subset = None if plan.subset is None else plan.subset.name
    return tuple(name for name in plan.removed_columns if name != subset)


def _suffixed(source: TableSource, plan: Plan) -> Iterator[str]:
    """Say that identifiers differ only in a suffix: those of the person, or those of which every row has its own, if
    the plan states that every row is another person."""
    unit = plan.unit
    columns = unit.columns
    if not unit.counts_people:
        unique = Candidates(source, unit.roles).unique
        columns = () if unique is None else unique.columns
    elif not set(columns) <= set(source.columns):
        return
    if found := suffixed_numbers(source, columns):
        yield f"{found.note}{ANSWER if unit.counts_people else ''}"


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
    yield from _unknown(persons)
    if plan.person is None or not plan.person.counted_because:
        yield from _joined_spellings(persons)
        yield from _nearly_alike(persons)
    for tying in tying_columns(source, unit.columns, staying, several=persons.several):
        may = may_link and not tying.is_shared and _links(plan, tying.column)
        link = f"add 'linked_by: {tying.column}' to the plan, or " if may else ""
        yield (
            f"{tying.column!r} stays in the release and ties rows of one person together: {tying.facts}; {link}make "
            "the column identifying"
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


def _unknown(persons: People) -> Iterator[str]:
    """Say which columns do not say whom some rows are about, in words that are no identifiers."""
    for name in persons.unknown:
        yield (
            f"{name!r} has words that usually stand for a missing value: rows with the same one count as one person, "
            "so that a value which many of these people have seems to be rare; list the words under missing_values in "
            "the plan, and fill in whom these rows are about or remove them"
        )


def _joined_spellings(persons: People) -> Iterator[str]:
    """Say how many spellings count as the same person as another one."""
    if joined := persons.spellings - persons.people:
        yield (
            f"people are counted whatever the spelling of {', '.join(map(repr, persons.columns))}: {count(joined)} of "
            f"{count(persons.spellings, 'value')} {'differs' if joined == 1 else 'differ'} from another one only in "
            "capital letters, blanks, invisible characters or the encoding of letters, and "
            f"{'counts' if joined == 1 else 'count'} as the same person; give different people identifiers that differ "
            f"in more than that{ANSWER}"
        )


def _nearly_alike(persons: People) -> Iterator[str]:
    """Say how many groups of people may be one person each, written in several ways."""
    if persons.alike:
        yield (
            f"people may be counted several times: {count(persons.alike, 'group')} of values of "
            f"{listed(list(map(repr, persons.columns)))} {'differs' if persons.alike == 1 else 'differ'} only in "
            "leading zeros, a decimal zero at the end, or punctuation, and the values of a group count as several "
            f"people; write them alike if each group is one person{ANSWER}"
        )
