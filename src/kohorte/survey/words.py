"""Estimates and proposals in words, for people who plan surveys and do not know this field."""

from __future__ import annotations

from collections.abc import Sequence

from kohorte.survey.estimate import FEW, SurveyEstimate
from kohorte.survey.proposal import SurveyProposal
from kohorte.survey.survey import Survey

MEANING = """\
Who is the only one with a combination of answers can be recognized by anybody who knows these answers: all other
answers of that person, whatever the survey asks besides, are then known, too."""


def estimate_in_words(estimate: SurveyEstimate) -> str:
    """All figures of an estimate, what they mean, and what to do."""
    questions = _several(len(estimate.survey.questions), "question")
    combinations = _several(estimate.cells, "combination")
    asked = f"{_several(estimate.people, 'person')}, {questions}, {combinations} of answers"
    lines = [asked, *scaled_in_words(estimate.survey), "", *_rows(estimate)]
    return "\n".join([*lines, "", MEANING, "", estimate.verdict, what_to_do(estimate)])


def scaled_in_words(survey: Survey) -> list[str]:
    """What was done to frequencies that do not sum to 1; nothing where all do."""
    given = ", ".join(f"{name} (sum {total:.10g})" for name, total in survey.scaled.items())
    return [f"frequencies divided by their sum: {given}"] if given else []


def _rows(estimate: SurveyEstimate) -> list[str]:
    rows = [("expected, if people answer as the frequencies say", estimate.expected.singles)]
    if estimate.simulation is not None:
        rows.append((f"in {estimate.simulation.runs:,} simulated surveys, on average", estimate.simulation.singles))
    worst = "at worst, with these frequencies" if estimate.worst_case.exact else "at worst no more than"
    rows.append((worst, estimate.worst_case.singles))
    published = [
        ("OR, the ORWELL coefficient", estimate.OR),
        ("FG, degrees of freedom", estimate.FG),
        ("RT, truncated margins", estimate.RT),
        ("RR, rounded margins", estimate.RR),
    ]
    rows += [(text, figure.singles) for text, figure in published if figure is not None]
    shown = [(text, _number(singles), _percent(singles, estimate.people)) for text, singles in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(2)]
    head = f"{'people alone with their answers':{widths[0]}}  {'how many':>{max(8, widths[1])}}  of all"
    return [head, *(f"{text:{widths[0]}}  {many:>{max(8, widths[1])}}  {share:>6}" for text, many, share in shown)]


def what_to_do(estimate: SurveyEstimate) -> str:
    """The next step."""
    if estimate.worst_case.singles / estimate.people * 100 <= FEW:
        return "What to do: nothing has to be changed for this reason."
    return (
        "What to do: decide which percentage is acceptable, and let `kohorte survey plan SURVEY.yaml --percent P`\n"
        "propose which categories to merge, or how many people to ask."
    )


def proposals_in_words(proposals: Sequence[SurveyProposal], *, percent: float, people: int, by: str) -> str:
    """A short list of what can be done."""
    goal = f"at most {percent:g} % of {_several(people, 'person')} alone with their answers, by {by}"
    if not proposals:
        return f"{goal}: nothing reaches that, no merging of categories and no number of people that was looked at"
    lines = [f"{goal}; the least loss first", ""]
    for number, proposal in enumerate(proposals, start=1):
        lines.append(f"{number}. {proposal.in_words}")
        lines.append(f"   {_loss(proposal)}; {_reached(proposal)}")
    if not all(proposal.proven for proposal in proposals):
        lines += ["", "There are too many combinations to look at all of them; a slightly better one may exist."]
    return "\n".join(lines)


def _reached(proposal: SurveyProposal) -> str:
    reached = f"{proposal.by} {proposal.deanonymizable_percent:.1f} %"
    expected = proposal.figures["expected"]
    if proposal.by == "expected" or expected is None:
        return reached
    return f"{reached}, expected {expected.deanonymizable_percent:.1f} %"


def _loss(proposal: SurveyProposal) -> str:
    if not proposal.lost_bits:
        return "no information is lost"
    return f"{proposal.lost_share:.1%} of the information is lost ({proposal.lost_bits:.2f} bits)"


def _several(count: int, what: str) -> str:
    plural = "people" if what == "person" else f"{what}s"
    return f"{count:,} {what if count == 1 else plural}"


def _number(singles: float) -> str:
    return f"{singles:,.0f}" if singles >= 1000 or singles == int(singles) else f"{singles:.2f}"


def _percent(singles: float, people: int) -> str:
    return f"{min(singles / people, 1) * 100:.1f} %"
