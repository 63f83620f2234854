"""The charts of a tradeoff: cost, and shares of suppressed rows and of risk, over one setting; errors over epsilon."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kohorte.languages import Language
from kohorte.pages import Drawing, Heading, Line, line_chart
from kohorte.tradeoff.noise import NoiseCurve

if TYPE_CHECKING:
    from kohorte.tradeoff.curves import Curve, Setting, Tradeoff

LOSS = "loss"


def drawings(found: Tradeoff, curve: Curve, language: Language) -> list[Drawing]:
    """Return the charts of one curve; none if fewer than two settings have a release."""
    if len(curve.released) < 2:
        return []
    return [_cost(found, curve, language), _shares(found, curve, language)]


def value_in_words(curve: Curve, setting: Setting, language: Language) -> str:
    """The value of a setting: a whole number, or a percentage."""
    if curve.name == "k":
        return language.number(int(setting.value))
    return f"{language.number(round(100 * setting.value, 6))}\u00a0%"


def cost_in_words(found: Tradeoff, value: float, language: Language) -> str:
    """A cost: a percentage if the metric is a share of lost detail."""
    return language.percent(value) if found.plan.metric.name == LOSS else language.number(value, 3)


def _cost(found: Tradeoff, curve: Curve, language: Language) -> Drawing:
    is_loss = found.plan.metric.name == LOSS
    what = language.gettext("information lost") if is_loss else found.plan.metric.name
    caption = language.gettext(
        "Less is better. Each point is the best release with this value; the values are listed below."
    )
    line = Line(what, tuple(_points(curve, lambda one: one.cost)))
    return line_chart(
        Heading(f"{curve.name}-cost", _title(curve, language), caption),
        [line],
        axes=(_axis(curve, language), what),
        shown=lambda value: cost_in_words(found, value, language),
        places=_places(curve, language),
    )


def _shares(found: Tradeoff, curve: Curve, language: Language) -> Drawing:
    suppressed = Line(
        language.gettext("suppressed rows"),
        tuple(_points(curve, lambda one: (one.suppressed or 0) / max(1, found.rows))),
    )
    risk = Line(language.gettext("highest risk"), tuple(_points(curve, lambda one: one.highest_risk)))
    caption = language.gettext(
        "Suppressed rows as a share of all rows, and the largest chance that a person is found among those who look "
        "the same."
    )
    return line_chart(
        Heading(f"{curve.name}-shares", _title_of_shares(curve, language), caption),
        [suppressed, risk],
        axes=(_axis(curve, language), language.gettext("share")),
        shown=language.percent,
        places=_places(curve, language),
    )


def noise_drawing(noise: NoiseCurve, language: Language) -> Drawing:
    """Return the chart of the expected error over epsilon."""
    lines = [
        Line(
            language.gettext("count of %(number)s") % {"number": language.number(group)},
            tuple((float(at), noise.relative(one, group)) for at, one in enumerate(noise.settings)),
        )
        for group in noise.groups
    ]
    caption = language.gettext(
        "19 of 20 answers are off by no more than this share of the true count. 100 % also stands for errors that are "
        "larger than the count."
    )
    return line_chart(
        Heading("noise", language.gettext("Error of a noisy count over epsilon"), caption),
        lines,
        axes=("epsilon", language.gettext("error")),
        shown=language.percent,
        highest=1.0,
        places=[language.number(one.epsilon) for one in noise.settings],
    )


def _points(curve: Curve, figure: Callable[[Setting], float | None]) -> list[tuple[float, float]]:
    numbered = ((float(place), figure(one)) for place, one in enumerate(curve.settings) if one.released)
    return [(place, value) for place, value in numbered if value is not None]


def _places(curve: Curve, language: Language) -> list[str]:
    named = ((value_in_words(curve, one, language), one.own) for one in curve.settings)
    return [language.gettext("%(value)s (plan)") % {"value": value} if own else value for value, own in named]


def _axis(curve: Curve, language: Language) -> str:
    return "k" if curve.name == "k" else language.gettext("suppression limit")


def _title(curve: Curve, language: Language) -> str:
    if curve.name == "k":
        return language.gettext("What k costs")
    return language.gettext("What the suppression limit saves")


def _title_of_shares(curve: Curve, language: Language) -> str:
    if curve.name == "k":
        return language.gettext("Suppressed rows and risk over k")
    return language.gettext("Suppressed rows and risk over the suppression limit")
