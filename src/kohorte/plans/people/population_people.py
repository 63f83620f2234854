"""Population files that seem to have several rows for one person: each row would count as somebody else."""

from __future__ import annotations

from collections.abc import Iterator

from kohorte.data import Role, read_table
from kohorte.errors import InputError
from kohorte.plans.people.repeated_people import repeated_people
from kohorte.plans.plan import Plan
from kohorte.sources import FrameSource


def population_notes(plan: Plan) -> Iterator[str]:
    """Say which population files of a plan count people several times.

    A file with the columns of `person` is counted by people. In any other each row is a person, which a repeated
    identifier contradicts. A file that cannot be read is refused where it is needed.
    """
    unit = plan.unit
    for source in plan.population_files:
        try:
            frame = read_table(source.folder / source.name).frame
        except InputError:
            continue
        if unit.counts_people and set(unit.columns) <= set(frame.columns):
            continue
        roles = {name: unit.roles.get(name, Role.INSENSITIVE) for name in frame.columns}
        if (found := repeated_people(FrameSource(frame), roles)) is None:
            continue
        seem = found.asked if found.is_question else found.facts
        way_out = (
            "give it the columns of person" if unit.counts_people else "say in person of the plan whom a row is about"
        )
        yield (
            f"the population table {source.name} seems to have several rows for one person, and each of them counts as "
            f"another one: {seem}; leave one row of each person in it, or {way_out}"
        )
