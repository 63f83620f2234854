"""What a class tells if the models hold only because empty cells count as one of its sensitive values."""

from __future__ import annotations

import polars as pl

from kohorte.data import one_spelling
from kohorte.hierarchies import SUPPRESSED
from kohorte.models.sensitive import SensitiveModel
from kohorte.plans.plan import Plan

KNOWN, EMPTY = "\0known", "\0empty"


def empty_points(kept: pl.DataFrame, plan: Plan) -> tuple[str, ...]:
    """Say of which sensitive attributes some class shows too few values besides empty cells; no numbers of rows.

    Models count empty cells as a value of their own, because the text of the table does not say why they are empty.
    Somebody who knows that a person has a diagnosis excludes them: of HIV and empty cells, HIV is left. `kept` are the
    counted rows that are not suppressed.
    """
    found = ((name, _least(plan, name)) for name in plan.histograms)
    return tuple(_said(name, least) for name, least in found if _too_few(kept, plan, name, least))


def _least(plan: Plan, name: str) -> int:
    """How many different values a class must have by the models; at least two, so that no value is certain."""
    own = [model for model in plan.judging_models if isinstance(model, SensitiveModel) and model.attribute == name]
    return max([2, *(model.fewest_values for model in own)])


def _too_few(kept: pl.DataFrame, plan: Plan, name: str, least: int) -> bool:
    """Whether a class has enough different values only because some of its cells are empty."""
    names = list(plan.quasi_identifiers)
    values = one_spelling(kept[name]).alias(KNOWN)
    shown = kept.select(names).with_columns(values, values.is_null().alias(EMPTY)).filter(values.ne_missing(SUPPRESSED))
    classes = shown.group_by(names).agg(pl.col(KNOWN).drop_nulls().n_unique(), pl.col(EMPTY).any())
    return not classes.filter(pl.col(EMPTY) & (pl.col(KNOWN) == least - 1)).is_empty()


def _said(name: str, least: int) -> str:
    few = "only one value" if least == 2 else f"fewer than {least} different values"
    return (
        f"some classes show {few} of {name!r} besides empty cells, which count as a value: somebody who knows that the "
        "value of a person is not missing learns more than the models promise; fill these cells in, or leave their "
        "rows out"
    )
