"""The verdict: one word, one or two sentences, what they mean, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kohorte.data import Role
from kohorte.in_words import count, listed, percent
from kohorte.languages import Kept, translatable
from kohorte.models.words import with_parameters
from kohorte.plans.seeming_identifiers import SEEMS
from kohorte.release.telling.loss_words import lost_by_name, lost_publicly
from kohorte.release.telling.values.common_values import EVERYBODY, demand_diversity
from kohorte.release.telling.verdict import Standing, Verdict, judge
from kohorte.report.facts import Facts

MOST_NAMES = 8
ROUNDING = 1e-9
LEFT = "lower suppression_limit in the plan, or remove the suppressed rows before the table is passed on"
WORDS = {
    Standing.GREEN: "\u2713 Meets the plan",
    Standing.AMBER: "! Meets the plan, but look closer",
    Standing.RED: "\u2717 Does not meet the plan",
}
STYLES = {Standing.GREEN: "good", Standing.AMBER: "fair", Standing.RED: "bad"}
"""The class of the page's style."""


@dataclass(frozen=True)
class ReportVerdict:
    """The verdict on the judged table, in plain words; `open_points` are the reasons why it is not green."""

    standing: Standing
    sentences: tuple[str, ...]
    open_points: tuple[str, ...]
    meaning: tuple[str, ...]
    next_steps: tuple[str, ...]

    @property
    def word(self) -> str:
        """The verdict in a few words."""
        return WORDS[self.standing]

    @property
    def style(self) -> str:
        """The class of the page's style."""
        return STYLES[self.standing]


def verdict(facts: Facts) -> ReportVerdict:
    """Assess the table that would be passed on."""
    standing = judged(facts).standing
    return ReportVerdict(
        standing,
        _sentences(facts),
        () if standing is Standing.RED else _open_points(facts),
        _meaning(facts),
        _next_steps(facts, standing),
    )


def judged(facts: Facts) -> Verdict:
    """Return the verdict with its reasons alone: what fails, or what is open."""
    return judge(facts.verification, _open_points(facts), failures=_failures(facts))


def _failures(facts: Facts) -> list[str]:
    """Why the verdict is red, besides the models."""
    weighted = facts.judged.profile.weighted
    return ["the risk is above the limit of the policy"] if weighted and weighted.within_limit is False else []


def _open_points(facts: Facts) -> tuple[str, ...]:
    """Why the verdict is amber: the warnings that the command and the certificate have, and what the risk adds."""
    above = facts.judged.profile.attackers.prosecutor.above_threshold
    found = _with_rounded_people(facts)
    if facts.judged.profile.people_not_counted:
        found.append("the figures of risk in this report count rows, not people")
    if above:
        found.append(f"the risk of some {facts.unit.many} is above the threshold of {percent(facts.threshold)}")
    if facts.suspected_problems > len([one for one in found if SEEMS in one]):
        found.append("a column seems to name people and is not treated as identifying")
    if facts.known_values and not any(one.startswith(EVERYBODY) for one in found):
        assert facts.homogeneity is not None
        found.append(f"a sensitive value of some {facts.homogeneity.unit} is known without finding the row")
    return tuple(found)


def _with_rounded_people(facts: Facts) -> list[str]:
    """The open points that the command and the certificate name; for the public without the numbers of few people."""
    attack = facts.one_person
    if attack is None or not attack.people_hurt:
        return list(facts.warnings)
    told = attack.in_words if facts.internal else attack.in_public_words
    return list(dict.fromkeys((*(told if one == attack.in_public_words else one for one in facts.warnings), told)))


def subject(facts: Facts) -> str:
    """What the verdict is about."""
    return "The release" if facts.after is not None else "The table"


def _sentences(facts: Facts) -> tuple[str, ...]:
    profile, kept = facts.judged.profile, facts.judged.kept
    attackers = profile.attackers
    above = attackers.prosecutor.above_threshold
    said = [_models(facts)]
    if not kept:
        return (
            *said,
            "Every row is suppressed: nobody can be found by the quasi-identifiers, and little can be learnt.",
        )
    if facts.known_values:
        said.append(_known_values(facts))
    many = facts.figures.of_all(above, kept)
    said.append(
        f"{facts.words.highest} {facts.figures.highest(attackers.prosecutor.highest_risk)}; {many} "
        f"{'is' if _single(many) else 'are'} above the threshold of {percent(attackers.threshold)}."
    )
    said += _lost_sentences(facts)
    weighted = profile.weighted
    if weighted is not None:
        limit = ""
        if weighted.limit is not None:
            side = translatable("within") if weighted.within_limit else translatable("ABOVE")
            limit = f", {side} its limit of {percent(weighted.limit)}"
        said.append(f"The risk weighted by the policy is {facts.figures.share(weighted.risk, kept)}{limit}.")
    return tuple(said)


def lost_values(facts: Facts) -> list[str]:
    """What no longer appears: by name in the internal view alone, where values stay as they are in every language."""
    losses = facts.losses or ()
    if not facts.internal:
        return [f"{one}." for one in lost_publicly(losses)]
    return [Kept(f"{one}.") for one in lost_by_name(losses, facts.told)]


def _lost_sentences(facts: Facts) -> list[str]:
    if not facts.internal:
        return [f"Lost: {one}" for one in lost_values(facts)]
    return [Kept(f"{facts.told('Lost:')} {one}") for one in lost_values(facts)]


def _single(rows: str) -> bool:
    return rows.startswith(("none ", "1 of "))


