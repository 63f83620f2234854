"""The open points of the releases of a series: what makes its verdict amber although the models hold."""

from __future__ import annotations

from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.seeming_identifiers import identifier_points
from kohorte.release.certificate import plan_warnings
from kohorte.release.telling.formulas import ToldFormulas
from kohorte.release.telling.verdict import Verdict, judge
from kohorte.series.definition import Definition
from kohorte.series.drafting.growing_table import Draft, GrowingTable
from kohorte.sources import FrameSource


def points_of_table(table: GrowingTable) -> list[str]:
    """The points of every release of a table: those of the plan, and what the table says about people."""
    plan = table.definition.plan
    source = FrameSource(table.frame)
    return [*plan_warnings(plan), *person_notes(source, plan, may_link=False), *identifier_points(source, plan)]


def points_of_arrival(definition: Definition, smallest: int) -> list[str]:
    """The point of a release with regions into which too few came together; it does not say how few."""
    if definition.by_arrival or smallest >= definition.plan.smallest_class:
        return []
    unit = "people" if definition.plan.unit.counts_people else "rows"
    return [
        "an attacker who knows which release first showed a person, and recognises rows, is left with fewer "
        f"{unit} than the models require (arrivals: known protects against it)"
    ]


def verdict_on(draft: Draft) -> Verdict:
    """The verdict on a release that is not made yet."""
    definition = draft.table.definition
    formulas = ToldFormulas.of(FrameSource(draft.data), definition.plan)
    arrivals = points_of_arrival(definition, draft.figures.smallest_arrival)
    points = [*points_of_table(draft.table), *draft.verification.open_points, *formulas.open_points, *arrivals]
    return judge(draft.verification, points)
