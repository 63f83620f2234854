"""What is open as long as nobody has said whom a row is about: rows are counted, and a person may have many of them."""

from __future__ import annotations

from collections.abc import Sequence

from kohorte.data import Role
from kohorte.identifiers.people import Numbering
from kohorte.in_words import listed
from kohorte.plans.people.candidates import Candidates
from kohorte.plans.people.repeated import Repeated
from kohorte.plans.people.repeated_people import repeated_among
from kohorte.plans.plan import Plan
from kohorte.sources import TableSource

IN_ROWS = "rows are counted, not people"
UNSAID = "nobody has said that every row is another person"
OR_NONE = "or 'person: none' if every row is another person"
ANSWER = f"Add 'person: COLUMN' with the column that says whom a row is about, {OR_NONE}"


def unstated(unique: Repeated | None) -> str:
    """Say that the table does not answer whether rows are people; `unique` has another value in every row."""
    if unique is None:
        return f"{UNSAID}, and no column of the table says whether several rows are about one person"
    several = "" if unique.rank == Numbering.PEOPLE else ", of which a person can have several"
    return f"{UNSAID}; {unique.in_every_row}{several}"


def plan_note(plan: Plan) -> tuple[str, ...]:
    """The open point of a plan that does not say whom a row is about, if no table can be asked."""
    if plan.unit.is_stated:
        return ()
    return (f"{IN_ROWS}: {UNSAID}; add 'person: COLUMN' to the plan, {OR_NONE}",)


def table_note(source: TableSource, plan: Plan, wanted: Sequence[str]) -> str:
    """The open point of a plan that does not say whom a row is about, with what the table says about it.

    `wanted` are the columns that may say it and that a release does not have.
    """
    roles, columns = plan.unit.roles, set(source.columns)
    candidates = Candidates(source, roles)
    if found := repeated_among(candidates):
        stays = all(roles.get(name) in (Role.SENSITIVE, Role.INSENSITIVE) for name in found.columns)
        tied = "; it stays in the release, where it ties rows together" if stays else ""
        seem = found.asked if found.is_question else f"{found.facts}, so that several rows seem to be about one person"
        said = f"{seem}{tied}; {found.completing(source.rows)}add '{found.line}' to the plan"
        said += " if so" if found.is_question else ""
    elif lacking := [repr(name) for name in wanted if name not in columns]:
        said = (
            f"{UNSAID}, and the table does not have {listed(lacking)}, which may tell; add 'person: COLUMN' to the "
            "plan and give the original table"
        )
    else:
        unique = candidates.unique
        line = unique.line if unique is not None and unique.rank == Numbering.PEOPLE else "person: COLUMN"
        said = f"{unstated(unique)}; add '{line}' to the plan"
    return f"{IN_ROWS}: {said}, {OR_NONE}"
