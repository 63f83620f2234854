"""`kohorte survey`: how many people could be recognized by their answers, before the survey takes place."""

from __future__ import annotations

import argparse
from pathlib import Path

from kohorte.cli.output import print_json
from kohorte.cli.progress import TerminalProgress, add_quiet_option
from kohorte.errors import InputError
from kohorte.in_words import count
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from kohorte.survey import Survey, SurveyEstimate, SurveyProposal

EPILOG = """\
examples:
  kohorte survey estimate survey.yaml
  kohorte survey estimate survey.yaml --people 100,500,2000
  kohorte survey estimate survey.yaml --plot risk.svg          the risk over the number of people (or .html)
  kohorte survey plan survey.yaml --percent 5
  kohorte survey plan survey.yaml --percent 5 --people 2000 --by worst

survey.yaml:
  people: 500
  questions:
    sex:    {categories: {female: 0.5, male: 0.5}}
    school: {categories: [primary, secondary, tertiary]}          frequencies not known: all equal
    region: {categories: [north, south, east], ordered: false}    any two may be merged, not only neighbours
    income: {categories: [low, middle, high], merge: false}       never merged, never left out"""

BY = "the judgement: expected (default), worst, or a published coefficient: OR, FG, RT, RR"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the two actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    estimate = _action(actions, "estimate", "estimate how many people would be alone with their answers")
    estimate.add_argument(
        "--people", metavar="N[,N...]", help="how many people are asked, instead of what the file says"
    )
    estimate.add_argument(
        "--plot", metavar="OUT", help="also draw the percentages over the number of people (.svg or .html)"
    )
    estimate.add_argument("--force", action="store_true", help="replace an existing plot")
    plan = _action(actions, "plan", "propose merges of categories, or more people, that reach a percentage")
    plan.add_argument(
        "--percent",
        metavar="P",
        type=float,
        required=True,
        help="at most so many percent may be alone with their answers",
    )
    plan.add_argument("--people", metavar="N", help="how many people are asked, instead of what the file says")
    estimate.set_defaults(run=run_estimate)
    plan.set_defaults(run=run_plan)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text, description=text, epilog=EPILOG)
    parser.add_argument("survey", metavar="SURVEY", help="survey file (YAML)")
    parser.add_argument("--by", metavar="E", default="expected", help=BY)
    parser.add_argument(
        "--normalize", action="store_true", help="divide frequencies by their sum: rounded ones, percentages, counts"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    add_quiet_option(parser)
    return parser


def run_estimate(options: argparse.Namespace) -> int:
    """Estimate for one or several numbers of people."""
    plot = None if options.plot is None else Path(options.plot)
    with TerminalProgress.of(options) as progress:
        estimates = _estimates(options, plot, progress)
        from kohorte.survey.words import estimate_in_words

        answers = [estimate.to_dict() if options.json else estimate_in_words(estimate) for estimate in estimates]
    if options.json:
        print_json(answers[0] if len(answers) == 1 else {"estimates": answers})
    else:
        print("\n\n".join(map(str, answers)))
        if plot is not None:
            print(f"plot: {plot}")
    return 0


def _estimates(options: argparse.Namespace, plot: Path | None, progress: TerminalProgress) -> list[SurveyEstimate]:
    """The estimates; the plot is written."""
    progress.stage(Stage.READING, Path(options.survey).name)
    from kohorte.survey import Survey, estimate_survey
    from kohorte.survey.picture import refuse_plot, risk_over_people, write_plot

    if plot is not None:
        refuse_plot(plot, needed=(options.survey,), force=options.force)
    survey = Survey.from_yaml(options.survey, normalize=options.normalize)
    numbers = _numbers(options.people) or [survey.asked()]
    estimates = []
    for people in numbers:
        progress.stage(Stage.ESTIMATING, f"for {count(people, 'person', 'people')}")
        estimates.append(estimate_survey(survey, people, by=options.by))
        progress.stage(Stage.SEARCHING, f"for the worst and the best case of {count(people, 'person', 'people')}")
        _ = estimates[-1].worst_case, estimates[-1].best_case  # computed now, while the line says so
    if plot is not None:
        progress.stage(Stage.WRITING, plot.name)
        write_plot(risk_over_people(survey, numbers), plot, force=options.force)
    return estimates


def run_plan(options: argparse.Namespace) -> int:
    """Propose changes; exit code 1 if none reaches the percentage."""
    with TerminalProgress.of(options) as progress:
        survey, wanted, proposals, forbidding = _planned(options, progress)
        from kohorte.survey.words import proposals_in_words, scaled_in_words

    if options.json:
        print_json(
            {
                **wanted,
                "scaled": dict(survey.scaled),
                "merging_forbidden_in": list(forbidding),
                "proposals": [proposal.to_dict() for proposal in proposals],
            }
        )
    else:
        for line in scaled_in_words(survey):
            print(line)
        print(proposals_in_words(proposals, **wanted, forbidding=forbidding))
    return 0 if proposals else 1


def _planned(
    options: argparse.Namespace, progress: TerminalProgress
) -> tuple[Survey, dict[str, Any], Sequence[SurveyProposal], Sequence[str]]:
    """The survey, what is wanted, the proposals, and the questions because of which none of them merges."""
    progress.stage(Stage.READING, Path(options.survey).name)
    from kohorte.survey import Survey, merging_forbidden_in, plan_survey

    survey = Survey.from_yaml(options.survey, normalize=options.normalize)
    numbers = _numbers(options.people) or [survey.asked()]
    if len(numbers) > 1:
        raise InputError("--people: a plan is made for one number of people", code="survey-people")
    wanted = {"percent": options.percent, "people": numbers[0], "by": options.by}
    proposals = plan_survey(survey, **wanted, progress=progress)
    return survey, wanted, proposals, merging_forbidden_in(survey, proposals, **wanted)


def _numbers(text: str | None) -> list[int]:
    """The numbers of people of the option."""
    parts = [] if text is None else text.split(",")
    for part in parts:
        if not part.strip().isdecimal() or not int(part):
            raise InputError(
                "--people is a whole number of at least 1, or several with commas between them", code="survey-people"
            )
    return [int(part) for part in parts]
