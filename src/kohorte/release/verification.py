"""Does a table satisfy a plan? Counted anew from the table itself, independently of engine and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from kohorte.data import Role, as_text, to_polars
from kohorte.engines import Missing, encode_sensitive
from kohorte.errors import InputError, InternalError
from kohorte.groups import Groups
from kohorte.hierarchy import SUPPRESSED, CsvFile, Dates, Intervals, SafeHarbor, Tree
from kohorte.models import PrivacyModel, SafeHarborRule
from kohorte.release import decorrelation, safe_harbor
from kohorte.release.columns import check_columns
from kohorte.release.plan import Plan
from kohorte.release.population import Populations, whole_populations
from kohorte.release.release import Release
from kohorte.release.shown_classes import Classes
from kohorte.release.words import reached_in_words, with_parameters


@dataclass(frozen=True)
class ModelVerdict:
    """Whether all classes satisfy a model, the strongest parameter that they reach, and how many fail."""

    name: str
    parameters: dict[str, object]
    satisfied: bool
    reached: float | tuple[float, float] | None
    failing_classes: int
    failing_rows: int

    @property
    def in_words(self) -> str:
        """The verdict for people."""
        if self.satisfied:
            return "holds"
        if not self.failing_classes:
            return "FAILS for the table as a whole"
        return f"FAILS in {self.failing_classes:,} classes ({self.failing_rows:,} rows)"

    @property
    def reached_in_words(self) -> str:
        """The parameter that the table reaches, for people."""
        return reached_in_words(self.reached)

    @property
    def model_in_words(self) -> str:
        """The model with its parameters, for people."""
        return with_parameters(self.name, self.parameters)


@dataclass(frozen=True)
class Verification:
    """The verdict on a table. `problems` says in words what is wrong beyond the models."""

    satisfied: bool
    models: tuple[ModelVerdict, ...]
    rows: int
    classes: int
    smallest_class: int | None
    suppressed: int
    problems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The verdict as plain data."""
        return {
            "satisfied": self.satisfied,
            "models": [dict(vars(model)) for model in self.models],
            "rows": self.rows,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "suppressed": self.suppressed,
            "problems": list(self.problems),
        }


def verify(frame: object, plan: Plan, *, population: object = None) -> Verification:
    """Check a table (polars, pandas or arrow) against the models of a plan, as it stands.

    Rows whose quasi-identifiers are all `*` are suppressed rows: they form a class of their own that is exempt from
    the models, as long as there are no more of them than the plan's suppression limit allows. `population` is the
    original table, which plans with a `subset` need.
    """
    table, _ = to_polars(frame)
    check_columns(table.columns, plan, may_lack=(Role.IDENTIFYING, Role.SENSITIVE, Role.INSENSITIVE))
    original = None if population is None else to_polars(population)[0]
    return verify_table(table, plan, whole_populations(plan, original))


def verify_table(
    table: pl.DataFrame, plan: Plan, populations: Populations, *, levels: Mapping[str, int] | None = None
) -> Verification:
    """Check a polars table whose columns are known to fit the plan; `levels` where they are known."""
    if table.height == 0:
        raise InputError("the table has no rows", code="table-no-rows")
    shown = pl.DataFrame([as_text(table[name]) for name in plan.quasi_identifiers])
    found = [
        f"the identifying column {name!r} is still there"
        for name in plan.names(Role.IDENTIFYING)
        if name in table.columns
    ]
    unsafe = safe_harbor.problems(table, plan)
    found += _too_fine(shown, plan) + _missing_problems(shown, plan) + decorrelation.problems(table, plan) + unsafe
    starred = shown.select(pl.all_horizontal(pl.all().eq_missing(pl.lit(SUPPRESSED)))).to_series()
    suppressed = int(starred.sum())
    if suppressed > plan.most_suppressed(table.height):
        suppressed = 0  # too many to be exempt: they must satisfy the models like everybody else
    sensitive = [encode_sensitive(as_text(table[name]), plan.attributes[name].hierarchy) for name in plan.histograms]
    classes = Classes(shown, counted=~starred if suppressed else None)
    if plan.subset is not None and plan.subset.name in table.columns:
        found.append(f"the column {plan.subset.name!r}, which flags the rows to release, is still there")
    people = {key: classes.population(frame, plan, levels) for key, frame in populations.items()}
    found += [
        f"{unmatched:,} rows are more than the {key} has people like them: not everybody is in it"
        for key, (_, unmatched) in people.items()
        if unmatched
    ]
    groups = classes.groups(
        {column.name: column for column in sensitive}, {key: population for key, (population, _) in people.items()}
    )
    broken = (SafeHarborRule.name,) if unsafe else ()  # a rule on columns, which no class tells
    verdicts = tuple(_verdict(model, groups, broken) for model in plan.models)
    return Verification(
        satisfied=not found and all(verdict.satisfied for verdict in verdicts),
        models=verdicts,
        rows=table.height,
        classes=len(groups),
        smallest_class=int(groups.sizes.min()) if len(groups) else None,
        suppressed=suppressed,
        problems=tuple(found),
    )


def refuse_unverified(verification: Verification, release: Release) -> None:
    """Refuse a release that fails its verification, or is not what the search counted: that is a bug."""
    counted = (release.rows, release.classes, release.suppressed)
    same = (verification.rows, verification.classes, verification.suppressed) == counted
    if release.all_starred:  # suppressed rows cannot be told from the others
        same = verification.rows == release.rows
    if not verification.satisfied or not same:
        raise InternalError(
            "the release does not pass its own verification and was withheld; please report this", code="not-verified"
        )


def _missing_problems(shown: pl.DataFrame, plan: Plan) -> list[str]:
    """Under `suppress` and `refuse` no row of a release may lack a value."""
    if plan.missing is Missing.CATEGORY:
        return []
    lacking = int(shown.select(pl.any_horizontal(pl.all().is_null())).to_series().sum())
    return [f"{lacking:,} rows lack a value, which 'missing: {plan.missing}' does not allow"] if lacking else []


def _too_fine(shown: pl.DataFrame, plan: Plan) -> list[str]:
    """Say which columns show values that the plan's minimum_level hides, where a hierarchy knows what a value is."""
    found = []
    for name, least in plan.minimum_levels.items():
        builder = plan.attributes[name].hierarchy
        if not least or not isinstance(builder, CsvFile | Dates | Intervals | SafeHarbor | Tree):
            continue
        cells = shown[name].drop_nulls()
        distinct = cells.unique()
        hierarchy = builder.build(distinct.to_list(), attribute=name)
        places = hierarchy.encode(distinct)
        labels = pl.Series(hierarchy.column(min(least, hierarchy.top)), dtype=pl.String)
        raw = distinct.filter(pl.Series(places >= 0))
        fine = raw.filter(raw != labels.gather(places[places >= 0]))
        if rows := int(cells.is_in(fine.implode()).sum()):
            found.append(f"{rows:,} rows show values of {name!r}, which minimum_level: {least} does not allow")
    return found


def _verdict(model: PrivacyModel, groups: Groups, broken: Sequence[str] = ()) -> ModelVerdict:
    failing = ~model.satisfied(groups)
    holds = model.holds(groups) if len(groups) else True
    return ModelVerdict(
        name=model.name,
        parameters={key: value for key, value in model.to_dict().items() if key != "model"},
        satisfied=holds and not bool(failing.any()) and model.name not in broken,
        reached=model.reached(groups),
        failing_classes=int(failing.sum()),
        failing_rows=int(groups.sizes[failing].sum()),
    )
