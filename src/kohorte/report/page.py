"""The report as one page: the verdict first, then the figures, then the evidence."""

from __future__ import annotations

from kohorte.pages import beside, page
from kohorte.report.attributes_part import AttributesPart
from kohorte.report.evidence_part import EvidencePart
from kohorte.report.facts import Facts
from kohorte.report.one_person_part import OnePersonPart
from kohorte.report.questions_part import answers
from kohorte.report.risk_part import RiskPart
from kohorte.report.suppression_part import SuppressionPart
from kohorte.report.verdict import verdict


def to_html(facts: Facts) -> str:
    """Return the report as one self-contained HTML page without a script."""
    return page(
        __package__,
        "report.html.j2",
        facts.told("Risk of a table before and after anonymization" if facts.after else "Risk of a table"),
        rules=beside(__file__, "page.css"),
        language=facts.language,
        facts=facts,
        figures=facts.figures,
        verdict=verdict(facts),
        risk=RiskPart(facts),
        one_person=OnePersonPart(facts),
        answers=answers(facts),
        attributes=AttributesPart(facts),
        suppression=SuppressionPart(facts),
        evidence=EvidencePart(facts),
    )
