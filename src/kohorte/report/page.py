"""The report as one page: the verdict first, then the figures, then what stands behind them."""

from __future__ import annotations

from kohorte.drawing import beside, page
from kohorte.report.attributes_part import attributes_part
from kohorte.report.evidence_part import evidence_part
from kohorte.report.facts import Facts
from kohorte.report.figures import counted
from kohorte.report.html import bullets, paragraph, section, told
from kohorte.report.questions_part import questions_part
from kohorte.report.risk_part import risk_part
from kohorte.report.verdict import Verdict, verdict

INTERNAL = "INTERNAL \u2013 do not pass on"


def to_html(facts: Facts) -> str:
    """Return the report as one self-contained HTML page without a script."""
    found = verdict(facts)
    title = "Risk of a table before and after anonymization" if facts.after else "Risk of a table"
    body = f"""<header>
{_stamp(facts)}<h1>{told(title)}</h1>
<p class="note">{told(_about(facts))}</p>
{_verdict(found)}</header>
{section("What this means", bullets(found.meaning))}{section("What to do next", bullets(found.next_steps))}"""
    body += risk_part(facts) + questions_part(facts) + attributes_part(facts) + evidence_part(facts)
    return page(title, body, rules=beside(__file__, "page.css"))


def _stamp(facts: Facts) -> str:
    if not facts.internal:
        return ""
    return f'<p class="stamp">{INTERNAL}</p>\n<div class="repeated">{INTERNAL}</div>\n'


def _verdict(found: Verdict) -> str:
    said = "".join(paragraph(sentence) for sentence in found.sentences)
    return f'<div class="verdict {found.standing}">\n<p class="word">{told(found.word)}</p>\n{said}</div>\n'


def _about(facts: Facts) -> str:
    profile = facts.judged.profile
    what = (
        "internal view: for the house alone"
        if facts.internal
        else f"public view: no value of a raw table, no small group; {facts.figures.rounding(facts.judged.kept)}"
    )
    return (
        f"{counted(profile.rows, 'row')}, {counted(len(profile.quasi_identifiers), 'quasi-identifier')}; "
        f"{facts.created:%Y-%m-%d}; {what}."
    )