def _models(facts: Facts) -> str:
    found = facts.verification
    if found is None:
        return f"Whether the models of the plan hold could not be checked: {facts.unverified}."
    failing = [model.model_in_words for model in found.models if not model.satisfied]
    if failing:
        return f"{subject(facts)} does not satisfy {', '.join(failing)}."
    if not found.satisfied:
        return f"{subject(facts)} satisfies the models, but breaks other rules of the plan ({len(found.problems)})."
    judged = ["counted in rows and not in people"] if any(model.by_rows for model in found.models) else []
    judged += ["in rows that are not suppressed"] if found.suppressed else []
    figures = facts.model_figures
    models = "; ".join(
        f"{with_parameters(model.name, model.parameters)}, reached {figures.reached(model, facts.everyone_judged)}"
        for model in found.models
    )
    if judged:
        return f"{subject(facts)} satisfies, {', '.join(judged)}, {models}."
    return f"{subject(facts)} satisfies {models}."


def _meaning(facts: Facts) -> tuple[str, ...]:
    profile = facts.judged.profile
    names = _some(profile.quasi_identifiers)
    said = []
    if profile.smallest_class is not None:
        finds = _finds(facts, profile.smallest_class)
        said.append(f"{facts.words.looks_for} ({names}) and looks for them in the table {finds}.")
    if profile.suppressed:
        said.append(
            f"{count(profile.suppressed, 'row')} of {count(profile.rows)} "
            f"{'is' if profile.suppressed == 1 else 'are'} suppressed: nothing is shown of their quasi-identifiers. No "
            "figure of risk counts them; the charts of values show them as a part of their own."
        )
    if facts.homogeneity is not None and not facts.known_values:
        said.append(_known_values(facts))
    said.append("All of this is about the columns that the plan calls quasi-identifying, and about this table alone.")
    return tuple(said)


def _finds(facts: Facts, smallest: int) -> str:
    """What an attacker finds who looks for a person in the smallest class."""
    if smallest == 1:
        alone = facts.figures.part(facts.judged.profile.uniqueness.sample_uniques, facts.judged.kept)
        return f"can find that person: {alone} of the {facts.unit.many} {facts.words.unique}"
    hidden = not facts.figures.exact and smallest < facts.least
    if hidden:
        return f"finds in the {facts.words.smallest} {facts.figures.size(smallest)} {facts.words.fits}"
    return f"finds at least {facts.figures.size(smallest)} {facts.words.fits}"


def _some(names: Sequence[str]) -> str:
    """The names, or the first of them if there are many."""
    if len(names) <= MOST_NAMES + 1:
        return ", ".join(names)
    return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} others"


def _known_values(facts: Facts) -> str:
    attack = facts.homogeneity
    assert attack is not None
    names = ", ".join(name for name in facts.plan.names(Role.SENSITIVE) if name in facts.judged.frame.columns)
    if not attack.hurt:
        return (
            f"No person's sensitive value ({names}) is known only because all {attack.unit} that look alike share "
            f"it{facts.not_suppressed}."
        )
    return (
        f"A sensitive value ({names}) of {facts.figures.hurt(attack)} is known without finding the row, because all "
        f"{attack.unit} that look alike share it (homogeneity attack)."
    )


def _next_steps(facts: Facts, standing: Standing) -> tuple[str, ...]:
    said = []
    if facts.suspected_problems:
        where = "they are listed below" if facts.internal else "the internal view lists them"
        said.append(
            f"Columns that seem to name people and are not treated as identifying: {facts.suspected_problems} "
            f"({where}). Look at them before anything is passed on."
        )
    if standing is Standing.RED:
        said.append("Do not pass this table on.")
        if facts.after is None:
            said.append("Make a release with kohorte anonymize and this plan, and read the report of the release.")
        else:
            said.append("Make the release again with this plan; it may have been changed, or made with another plan.")
    elif facts.judged.profile.attackers.prosecutor.above_threshold:
        said.append(_against_risk(facts))
    if standing is not Standing.RED:
        said.append(
            "Before it is passed on, people have to judge what no program knows: whether the roles of the columns are "
            "right, who will read it, and which other tables about the same people have been released."
        )
    elif facts.made is not None:
        said += [f"Think about this: {warning}." for warning in _with_rounded_people(facts)]
    return (*said, *_against_known_values(facts, standing))


def _against_risk(facts: Facts) -> str:
    """What to do about a risk above the threshold; k is raised only if the plan asks for less than the threshold."""
    needed = math.ceil(1 / facts.threshold - ROUNDING)
    if facts.plan.smallest_class < needed:
        return (
            f"Raise k in the plan to at least {needed:,}, or decide and write down why the risk above the threshold is "
            "acceptable."
        )
    return "Decide and write down why the risk above the threshold is acceptable."


def _against_known_values(facts: Facts, standing: Standing) -> Iterator[str]:
    """What to do about sensitive values that are known: the models that the plan lacks, never those that it has."""
    if facts.homogeneity is None or not facts.known_values:
        return
    known = facts.homogeneity.facts["attributes"]
    assert isinstance(known, Sequence)
    hurt = [str(entry["attribute"]) for entry in known if entry["classes"]]
    has = [name for name in hurt if demand_diversity(facts.plan.judging_models, name)]
    suppressed = (
        facts.verification is not None
        and bool(facts.homogeneity.facts["suppressed_rows_as_class"])
        and standing is not Standing.RED
    )
    if lacks := [name for name in hurt if name not in has]:
        names = listed([repr(name) for name in lacks])
        yield f"Against known sensitive values, add to the plan: l-diversity (l of at least 2) for {names}."
        if suppressed:
            yield f"No model judges suppressed rows, which look alike. If the values that are known are theirs: {LEFT}."
    if has and suppressed:
        yield (
            f"The plan already has a model against known values of {listed([repr(name) for name in has])}, and all "
            "classes satisfy it. The values that are known are those of suppressed rows, which look alike and which no "
            f"model judges: {LEFT}."
        )
