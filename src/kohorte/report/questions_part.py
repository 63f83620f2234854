"""The three questions that data protection authorities ask of an anonymized table, answered with the figures.

Source
    Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation Techniques, 2014, section 2.2.2.
"""

from __future__ import annotations

from dataclasses import replace

from kohorte.data import Role
from kohorte.in_words import PEOPLE
from kohorte.report.facts import Facts

ONLY_ROWS = "But rows were counted, not people: all rows of a class may be about one person."


def answers(facts: Facts) -> list[tuple[str, str]]:
    """The questions and their answers."""
    return [
        ("Can somebody be singled out?", _singling_out(facts)),
        ("Can records about somebody be linked?", _linkability(facts)),
        ("Can something be inferred about somebody?", _inference(facts)),
    ]


def _singling_out(facts: Facts) -> str:
    profile = facts.judged.profile
    if profile.smallest_class is None:
        return "No: every row is suppressed, so all look alike."
    if profile.uniqueness.sample_uniques:
        alone = facts.figures.of_all(profile.uniqueness.sample_uniques, facts.judged.kept)
        return f"Yes: {alone} {facts.words.unique}."
    none = f"{facts.words.nobody}. The {facts.words.smallest} has {facts.figures.size(profile.smallest_class)}."
    if profile.people_not_counted:
        return f"Not known: {none} {ONLY_ROWS}"
    found = facts.one_person
    if found is not None and found.alone:
        alone = f"{_people(facts, found.alone)} share the classes of all their rows with nobody"
        return f"Not by one row: {none} By all rows together, yes: {alone}."
    return f"Not by the quasi-identifiers: {none}"


def _linkability(facts: Facts) -> str:
    highest = facts.judged.profile.attackers.prosecutor.highest_risk
    if not highest:
        return "Not by the quasi-identifiers: every row is suppressed."
    by, found = "", facts.one_person
    more = f" {ONLY_ROWS}" if facts.judged.profile.people_not_counted else ""
    if found is not None and found.fewer_than_k and not facts.plan.unit.judges_sets:
        by, more = ", by one row,", f" By all rows together it is higher for {_people(facts, found.fewer_than_k)}."
    return (
        f"The highest probability that a {facts.unit.one} is matched{by} with the right entry of a list of people is "
        f"{facts.figures.highest(highest)}.{more} Two releases about the same people are not compared here; use "
        "kohorte attack."
    )


def _inference(facts: Facts) -> str:
    attack = facts.homogeneity
    if attack is None or not any(name in facts.judged.frame.columns for name in facts.plan.names(Role.SENSITIVE)):
        return "Not measured: the table has no sensitive attribute of the plan."
    rest = "kohorte attack also counts what is only likely, or follows from other knowledge of the attacker."
    if attack.hurt:
        hurt = facts.figures.hurt(attack)
        return f"Yes: a sensitive value of {hurt} is known, because all {attack.unit} that look alike share it. {rest}"
    hidden = facts.not_suppressed or (", and neither do all suppressed rows" if facts.judged.profile.suppressed else "")
    none = f"in no class do all {attack.unit} share it{hidden}."
    if facts.judged.profile.people_not_counted:
        return f"Not known: {none} {ONLY_ROWS} {rest}"
    together = _by_all_rows(facts)
    if together:
        return f"Not by one class: {none} By all rows together, yes: {together}. {rest}"
    return f"No person's sensitive value is certain: {none} {rest}"


def _by_all_rows(facts: Facts) -> str:
    """Of which attributes somebody learns the value who knows all rows of a person, and of how many people."""
    values = () if facts.one_person is None else facts.one_person.values
    return "; ".join(
        f"only one value of {value.attribute} is left for {_people(facts, value.single_value)}"
        for value in values
        if value.single_value
    )


def _people(facts: Facts, some: int) -> str:
    """So many of the people with a row that is not suppressed."""
    assert facts.one_person is not None
    return replace(facts.figures, unit=PEOPLE).of_all(some, facts.one_person.people)
