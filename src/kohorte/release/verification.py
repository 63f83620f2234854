"""Verifies a table: counts it again from its text, independently of engine and search, and asks the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import polars as pl

from kohorte.data import Role, to_polars, without_marks
from kohorte.data.missing_values import written_in_several_ways
from kohorte.errors import InputError, InternalError
from kohorte.groups import Groups
from kohorte.hierarchies import CsvFile, Dates, Intervals, SafeHarbor, Tree
from kohorte.in_words import count
from kohorte.kernels.arrays import Counts
from kohorte.models import PrivacyModel, SafeHarborRule
from kohorte.models.strictness import weakest_reached
from kohorte.models.words import with_parameters
from kohorte.plans.columns import check_columns
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.people.project_pseudonyms import shown_originals
from kohorte.plans.plan import Plan
from kohorte.plans.population import Populations, flagged_rows, whole_populations
from kohorte.release import decorrelation, safe_harbor
from kohorte.release.shown_classes import Classes, all_starred
from kohorte.release.shown_people import ShownPeople
from kohorte.release.telling.one_person import rows_of_one_person
from kohorte.release.telling.suppressed_values import suppressed_points
from kohorte.release.telling.values.common_values import common_points
from kohorte.release.telling.values.empty_values import empty_points
from kohorte.release.telling.values.spellings import spelling_points
from kohorte.release.telling.verified_people import OTHER_ROWS, find_people
from kohorte.release.words import reached_in_words, unit_named
from kohorte.sources import COUNT, SOURCES, FrameSource, Missing, TableSource, encode_sensitive, spread
from kohorte.sources.spark import spark_as_source

ROWS, PEOPLE = "rows", "people"
"""What was counted."""
FAIL_FOR_PEOPLE = ("k-anonymity", "k-map", "average-risk", "l-diversity_distinct", SafeHarborRule.name)
"""Models that fail for people if they fail by rows: a class never has more people than rows, nor other values."""


@dataclass(frozen=True)
class ModelVerdict:
    """Whether all classes satisfy a model, the strictest parameter that they reach, and how many fail.

    `failing` counts the rows or the people of the classes that fail, as `unit` says. `by_rows`: the plan asks for
    people, but only rows could be counted.
    """

    name: str
    parameters: dict[str, object]
    satisfied: bool
    reached: float | tuple[float, float] | None
    failing_classes: int
    failing: int
    unit: str = ROWS
    by_rows: bool = False

    @property
    def word(self) -> str:
        """Whether the model holds, without numbers."""
        if self.satisfied:
            return "holds by rows" if self.by_rows else "holds"
        return "FAILS by rows" if self.may_hold_for_people else "FAILS"

    @property
    def may_hold_for_people(self) -> bool:
        """Whether the model fails, but only rows were counted and people may satisfy it."""
        return self.by_rows and not self.satisfied and self.name not in FAIL_FOR_PEOPLE

    @property
    def in_words(self) -> str:
        """The verdict for people."""
        if self.satisfied:
            return self.word
        if not self.failing_classes:
            return (
                "FAILS by rows for the table as a whole"
                if self.may_hold_for_people
                else "FAILS for the table as a whole"
            )
        failing = unit_named(self.unit).count(self.failing)
        where = count(self.failing_classes, "class", "classes")
        return f"FAILS by rows in {where} ({failing})" if self.may_hold_for_people else f"FAILS in {where} ({failing})"

    @property
    def reached_in_words(self) -> str:
        """The parameter that the table reaches, for people."""
        return reached_in_words(self.reached)

    @property
    def model_in_words(self) -> str:
        """The model with its parameters, for people."""
        return with_parameters(self.name, self.parameters)

    def to_dict(self) -> dict[str, object]:
        """The verdict as plain data; the key of those who fail names what is counted."""
        found = {name: value for name, value in vars(self).items() if name not in ("failing", "unit")}
        return {**found, f"failing_{self.unit}": self.failing, "unit": self.unit}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Self:
        """Read a verdict from plain data; JSON has a list for two numbers that are reached."""
        counted, reached = f"failing_{entry['unit']}", entry["reached"]
        known = {**entry, "reached": tuple(reached) if isinstance(reached, list) else reached}
        return cls(**{("failing" if name == counted else name): value for name, value in known.items()})


@dataclass(frozen=True)
class Verification:
    """The verdict on a table. `problems` describes what is wrong besides the models.

    `unit` tells what the models and the smallest class count: rows or people. If people are counted, `people` is their
    number, some of whom lose rows, or all their rows, by suppression; if only the release says whom a row is about, it
    is the number of those with a row that is not suppressed. `open_points` says what could not be checked, what
    suppressed rows tell, and what the tables say about people and the plan does not.
    """

    satisfied: bool
    models: tuple[ModelVerdict, ...]
    rows: int
    classes: int
    smallest_class: int | None
    suppressed: int
    problems: tuple[str, ...] = ()
    unit: str = ROWS
    people: int | None = None
    people_losing_rows: int | None = None
    people_losing_all_rows: int | None = None
    open_points: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The verdict as plain data."""
        return {
            "satisfied": self.satisfied,
            "models": [model.to_dict() for model in self.models],
            "rows": self.rows,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "suppressed": self.suppressed,
            "problems": list(self.problems),
            "unit": self.unit,
            "people": self.people,
            "people_losing_rows": self.people_losing_rows,
            "people_losing_all_rows": self.people_losing_all_rows,
            "open_points": list(self.open_points),
        }


