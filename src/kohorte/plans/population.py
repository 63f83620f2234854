"""The populations that the models of a plan need: from files, or from the table of which a part is released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from kohorte.data import Role, TableFile, as_text, person_keys, read_table, without_marks
from kohorte.errors import InputError, nearest
from kohorte.groups import Groups
from kohorte.kernels.arrays import Codes
from kohorte.models import PopulationSource
from kohorte.plans.people.repeated_people import repeated_people
from kohorte.plans.plan import Plan
from kohorte.plans.seeming_identifiers import seeming_identifiers
from kohorte.sources import EncodedTable, FrameSource, Missing, People, TableSource, Tuples, which_rows

YES = ("1", "true", "yes", "ja", "wahr")
NO = ("0", "false", "no", "nein", "falsch")

FLAGGED, PERSON = "\0flagged", "\0person"


@dataclass(frozen=True, eq=False)
class CountedPopulation:
    """A population that nobody has in plain text: the classes of a release, how many people look like each (the column
    `COUNT`), and how many kinds of people have no row in the release."""

    classes: pl.DataFrame = field(repr=False)
    empty_classes: int


Populations = Mapping[str, pl.DataFrame | CountedPopulation]
"""The quasi-identifiers of all people of each population, by its key; for a subset, also who is `FLAGGED`.

If people are counted, a subset also has the column `PERSON`, and so has a file that says whom its rows are about.
"""


@dataclass(frozen=True, eq=False)
class Parts:
    """The rows to be released, and the populations that the models compare them with."""

    source: TableSource = field(repr=False)
    people: Mapping[str, People] = field(repr=False)
    populations: Populations = field(repr=False)
    hashes: Mapping[str, str]  # the SHA-256 of each population file, by its name


def divide(table: TableSource, plan: Plan) -> Parts:
    """Return the rows to be released, with the populations of the plan."""
    people, populations, hashes = {}, {}, {}
    released = table
    if (source := plan.subset) is not None:
        frame = table.in_memory(f"a subset flagged by {source.name!r}")
        flagged = _flags(frame[source.name])
        released = FrameSource(frame.filter(flagged))
        others = _quasi_identifiers(frame.filter(~flagged), plan)
        _refuse_missing(others, plan)
        unflagged = frame.filter(~flagged).select(list(dict.fromkeys((*plan.quasi_identifiers, *plan.unit.columns))))
        people[source.key] = People(_complete(unflagged, plan), True, plan.unit.counts_people)
        populations[source.key] = _with_flags(frame, flagged, plan)
    for source in plan.population_files:
        file = read_population(source, plan)
        populations[source.key], hashes[source.name] = _with_persons(file.frame, plan), file.sha256
        people[source.key] = People(file.frame, names_people=names_people(file.frame.columns, plan))
    return Parts(released, people, populations, hashes)


def whole_populations(plan: Plan, original: pl.DataFrame | None) -> Populations:
    """Return the populations that a release of the plan is verified with; `original` is the table it was made from."""
    files = {source.key: read_population(source, plan).frame for source in plan.population_files}
    found = {key: _with_persons(frame, plan) for key, frame in files.items()}
    identifying = bool(plan.names(Role.IDENTIFYING)) or (original is not None and _seems_to_identify(original, plan))
    if plan.subset is None and original is not None and not plan.unit.counts_people and not identifying:
        raise InputError(
            "the plan neither releases a subset of a table nor counts people nor has an identifying column, so there "
            "is no original table to compare with",
            code="verify-population-unneeded",
        )
    if plan.subset is not None:
        if original is None:
            raise InputError(
                f"the plan releases the rows that {plan.subset.name!r} flags: to verify a release, give the original "
                "table, too (--population FILE)",
                code="verify-needs-population",
            )
        needed = (*plan.quasi_identifiers, plan.subset.name)
        if absent := [name for name in needed if name not in original.columns]:
            hints = ", ".join(repr(name) for name in absent)
            raise InputError(
                f"the original table does not have these columns of the plan: {hints}", code="population-columns"
            )
        original = without_marks(original, plan.missing_values)
        found[plan.subset.key] = _with_flags(original, _flags(original[plan.subset.name]), plan)
    return found


def _seems_to_identify(original: pl.DataFrame, plan: Plan) -> bool:
    """Whether a column that stays in a release seems to identify people, or to number them, in a plan that does not say
    whom a row is about."""
    source = FrameSource(original)
    return repeated_people(source, plan.unit.roles) is not None or any(seeming_identifiers(source, plan))


def without_flag(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Drop the column that flags the rows to release; only 'yes' is left in it."""
    return frame.drop(plan.subset.name, strict=False) if plan.subset is not None else frame


