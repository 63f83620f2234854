"""What suppressed rows tell: they look alike, so that a sensitive value which all of them share is known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from kohorte.data import one_spelling
from kohorte.groups import Groups
from kohorte.hierarchies import SUPPRESSED
from kohorte.models.words import model_in_words
from kohorte.plans.plan import Plan
from kohorte.plans.population import PERSON
from kohorte.release.shown_classes import Classes
from kohorte.release.shown_people import ShownPeople
from kohorte.release.telling.verified_people import OF_CLASSES
from kohorte.sources import COUNT, encode_sensitive

LEARNS = "a person who knows that somebody is in the table, and finds no class of theirs,"


def suppressed_points(tuples: pl.DataFrame, plan: Plan, people: ShownPeople | None) -> tuple[str, ...]:
    """Say what suppressed rows tell as one class, which the models do not judge; without numbers and values.

    `tuples` are the counted suppressed rows; `people` says whom they are about, if that is known. Models that compare a
    class with the whole table are not asked: a few unusual rows always differ from it.
    """
    hidden = tuples if people is None else people.tuples.filter(people.starred)
    if hidden.height == 0:
        return ()
    whose = "suppressed rows" if people is None else "people with suppressed rows"
    shared = [name for name in plan.histograms if _all_share(hidden, name, by_people=people is not None)]
    said = [f"all {whose} share a value of {name!r}: {LEARNS} learns it" for name in shared]
    return (*said, *_unsatisfied(hidden, plan, people, whose, shared))


def _all_share(hidden: pl.DataFrame, name: str, *, by_people: bool) -> bool:
    """Whether all suppressed rows, or all their people, have a value in common that is not missing or hidden."""
    hidden = hidden.with_columns(one_spelling(hidden[name]))
    told = pl.col(name).is_not_null() & (pl.col(name) != SUPPRESSED)
    if not by_people:
        return hidden[name].n_unique() == 1 and bool(hidden.select(told.all()).item())
    most = hidden.filter(told).select(PERSON, name).unique().group_by(name).len()["len"].max()
    return most == hidden[PERSON].n_unique()


def _unsatisfied(
    hidden: pl.DataFrame, plan: Plan, people: ShownPeople | None, whose: str, shared: list[str]
) -> Iterator[str]:
    """Say which models of values the suppressed rows fail as one class; fewer of them than k are said elsewhere."""
    group = _of_rows(hidden, plan) if people is None else people.suppressed_group(plan)
    if group.sizes[0] < plan.smallest_class:
        return
    for model in plan.judging_models:
        of_others = model.sensitive and not set(model.sensitive) <= set(shared)
        if of_others and isinstance(model, OF_CLASSES) and not model.satisfied(group).all():
            yield (
                f"the {whose}, taken as one class, do not satisfy {model_in_words(model)}: {LEARNS} learns more than "
                "the model allows"
            )


def _of_rows(hidden: pl.DataFrame, plan: Plan) -> Groups:
    """The suppressed rows as one class."""
    weights = hidden[COUNT].to_numpy().astype(np.int64)
    builders = {name: plan.attributes[name].hierarchy for name in plan.histograms}
    columns = {name: encode_sensitive(hidden[name], builder, weights) for name, builder in builders.items()}
    return Classes(hidden, plan.quasi_identifiers, suppressed=None).groups(columns, {})
