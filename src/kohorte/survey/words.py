"""Estimates and proposals in words, for people who plan surveys and are not experts."""

from __future__ import annotations

from collections.abc import Sequence

from kohorte.in_words import count, number
from kohorte.in_words import percent as in_percent
from kohorte.survey.estimators.estimate import FEW, SurveyEstimate
from kohorte.survey.planning.proposal import SurveyProposal
from kohorte.survey.questionnaire.survey import Survey

MEANING = """\
A person who is the only one with a combination of answers can be recognized by anyone who knows these answers. All
other answers of that person are then known, too."""


def estimate_in_words(estimate: SurveyEstimate) -> str:
    """All figures of an estimate, their meaning, and what to do."""
    questions = _several(len(estimate.survey.questions), "question")
    combinations = _several(estimate.cells, "combination")
    asked = f"{_several(estimate.people, 'person')}, {questions}, {combinations} of answers"
    lines = [asked, *scaled_in_words(estimate.survey), "", *_rows(estimate)]
    return "\n".join([*lines, "", MEANING, "", estimate.verdict, what_to_do(estimate)])


def scaled_in_words(survey: Survey) -> list[str]:
    """The frequencies that were divided by their sum; empty if all sum to 1."""
    given = ", ".join(f"{name} (sum {total:.10g})" for name, total in survey.scaled.items())
    return [f"frequencies divided by their sum: {given}"] if given else []


def _rows(estimate: SurveyEstimate) -> list[str]:
    rows = [("expected, if people answer as the frequencies say", estimate.expected.singles)]
    if estimate.simulation is not None:
        rows.append(
            (f"in {count(estimate.simulation.runs)} simulated surveys, on average", estimate.simulation.singles)
        )
    worst = "at worst, with these frequencies" if estimate.worst_case.exact else "at worst no more than"
    rows.append((worst, estimate.worst_case.singles))
    published = [
        ("OR, the ORWELL coefficient", estimate.OR),
        ("FG, degrees of freedom", estimate.FG),
        ("RT, truncated margins", estimate.RT),
        ("RR, rounded margins", estimate.RR),
    ]
    rows += [(text, figure.singles) for text, figure in published if figure is not None]
    shown = [(text, number(singles), _percent(singles, estimate.people)) for text, singles in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(2)]
    head = f"{'people alone with their answers':{widths[0]}}  {'how many':>{max(8, widths[1])}}  of all"
    return [head, *(f"{text:{widths[0]}}  {many:>{max(8, widths[1])}}  {share:>6}" for text, many, share in shown)]


def what_to_do(estimate: SurveyEstimate) -> str:
    """The next step."""
    if estimate.worst_case.singles / estimate.people * 100 <= FEW:
        return "What to do: no change is needed for this reason."
    return (
        "What to do: decide which percentage is acceptable, and let `kohorte survey plan SURVEY.yaml --percent P`\n"
        "propose which categories to merge, or how many people to ask."
    )


def proposals_in_words(proposals: Sequence[SurveyProposal], *, percent: float, people: int, by: str) -> str:
    """A short list of possible changes."""
    goal = f"at most {in_percent(percent / 100)} of {_several(people, 'person')} alone with their answers, by {by}"
    if not proposals:
        return f"{goal}: neither merging categories nor any number of people that was examined reaches that"
    lines = [f"{goal}; the least loss first", ""]
    for position, proposal in enumerate(proposals, start=1):
        lines.append(f"{position}. {proposal.in_words}")
        lines.append(f"   {_loss(proposal)}; {_reached(proposal)}")
    if not all(proposal.proven for proposal in proposals):
        lines += ["", "There are too many combinations to examine all of them; a slightly better one may exist."]
    return "\n".join(lines)


def _reached(proposal: SurveyProposal) -> str:
    reached = f"{proposal.by} {in_percent(proposal.deanonymizable_percent / 100)}"
    expected = proposal.figures["expected"]
    if proposal.by == "expected" or expected is None:
        return reached
    return f"{reached}, expected {in_percent(expected.deanonymizable_percent / 100)}"


def _loss(proposal: SurveyProposal) -> str:
    if not proposal.lost_bits:
        return "no information is lost"
    return f"{in_percent(proposal.lost_share)} of the information is lost ({number(proposal.lost_bits)} bits)"


def _several(number_of: int, what: str) -> str:
    return count(number_of, what, "people" if what == "person" else "")


def _percent(singles: float, people: int) -> str:
    return in_percent(min(singles / people, 1))
