"""Whether a recoding is worth what it gives up, for the report of a release that has one level for each attribute."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from kohorte.comparison.queries import Queries
from kohorte.comparison.run import Bench
from kohorte.errors import InputError
from kohorte.in_words import cost
from kohorte.recoding import LeastLoss, Mondrian
from kohorte.recoding.base import refuse_models
from kohorte.release.anonymization import set_up_search
from kohorte.release.preparation import encode_problem
from kohorte.release.release import Release
from kohorte.sources import FrameSource

CLEARLY = 2 / 3
"""A recoding keeps clearly more if it costs at most this share of what one level each costs. Our choice."""
WORTH = 0.02
"""So much less must it lose, too, as a share of all detail: where little is lost, no recoding is needed. Our choice."""
NAME = LeastLoss.name
WHY = "It puts rows that are alike into one class, so that their cells cover few values."
GIVEN_UP = (
    "Given up: cells of a column differ from row to row and show which values occur in a class; statistics have to "
    "read each cell as the values that it stands for, releases of different years are hard to compare, and later rows "
    "cannot be added (docs/recoding/least-loss.md)."
)


@dataclass(frozen=True)
class Instead:
    """What a release with one level for each attribute costs, and strict Mondrian under the same plan.

    Mondrian is quick and always gives the same release. `least_loss` starts from its classes and never costs more with
    the same kind of cells, so its figure says what a recoding reaches at least.
    """

    metric: str
    cost: float
    with_mondrian: float

    @property
    def in_words(self) -> list[str]:
        """The figures, the reason and the price, as sentences."""
        return [
            f"A recoding keeps clearly more under the same plan, with the same models. This release has one level for "
            f"each attribute: {self.metric} {cost(self.cost)}. With mondrian it is {cost(self.with_mondrian)}, and "
            f"{NAME} never costs more with the same kind of cells. {WHY}",
            f"{GIVEN_UP} To see what it keeps, compare with kohorte algorithms; to take it, write search: {NAME} in "
            "the plan. Pass on one of the two releases, never both: together they tell more than each alone.",
        ]


def recoding_instead(frame: pl.DataFrame, release: Release) -> Instead | None:
    """What a recoding of a table would cost where its release has one level for each attribute and loses clearly more.

    None where it does not, and where a recoding does not accept the plan or could not guarantee one of its models.
    """
    plan = release.plan
    if release.node is None or refuse_models(plan.models) is not None:
        return None
    try:
        bench = Bench(encode_problem(FrameSource(frame), plan, by_row=True), time_limit=None)
        recoded = bench.run(Mondrian, Queries.draw(bench.lines, 0, 0), None)
    except InputError:  # the table, perhaps changed since, does not fit the plan: there is nothing to compare with
        return None
    if not recoded.released or recoded.cost is None:
        return None
    own, costs = bench.costs(bench.at_node(set_up_search(bench.prepared), release.node))
    if recoded.cost > CLEARLY * own or costs["loss"] - recoded.costs["loss"] < WORTH:
        return None
    return Instead(plan.metric.name, own, recoded.cost)