def flagged_rows(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Return the rows that the plan's subset flags; all rows if the table has no such column."""
    if plan.subset is None or plan.subset.name not in frame.columns:
        return frame
    return frame.filter(_flags(frame[plan.subset.name]))


def read_population(source: PopulationSource, plan: Plan) -> TableFile:
    """Read the quasi-identifiers of a population file, and whom its rows are about if it says so."""
    try:
        file = read_table(source.folder / source.name)
    except InputError as error:
        if error.code != "csv-not-utf-8":
            raise
        raise InputError(
            f"the population table {source.name} is not in UTF-8; convert it, the command's options apply only to DATA",
            code="population-encoding",
        ) from None
    frame = file.frame
    if absent := [name for name in plan.quasi_identifiers if name not in frame.columns]:
        hints = ", ".join(repr(name) + nearest(name, frame.columns) for name in absent)
        raise InputError(
            f"the population table {source.name} does not have these quasi-identifiers of the plan: {hints}",
            code="population-columns",
        )
    if frame.height == 0:
        raise InputError(f"the population table {source.name} has no rows", code="table-no-rows")
    whom = [name for name in plan.unit.columns if name not in plan.quasi_identifiers]
    needed = (*plan.quasi_identifiers, *(whom if names_people(frame.columns, plan) else ()))
    frame = without_marks(frame.select(pl.Series(frame[name]) for name in needed), plan.missing_values)
    for name in frame.columns:
        absent_rows = as_text(frame[name]).is_null()
        if absent_rows.any():
            raise InputError(
                f"the population table {source.name} has {which_rows(absent_rows)} without a value in column {name!r}: "
                "they cannot be compared with the table; fill in the values or remove these rows",
                code="population-missing-values",
            )
    return replace(file, frame=frame)


def names_people(columns: Sequence[str], plan: Plan) -> bool:
    """Whether a population file with these columns says whom its rows are about, so that its people can be counted."""
    return plan.unit.counts_people and set(plan.unit.columns) <= set(columns)


def refuse_missing_people(
    rows: tuple[TableSource, Tuples], table: EncodedTable, classes: tuple[Codes, Groups], plan: Plan
) -> None:
    """Refuse a table with rows that nobody in a population looks like, at the finest node."""
    class_of, groups = classes
    for source in plan.population_files:
        lacking = groups.populations[source.key].counts < groups.judged.sizes
        if lacking.any():
            selected = np.zeros(len(table.included), dtype=bool)
            selected[table.included] = lacking[class_of]
            raise InputError(
                f"everyone in the table must be in the population, but {source.name} has too few people like "
                f"{rows[0].where(rows[1], selected)} of the table",
                code="population-lacks-rows",
            )


def _quasi_identifiers(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    return frame.select(pl.Series(frame[name]) for name in plan.quasi_identifiers)


def _with_persons(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Who is who in a population file, if it says so."""
    if not names_people(frame.columns, plan):
        return frame
    return frame.with_columns(person_keys([as_text(frame[name]) for name in plan.unit.columns]).alias(PERSON))


def _refuse_missing(others: pl.DataFrame, plan: Plan) -> None:
    for name in others.columns if plan.missing is Missing.REFUSE else ():
        if (lacking := as_text(others[name]).null_count()) > 0:
            raise InputError(
                f"column {name!r} has no value in {lacking:,} rows that are not flagged for release, and the plan "
                "says 'missing: refuse'",
                code="missing-refused",
            )


def _with_flags(frame: pl.DataFrame, flagged: pl.Series, plan: Plan) -> pl.DataFrame:
    """The quasi-identifiers of all people, who of them is flagged for release, and who is who if people are counted."""
    marks = [flagged.alias(FLAGGED)]
    if plan.unit.counts_people:
        marks.append(person_keys([as_text(frame[name]) for name in plan.unit.columns]).alias(PERSON))
    return _complete(_quasi_identifiers(frame, plan).with_columns(marks), plan)


def _complete(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Remove people with a missing value if the policy for missing values suppresses them."""
    if plan.missing is not Missing.SUPPRESS:
        return frame
    lacking = np.zeros(frame.height, dtype=bool)
    for name in plan.quasi_identifiers:
        lacking |= as_text(frame[name]).is_null().to_numpy()
    return frame.filter(pl.Series(~lacking))


def _flags(column: pl.Series) -> pl.Series:
    found = flags(column)
    if not found.any():
        raise InputError(f"column {column.name!r} flags no row for release", code="subset-empty")
    return found


def flags(column: pl.Series) -> pl.Series:
    """Return which rows a column flags for release; anything but yes and no is refused."""
    text = as_text(column).str.to_lowercase()
    strangers = ~text.is_in([*YES, *NO]).fill_null(value=False)
    if strangers.any():
        raise InputError(
            f"column {column.name!r} flags the rows to release and must be 0 or 1 (or true/false, yes/no, ja/nein) in "
            f"every row; it is something else, or missing, in {which_rows(strangers)}",
            code="subset-not-binary",
        )
    return text.is_in(YES)
