"""What all rows of a person tell together, although each class has enough people."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kohorte.in_words import PEOPLE
from kohorte.plans.person import Knowledge
from kohorte.release.telling.one_person import RowsOfOnePerson
from kohorte.report.facts import Facts
from kohorte.report.figures.rounding import Figures


@dataclass(frozen=True, eq=False)
class OnePersonPart:
    """The content of the section about the rows of one person; for releases of plans that count people."""

    facts: Facts

    @property
    def found(self) -> RowsOfOnePerson | None:
        """Whom the attack hurts; None if it is not known whom the rows are about."""
        return self.facts.one_person

    @property
    def shown(self) -> bool:
        """Whether the section says something: not about a raw table, and not where rows are counted."""
        return self.found is not None or (self.facts.plan.unit.counts_people and self.facts.after is not None)

    @property
    def assumed(self) -> str:
        """What the plan says that an attacker knows."""
        person = self.facts.plan.person
        if self.facts.plan.unit.judges_sets and person is not None:
            known = "all rows" if person.attacker_knows is Knowledge.ALL_ROWS else "which rows belong together"
            return f"The plan protects people against somebody who knows {known}: k people share all their classes."
        return "The plan protects people against somebody who knows one row of a person (attacker_knows: one_row)."

    @property
    def advice(self) -> str:
        """What prevents the attack, unless the plan has it."""
        return "" if self.facts.plan.unit.judges_sets else " Against this attack: attacker_knows: all_rows in the plan."

    @property
    def outcome(self) -> str:
        """How many people are hurt, as a sentence."""
        found = self.found
        assert found is not None
        if not found.people_hurt:
            return f"It hurts {self._figures.of_all(0, found.people)}: all are hidden among at least {found.k} people."
        return f"It hurts {self._figures.of_all(found.people_hurt, found.people)}."

    @property
    def lines(self) -> list[list[str]]:
        """Each way in which people are hurt, and how many are."""
        found = self.found
        if found is None:
            return []
        ways = [
            (f"share the classes of all their rows with fewer than {found.k} people", found.fewer_than_k),
            ("share the classes of all their rows with nobody", found.alone),
        ]
        for value in found.values:
            ways.append((f"have only one value of {value.attribute} left in all their classes", value.single_value))
            ways.append((f"of these, by one class alone ({value.attribute})", value.by_one_class))
        return [[way, self._figures.part(people, found.people)] for way, people in ways]

    @property
    def _figures(self) -> Figures:
        return replace(self.facts.figures, unit=PEOPLE)
