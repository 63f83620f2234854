"""Estimates and proposals in words, for people who plan surveys and are not experts."""

from __future__ import annotations

from collections.abc import Sequence

from kohorte.in_words import count, listed, number
from kohorte.in_words import percent as in_percent
from kohorte.survey.estimators.best_case import BestCase
from kohorte.survey.estimators.estimate import Coefficient, SurveyEstimate
from kohorte.survey.estimators.judgements import COEFFICIENTS, DEFAULT_JUDGE, is_coefficient, judge_in_words
from kohorte.survey.estimators.standing import FEW
from kohorte.survey.estimators.worst_case import WorstCase
from kohorte.survey.planning.proposal import SurveyProposal
from kohorte.survey.questionnaire.survey import Survey

MEANING = """\
A person who is the only one with a combination of answers can be recognized by anyone who knows these answers. All
other answers of that person are then known, too."""

EXTREMES = """\
At worst and at best: the most and the fewest people alone in any survey in which each answer is exactly as frequent as
given, however the answers are combined. By chance, answers are more or less frequent, and so the expected number counts
where it is larger than the most or smaller than the fewest. A single survey can still have more or fewer."""

COEFFICIENT = """\
A coefficient counts combinations of answers, not people, and can exceed the number of people. DA is the coefficient per
person, at most 100 %, as published; it is not a probability."""


TINY = 0.0001
FIRST = 49
"""The width of the first column, the same in both tables."""


def estimate_in_words(estimate: SurveyEstimate) -> str:
    """All figures of an estimate, their meaning, and what to do."""
    questions = _several(len(estimate.survey.questions), "question")
    combinations = _several(estimate.cells, "combination")
    asked = f"{_several(estimate.people, 'person')}, {questions}, {combinations} of answers"
    lines = [asked, *scaled_in_words(estimate.survey), "", *_people(estimate), "", *_coefficients(estimate)]
    return "\n".join([*lines, "", MEANING, EXTREMES, COEFFICIENT, "", estimate.verdict, what_to_do(estimate)])


def scaled_in_words(survey: Survey) -> list[str]:
    """The frequencies that were divided by their sum; empty if all sum to 1."""
    given = ", ".join(f"{name} (sum {total:.10g})" for name, total in survey.scaled.items())
    return [f"frequencies divided by their sum: {given}"] if given else []


def _people(estimate: SurveyEstimate) -> list[str]:
    """The numbers of people, none of them larger than the number of people asked."""
    rows = [("expected, if people answer as the frequencies say", estimate.expected.singles)]
    if estimate.simulation is not None:
        rows.append(
            (f"in {count(estimate.simulation.runs)} simulated surveys, on average", estimate.simulation.singles)
        )
    rows += [(_at_worst(estimate.worst_case), estimate.worst_case.singles)]
    rows += [(_at_best(estimate.best_case), estimate.best_case.singles)]
    shown = [(text, number(singles), _percent(singles, estimate.people)) for text, singles in rows]
    return _aligned([("people alone with their answers", "how many", "of all"), *shown])


def _at_worst(worst: WorstCase) -> str:
    if worst.most < worst.expected:
        return f"at worst, by chance ({_exactly(worst.most)})"
    return (
        "at worst, with exactly these frequencies" if worst.exact else "at worst no more than, with these frequencies"
    )


def _at_best(best: BestCase) -> str:
    if best.fewest > best.expected:
        return f"at best, by chance ({_exactly(best.fewest)})"
    return "at best, with exactly these frequencies" if best.exact else "at best no fewer than, with these frequencies"


def _exactly(singles: int) -> str:
    return f"{count(singles)} with exact frequencies"


def _coefficients(estimate: SurveyEstimate) -> list[str]:
    figures = {name: estimate.figures[name] for name in COEFFICIENTS}
    shown = [
        (f"{name}, {COEFFICIENTS[name]}", number(figure.value), in_percent(figure.deanonymizable_percent / 100))
        for name, figure in figures.items()
        if isinstance(figure, Coefficient)
    ]
    return _aligned([("published coefficients (combinations of answers)", "value", "DA"), *shown])


def _aligned(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    widths = [max(FIRST, *(len(row[0]) for row in rows)), max(len("how many"), *(len(row[1]) for row in rows))]
    return [f"{text:{widths[0]}}  {many:>{widths[1]}}  {share:>6}" for text, many, share in rows]


def what_to_do(estimate: SurveyEstimate) -> str:
    """The next step."""
    if estimate.worst_case.singles / estimate.people * 100 <= FEW:
        return "What to do: no change is needed for this reason."
    by = "" if estimate.by == DEFAULT_JUDGE else f" --by {estimate.by}"
    return (
        "What to do: decide which percentage is acceptable, and let "
        f"`kohorte survey plan SURVEY.yaml --percent P{by}`\n"
        "propose which categories to merge, or how many people to ask."
    )


def proposals_in_words(
    proposals: Sequence[SurveyProposal], *, percent: float, people: int, by: str, forbidding: Sequence[str] = ()
) -> str:
    """A short list of possible changes; `forbidding` are the questions because of which none of them merges."""
    goal = _goal(percent, people, by)
    forbidden = [] if not forbidding else [f"No merge reaches that: merging is forbidden in {listed(forbidding)}."]
    if not proposals:
        nothing = "neither merging categories nor any number of people that was examined reaches that"
        return "\n".join([f"{goal}: {nothing}", *forbidden])
    lines = [f"{goal}; the least loss first", ""]
    for position, proposal in enumerate(proposals, start=1):
        lines.append(f"{position}. {proposal.in_words}")
        lines.append(f"   {_loss(proposal)}; {_reached(proposal)}")
    if not all(proposal.proven for proposal in proposals):
        lines += ["", "There are too many combinations to examine all of them; a slightly better one may exist."]
    return "\n".join([*lines, *(["", *forbidden] if forbidden else [])])


def _goal(percent: float, people: int, by: str) -> str:
    share, asked = in_percent(percent / 100), _several(people, "person")
    if is_coefficient(by):
        return f"DA by {judge_in_words(by)}, which is not a number of people, at most {share} with {asked}"
    return f"at most {share} of {asked} alone with their answers, judged by {judge_in_words(by)}"


def _reached(proposal: SurveyProposal) -> str:
    name = f"DA by {proposal.by}" if is_coefficient(proposal.by) else proposal.by
    reached = f"{name} {_share(proposal.deanonymizable_percent)}"
    expected = proposal.figures["expected"]
    if proposal.by == "expected" or expected is None:
        return reached
    return f"{reached}, expected {_share(expected.deanonymizable_percent)}"


def _loss(proposal: SurveyProposal) -> str:
    if not proposal.lost_bits:
        return "no information is lost"
    return f"{in_percent(proposal.lost_share)} of the information is lost ({number(proposal.lost_bits)} bits)"


def _several(number_of: int, what: str) -> str:
    return count(number_of, what, "people" if what == "person" else "")


def _percent(singles: float, people: int) -> str:
    return _share(100 * min(singles / people, 1))


def _share(percent: float) -> str:
    """A percentage; one that is tiny is not written with twenty zeros."""
    return f"below {TINY} %" if 0 < percent < TINY else in_percent(percent / 100)
