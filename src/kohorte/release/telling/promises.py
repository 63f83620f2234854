"""What a certificate says the models of a plan promise and leave open, in the unit that they count."""

from __future__ import annotations

from collections.abc import Sequence

from kohorte.models import PrivacyModel
from kohorte.models.words import model_in_words, section_of
from kohorte.plans.plan import Plan

COUNTED_IN_PEOPLE = "The models count different people, not rows; a person counts once for each sensitive value."
BY_SETS = (
    "A person who knows all rows of somebody: the models also hold for the groups of people whose rows fall into the "
    "same set of classes."
)
ONE_ROW = (
    "A person who knows more than one row of somebody (attacker_knows: one_row): all classes of that person's rows "
    "together can be unique although each has enough people."
)
EVERY_ROW_A_PERSON = (
    "that every row is another person is stated by the author of the plan (person: none); the program did not prove it"
)

COUNTED_AS_WRITTEN = (
    "that identifiers which differ in little (spelling, leading zeros, punctuation, a suffix) count people rightly is "
    "stated by the author of the plan (counted_because); the program did not prove it"
)


def protects_against(plan: Plan) -> list[str]:
    """What the models of a plan guarantee, in their own words."""
    found = [sentence for model in plan.judging_models for sentence in _promise(model, plan)]
    if not plan.unit.counts_people:
        return found
    return [COUNTED_IN_PEOPLE, *found, *([BY_SETS] if plan.unit.judges_sets else [])]


def leaves_open(plan: Plan) -> list[str]:
    """What the models of a plan do not protect against, in their own words."""
    models = promising(plan) or plan.judging_models
    found = [sentence for model in models for sentence in _section(model, "Leaves open", plan)]
    one_row = plan.unit.counts_people and not plan.unit.judges_sets
    return [*found, ONE_ROW] if one_row else found


def promising(plan: Plan) -> tuple[PrivacyModel, ...]:
    """The models that a release must satisfy and that not every table satisfies."""
    return tuple(model for model in plan.judging_models if not model.promises_nothing)


def plan_notes(plan: Plan) -> list[str]:
    """What a reader of the release should know, and what is no open point."""
    found = [
        f"{model_in_words(model)} was added to the models of the plan: where people are counted, a class of one person "
        "is never released"
        for model in plan.judging_models[len(plan.models) :]
    ]
    if plan.unit.is_stated and not plan.unit.counts_people:
        found.append(EVERY_ROW_A_PERSON)
    if plan.person is not None and plan.person.counted_because:
        found.append(COUNTED_AS_WRITTEN)
    if plan.decorrelate is not None:
        found.append(
            f"{', '.join(map(repr, plan.decorrelated_attributes))}: suppressed in most rows, chosen by chance, so that "
            f"they tell little about {plan.decorrelate.attribute!r}"
        )
    return found


def _promise(model: PrivacyModel, plan: Plan) -> Sequence[str]:
    if model.promises_nothing:
        return (f"{model_in_words(model)}: nothing, because every table satisfies it.",)
    return _section(model, "Guarantee", plan)


def _section(model: PrivacyModel, title: str, plan: Plan) -> Sequence[str]:
    """Return a section of the model's docstring as one sentence that starts with the model and its parameters.

    Where people are counted, a section of this title "for people" comes first.
    """
    docstring = type(model).__doc__
    for_people = section_of(docstring, f"{title} for people") if plan.unit.counts_people else ""
    found = for_people or section_of(docstring, title)
    return (f"{model_in_words(model)}: {found}",) if found else ()