def verify(frame: object, plan: Plan, *, population: object = None) -> Verification:
    """Check a table (polars, pandas, arrow, Spark or a `TableSource`) against the models of a plan.

    Rows whose quasi-identifiers are all `*` are suppressed rows: they are exempt from the models, as long as there are
    no more of them than the plan's suppression limit allows. `population` is the original table, which plans with a
    `subset` need, and from which people are counted if the plan says whom a row is about: the release does not say it.
    If the plan does not say it, the original says whether identifiers repeat, so that several rows are about a person.
    """
    given = spark_as_source(frame)
    source = given if isinstance(given, SOURCES) else FrameSource(to_polars(given)[0])
    check_columns(source.columns, plan, may_lack=(Role.IDENTIFYING, Role.SENSITIVE, Role.INSENSITIVE))
    original = None if population is None else without_marks(to_polars(population)[0], plan.missing_values)
    found = verify_source(source, plan, whole_populations(plan, original), original=original, all_rows=True)
    read = None if original is None or OTHER_ROWS in found.problems else FrameSource(flagged_rows(original, plan))
    problems, points = shown_originals(source, original, plan)
    return replace(
        found,
        satisfied=found.satisfied and not problems,
        problems=(*found.problems, *problems),
        open_points=(*found.open_points, *points, *person_notes(source, plan, original=read)),
    )


def verify_table(
    table: pl.DataFrame,
    plan: Plan,
    populations: Populations,
    *,
    levels: Mapping[str, int] | None = None,
    people: ShownPeople | None = None,
) -> Verification:
    """Check a polars table whose columns match the plan; `levels` are its levels and `people` its people, if known."""
    return verify_source(FrameSource(table), plan, populations, levels=levels, people=people)


