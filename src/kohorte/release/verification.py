"""Does a table satisfy a plan? Counted anew from the table itself, independently of engine and search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from kohorte.data import Role, as_text, to_polars
from kohorte.engines import Missing
from kohorte.errors import InputError, InternalError
from kohorte.groups import Groups, Histogram
from kohorte.hierarchy import SUPPRESSED
from kohorte.kernels.arrays import Bools, Codes
from kohorte.models import PrivacyModel
from kohorte.release.columns import check_columns
from kohorte.release.plan import Plan
from kohorte.release.release import Release


@dataclass(frozen=True)
class ModelVerdict:
    """Whether all classes satisfy a model, the strongest parameter that they reach, and how many fail."""

    name: str
    parameters: dict[str, object]
    satisfied: bool
    reached: float | None
    failing_classes: int
    failing_rows: int


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


def verify(frame: object, plan: Plan) -> Verification:
    """Check a table (polars, pandas or arrow) against the models of a plan, as it stands.

    Rows whose quasi-identifiers are all `*` are suppressed rows: they form a class of their own that is exempt from
    the models, as long as there are no more of them than the plan's suppression limit allows.
    """
    table, _ = to_polars(frame)
    check_columns(table.columns, plan, may_lack=(Role.IDENTIFYING, Role.SENSITIVE, Role.INSENSITIVE))
    return verify_table(table, plan)


def verify_table(table: pl.DataFrame, plan: Plan) -> Verification:
    """Check a polars table whose columns are known to fit the plan."""
    if table.height == 0:
        raise InputError("the table has no rows", code="table-no-rows")
    shown = pl.DataFrame([as_text(table[name]) for name in plan.quasi_identifiers])
    problems = [
        f"the identifying column {name!r} is still there"
        for name in plan.names(Role.IDENTIFYING)
        if name in table.columns
    ]
    problems += _missing_problems(shown, plan)
    starred = shown.select(pl.all_horizontal(pl.all().eq_missing(pl.lit(SUPPRESSED)))).to_series()
    suppressed = int(starred.sum())
    if suppressed > plan.most_suppressed(table.height):
        suppressed = 0  # too many to be exempt: they must satisfy the models like everybody else
    sensitive = [as_text(table[name]) for name in plan.histograms]
    groups = _groups(shown, sensitive, counted=~starred if suppressed else None)
    verdicts = tuple(_verdict(model, groups) for model in plan.models)
    return Verification(
        satisfied=not problems and all(verdict.satisfied for verdict in verdicts),
        models=verdicts,
        rows=table.height,
        classes=len(groups),
        smallest_class=int(groups.sizes.min()) if len(groups) else None,
        suppressed=suppressed,
        problems=tuple(problems),
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


def _groups(shown: pl.DataFrame, sensitive: Sequence[pl.Series], *, counted: pl.Series | None) -> Groups:
    """Count the classes of the rows that are to be counted, and the sensitive values in each of them."""
    rows = shown if counted is None else shown.filter(counted)
    classes = rows.group_by(pl.all(), maintain_order=bool(sensitive)).len(name="\0size")

    def no_codes(which: Bools) -> Codes:
        raise AssertionError(f"a verification asks for no codes ({len(which)} classes)")

    return Groups(
        node=(),
        sizes=classes.get_column("\0size").to_numpy().astype(np.int64),
        codes=no_codes,
        histograms={values.name: _histogram(shown, values, classes, counted=counted) for values in sensitive},
    )


def _histogram(
    shown: pl.DataFrame, values: pl.Series, classes: pl.DataFrame, *, counted: pl.Series | None
) -> Histogram:
    numbered = classes.drop("\0size").with_row_index("\0class")
    codes = (values.rank("dense") - 1).fill_null(values.drop_nulls().n_unique()).cast(pl.UInt32).alias("\0value")
    rows = shown.with_columns(codes) if counted is None else shown.with_columns(codes).filter(counted)
    cells = rows.group_by(pl.all()).len(name="\0count").join(numbered, on=shown.columns, nulls_equal=True)
    return Histogram(
        classes=cells["\0class"].to_numpy(),
        values=cells["\0value"].to_numpy(),
        counts=cells["\0count"].to_numpy().astype(np.int64),
        overall=np.bincount(codes.to_numpy()),
    )


def _verdict(model: PrivacyModel, groups: Groups) -> ModelVerdict:
    failing = ~model.satisfied(groups)
    return ModelVerdict(
        name=model.name,
        parameters={key: value for key, value in model.to_dict().items() if key != "model"},
        satisfied=not bool(failing.any()),
        reached=model.reached(groups),
        failing_classes=int(failing.sum()),
        failing_rows=int(groups.sizes[failing].sum()),
    )
