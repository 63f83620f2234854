"""What a table tells about people that its plan does not state: repeated identifiers, and columns that tie rows."""

from __future__ import annotations

from kohorte.data import Role
from kohorte.plans.plan import Plan
from kohorte.plans.repeated_people import repeated_people, tying_columns
from kohorte.sources import TableSource


def person_notes(source: TableSource, plan: Plan) -> tuple[str, ...]:
    """Say where rows are counted although several seem to be about one person, and which columns tie rows together.

    Only columns that the table has are looked at; the notes contain names and counts, never a value.
    """
    unit, source = plan.unit, source.without_marks(plan.missing_values)
    if not unit.is_stated:
        return _unstated(source, plan)
    if not unit.counts_people or any(name not in source.columns for name in unit.columns):
        return ()
    subset = None if plan.subset is None else plan.subset.name
    staying = [
        name
        for name in (*plan.names(Role.SENSITIVE), *plan.names(Role.INSENSITIVE))
        if name in source.columns and name != subset and name not in unit.needed_columns
    ]
    return tuple(
        f"{tying.column!r} stays in the release and ties rows of one person together: of its {tying.repeated:,} values "
        f"that occur in several rows, {tying.own:,} belong to one person each; add 'linked_by: {tying.column}' to the "
        "plan, or make the column identifying"
        for tying in tying_columns(source, unit.columns, staying)
    )


def _unstated(source: TableSource, plan: Plan) -> tuple[str, ...]:
    found = repeated_people(source, plan.unit.roles)
    if found is None:
        return ()
    stays = all(plan.unit.roles.get(name) in (Role.SENSITIVE, Role.INSENSITIVE) for name in found.columns)
    tied = "; it stays in the release, where it ties rows together" if stays else ""
    return (
        f"rows are counted, not people: {found.facts}, so that several rows seem to be about one person{tied}; add "
        f"'{found.line}' to the plan, or 'person: none' if every row is another person",
    )