def verify_source(
    table: TableSource,
    plan: Plan,
    populations: Populations,
    *,
    levels: Mapping[str, int] | None = None,
    people: ShownPeople | None = None,
    original: pl.DataFrame | None = None,
    all_rows: bool = False,
) -> Verification:
    """Check a table whose columns match the plan, by its counted tuples.

    `people` says whom its rows are about, if the plan counts people; or they are found in the `original` table, from
    which the table was made. Without either, only rows can be counted. `all_rows` also counts whom an attacker hurts
    who knows all rows of a person, which is counted anyway when a release is made.
    """
    names = list(plan.quasi_identifiers)
    unclear = _written_in_several_ways(table, plan)
    table = table.without_marks(plan.missing_values)
    changed = plan.decorrelated_attributes  # suppressed by chance in kept rows, too
    ties = [name for name in plan.unit.links if name in table.columns and name not in changed]
    tuples = table.count_shown(list(dict.fromkeys((*names, *plan.histograms, *ties))))
    rows = int(tuples[COUNT].sum())
    if rows == 0:
        raise InputError("the table has no rows", code="table-no-rows")
    unsafe = safe_harbor.problems(table, plan)
    found = [*_columns_left(table, plan), *_too_fine(tuples, plan), *_missing_problems(tuples, plan)]
    found += [*decorrelation.problems(table, plan), *unsafe, *unclear, *_tied_left(tuples, names, ties)]
    starred = tuples.select(all_starred([*names, *ties])).to_series()
    suppressed = int(tuples[COUNT].filter(starred).sum())
    if suppressed > plan.most_suppressed(rows) or (suppressed == rows and not _accept_nobody(plan)):
        suppressed = 0  # too many to be exempt: they must satisfy the models like all other rows
    classes = Classes(tuples, names, suppressed=starred if suppressed else None)
    whom = find_people(table, tuples, classes, plan, known=people, original=original)
    people = whom.people
    found += [whom.problem] if whom.problem else []
    members = _members(people, classes, plan) if populations else None
    of_populations = {
        key: classes.population(frame, plan, levels, members=members) for key, frame in populations.items()
    }
    found += [
        f"{_rows_or_people(unmatched, members)} more than the {key} has people like them: not everybody is in it"
        for key, (_, unmatched) in of_populations.items()
        if unmatched
    ]
    in_classes = {key: population for key, (population, _) in of_populations.items()}
    groups: Groups
    if people is None:
        weights = tuples[COUNT].to_numpy().astype(np.int64)
        builders = {name: plan.attributes[name].hierarchy for name in plan.histograms}
        columns = {name: encode_sensitive(tuples[name], builder, weights) for name, builder in builders.items()}
        groups = classes.groups(columns, in_classes)
        judged: tuple[Groups, ...] = (groups,)
    else:
        judged, groups = people.judged(plan, classes, bool(suppressed), in_classes)
    broken = (SafeHarborRule.name,) if unsafe else ()  # a rule about columns, not about classes
    unit = ROWS if people is None else PEOPLE
    by_rows = people is None and plan.unit.counts_people
    verdicts = tuple(replace(_verdict(model, judged, broken, unit), by_rows=by_rows) for model in plan.judging_models)
    known = None if whom.partly else people
    of_suppressed = suppressed_points(tuples.filter(starred), plan, known) if suppressed else ()
    losing = (None, None) if people is None or whom.partly else people.losing(suppressed)
    return Verification(
        satisfied=not found and all(verdict.satisfied for verdict in verdicts),
        models=verdicts,
        rows=rows,
        classes=len(groups),
        smallest_class=int(judged[0].sizes.min()) if len(groups) else None,
        suppressed=suppressed,
        problems=tuple(found),
        unit=unit,
        people=None if people is None else people.people,
        people_losing_rows=losing[0],
        people_losing_all_rows=losing[1],
        open_points=(
            *((whom.unknown,) if whom.unknown else ()),
            *((whom.rows_fail,) if any(verdict.may_hold_for_people for verdict in verdicts) else ()),
            *common_points(groups, plan.judging_models),
            *empty_points(tuples.filter(~starred) if suppressed else tuples, plan),
            *spelling_points(table, plan),
            *of_suppressed,
            *_overlaid(people, plan, all_rows),
        ),
    )


def _rows_or_people(number: int, members: Counts | None) -> str:
    """How many rows, or people if these are counted, in words."""
    return count(number, "row is", "rows are") if members is None else count(number, "person is", "people are")


def _members(people: ShownPeople | None, classes: Classes, plan: Plan) -> Counts | None:
    """The people of each class who must be in a population: at least one if nobody knows; None if rows are people."""
    if not plan.unit.counts_people:
        return None
    return np.ones(len(classes.numbered), dtype=np.int64) if people is None else people.in_classes(classes)


def _overlaid(people: ShownPeople | None, plan: Plan, all_rows: bool) -> tuple[str, ...]:
    """What all rows of a person tell together, if that is asked for and people are known."""
    if people is None or not all_rows:
        return ()
    attack = rows_of_one_person(people, plan, plan.histograms)
    return (attack.in_public_words,) if attack.people_hurt else ()


def refuse_failed(verification: Verification, plan: Plan, *, same: bool) -> None:
    """Refuse a candidate that fails, that has other figures than its search counted, or whose people are uncounted."""
    counted = verification.unit == PEOPLE or not plan.unit.counts_people
    if not (verification.satisfied and same and counted):
        raise not_verified()


