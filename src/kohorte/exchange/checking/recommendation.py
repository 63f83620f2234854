"""Step 8: what the house is recommended to do, with reasons in figures and plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kohorte.exchange.checking.drafting import Draft, NoDraft
from kohorte.exchange.checking.global_look import GlobalLook
from kohorte.exchange.checking.local_look import LocalLook
from kohorte.exchange.checking.verdicts import Treatment, Verdict
from kohorte.in_words import count, number, percent


class Advice(StrEnum):
    """The three recommendations."""

    RELEASE = "release"
    WITH_CHANGES = "release with changes"
    DO_NOT = "do not release"


@dataclass(frozen=True)
class Recommendation:
    """The advice and its reasons, for the people of the house."""

    advice: Advice
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The recommendation as plain data."""
        return {"recommendation": str(self.advice), "reasons": list(self.reasons)}


def recommend(
    look: GlobalLook,
    local: LocalLook,
    verdicts: Sequence[Verdict],
    draft: Draft | NoDraft,
    blocked: Sequence[str] = (),
) -> Recommendation:
    """Recommend what to do; `blocked` says why the condition is never answered, if it is not."""
    reasons = [_base_set(look, local), *_selected(look), *_rough(look), *blocked]
    reasons += [f"compared with earlier answers: {finding.in_words}" for finding in draft.findings]
    if isinstance(draft, NoDraft):
        return Recommendation(Advice.DO_NOT, (*reasons, *_verdicts(verdicts), draft.reason))
    reasons += [*_verdicts(verdicts), *_changes(local, draft)]
    same = all(one.treatment is Treatment.PASS for one in verdicts) and draft.rows.count == local.people
    return Recommendation(Advice.RELEASE if same else Advice.WITH_CHANGES, tuple(reasons))


def _base_set(look: GlobalLook, local: LocalLook) -> str:
    share = look.condition_share
    world = "the statistics do not know how rare the condition is" if share is None else _rarity(share)
    have = count(local.people, "person satisfies", "people satisfy")
    enough = "enough" if local.people >= look.needed else "too few"
    return f"{world}; {have} it here, {count(look.needed)} are needed: {enough}"


def _selected(look: GlobalLook) -> list[str]:
    share, asked = look.selected_share, look.condition_share
    if not share or (asked is not None and share >= asked):
        return []
    return [
        f"the people whom it selects here have values that about 1 in {number(1 / share, 2)} people of the world has"
    ]


def _rough(look: GlobalLook) -> list[str]:
    if not look.rough:
        return []
    return [
        f"the figures of {', '.join(look.rough)} are the small set that comes with Kohorte, rounded, of several "
        "countries and partly estimates, not for decisions; import figures of your country, then check again"
    ]


def _rarity(share: float) -> str:
    if share >= 0.01:
        return f"{percent(share, 2)} of the world satisfy the condition"
    return f"about 1 in {number(1 / share, 2)} people of the world satisfies the condition"


def _verdicts(verdicts: Sequence[Verdict]) -> list[str]:
    return [f"{one.attribute}: {one.treatment}; {'; '.join(one.reasons)}" for one in verdicts if one.reasons]


def _changes(local: LocalLook, draft: Draft) -> list[str]:
    reasons = []
    if lost := local.people - draft.rows.count:
        reasons.append(f"{count(lost, 'person is', 'people are')} left out, so that nobody stands out")
    if draft.fewest_expected is not None:
        reasons.append(
            f"at least {count(draft.fewest_expected, 'person', 'people')} of the area are expected to have each "
            "combination that is shown"
        )
    return reasons
