"""The three questions that data protection authorities ask of an anonymized table, answered with the figures."""

from __future__ import annotations

from kohorte.data import Role
from kohorte.report.facts import Facts
from kohorte.report.html import note, paragraph, section, table

ASKED = (
    "Data protection authorities ask three questions of a table that is said to be anonymous (Article 29 Working "
    "Party, Opinion 05/2014). The figures answer them for the quasi-identifiers of the plan and for this table alone."
)
OPEN = "None of the answers is a legal opinion. What the figures do not say is listed below."


def questions_part(facts: Facts) -> str:
    """The section with the three answers."""
    answers = [
        ("Can somebody be singled out?", _singling_out(facts)),
        ("Can records about somebody be linked?", _linkability(facts)),
        ("Can something be inferred about somebody?", _inference(facts)),
    ]
    asked = "The three questions of the authorities"
    return section(asked, paragraph(ASKED), table([], answers, figures=False), note(OPEN))


def _singling_out(facts: Facts) -> str:
    profile = facts.judged.profile
    if profile.smallest_class is None:
        return "No: every row is suppressed, so that all look alike."
    if profile.uniqueness.sample_uniques:
        alone = facts.figures.of_rows(profile.uniqueness.sample_uniques, facts.judged.kept)
        return f"Yes: {alone} are the only ones of their kind."
    smallest = facts.figures.size(profile.smallest_class)
    return f"Not by the quasi-identifiers: no row is the only one of its kind. The smallest class has {smallest}."


def _linkability(facts: Facts) -> str:
    highest = facts.judged.profile.attackers.prosecutor.highest_risk
    if not highest:
        return "Not by the quasi-identifiers: every row is suppressed."
    return (
        "The highest probability that a row is matched with the right entry of a list of people is "
        f"{facts.figures.highest(highest)}. Two releases about the same people are not looked at: kohorte attack does "
        "that."
    )


def _inference(facts: Facts) -> str:
    attack = facts.homogeneity
    if attack is None or not any(name in facts.judged.frame.columns for name in facts.plan.names(Role.SENSITIVE)):
        return "Not measured: the table has no attribute that the plan calls sensitive."
    rest = "What is only likely, or known by what the attacker knows besides, is counted by kohorte attack."
    if attack.people_hurt:
        hurt = facts.figures.of_rows(attack.people_hurt, attack.rows_tried)
        return f"Yes: of {hurt} a sensitive value is known, because all rows that look alike share it. {rest}"
    return f"Of nobody a sensitive value is certain: in no class all rows share it. {rest}"