def not_verified() -> InternalError:
    """The error for a candidate that does not pass: the search promised that it would, so it is a bug."""
    return InternalError(
        "the release does not pass its own verification and was withheld; please report this", code="not-verified"
    )


def _accept_nobody(plan: Plan) -> bool:
    """Whether all models accept a release in which every row is suppressed."""
    return all(model.holds(Groups.none()) for model in plan.models if model.about_all)


def _columns_left(table: TableSource, plan: Plan) -> list[str]:
    """Say which columns must not be in a release."""
    found = [
        f"the identifying column {name!r} is still there" for name in plan.removed_columns if name in table.columns
    ]
    if plan.subset is not None and plan.subset.name in table.columns:
        found.append(f"the column {plan.subset.name!r}, which flags the rows to release, is still there")
    return found


def _tied_left(tuples: pl.DataFrame, names: Sequence[str], ties: Sequence[str]) -> list[str]:
    """Say which suppressed rows still show to whom they belong; if all rows show only `*`, these are not suppressed."""
    hidden = tuples.filter(all_starred(names))
    tied = int(hidden.filter(~all_starred(ties))[COUNT].sum()) if ties else 0
    if not tied or hidden.height == tuples.height:
        return []
    return [
        f"{tied:,} suppressed rows still show {', '.join(map(repr, ties))}, which ties rows of one person together: "
        "how many rows somebody lost can tell who it is"
    ]


def _missing_problems(tuples: pl.DataFrame, plan: Plan) -> list[str]:
    """With `suppress` and `refuse`, no row of a release may have a missing value."""
    if plan.missing is Missing.CATEGORY:
        return []
    names = list(plan.quasi_identifiers)
    lacking = int(tuples.filter(pl.any_horizontal(pl.col(names).is_null()))[COUNT].sum())
    return (
        [f"{count(lacking, 'row lacks', 'rows lack')} a value, which 'missing: {plan.missing}' does not allow"]
        if lacking
        else []
    )


def _written_in_several_ways(table: TableSource, plan: Plan) -> list[str]:
    """With `missing_values`, a column that writes missing in two ways tells rows apart that count as equal."""
    if not plan.missing_values:
        return []
    shown = {name: spread(table.count_shown([name]), name) for name in plan.quasi_identifiers}
    cells = {name: written_in_several_ways(text, plan.missing_values) for name, text in shown.items()}
    return [
        f"{rows:,} rows lack a value of {name!r}, written in several ways, which tells them apart"
        for name, rows in cells.items()
        if rows
    ]


def _too_fine(tuples: pl.DataFrame, plan: Plan) -> list[str]:
    """Say which columns show values that minimum_level hides, if their hierarchy does not depend on the data."""
    found = []
    for name, least in plan.minimum_levels.items():
        builder = plan.attributes[name].hierarchy
        if not least or not isinstance(builder, CsvFile | Dates | Intervals | SafeHarbor | Tree):
            continue
        distinct = tuples[name].drop_nulls().unique()
        hierarchy = builder.build(distinct.to_list(), attribute=name)
        positions = hierarchy.encode(distinct)
        labels = pl.Series(hierarchy.column(min(least, hierarchy.top)), dtype=pl.String)
        raw = distinct.filter(pl.Series(positions >= 0))
        fine = raw.filter(raw != labels.gather(positions[positions >= 0]))
        if rows := int(tuples.filter(pl.col(name).is_in(fine.implode()))[COUNT].sum()):
            show = count(rows, "row shows", "rows show")
            found.append(f"{show} values of {name!r}, which minimum_level: {least} does not allow")
    return found


def _verdict(model: PrivacyModel, judged: Sequence[Groups], broken: Sequence[str], unit: str) -> ModelVerdict:
    """The verdict on all that a model judges: classes, or sets of classes and classes."""
    failing = [~model.satisfied(groups) for groups in judged]
    holds = all(model.holds(groups) for groups in judged if len(groups))
    return ModelVerdict(
        name=model.name,
        parameters={key: value for key, value in model.to_dict().items() if key != "model"},
        satisfied=holds and not any(own.any() for own in failing) and model.name not in broken,
        reached=weakest_reached(model, judged),
        failing_classes=sum(int(own.sum()) for own in failing),
        failing=sum(int(groups.sizes[own].sum()) for groups, own in zip(judged, failing, strict=True)),
        unit=unit,
    )
