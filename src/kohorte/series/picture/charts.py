"""What changes from release to release, as lines."""

from __future__ import annotations

from collections.abc import Callable

from kohorte.in_words import count, number, percent
from kohorte.languages import ENGLISH, Language
from kohorte.pages import Drawing, Heading, Line, line_chart
from kohorte.series.picture.story import Story

MOST_DISTANCES = 30
"""Of how many releases the distance to the target is measured."""


def over_time(story: Story, language: Language = ENGLISH) -> list[Drawing]:
    """All charts, in a language."""
    drawn = [loss_chart(story, language), rows_chart(story, language), regions_chart(story, language)]
    return drawn if story.definition.target is None else [*drawn, target_chart(story, language)]


def loss_chart(story: Story, language: Language = ENGLISH) -> Drawing:
    """How much the cells leave open."""
    heading = Heading(
        "loss",
        language.gettext("Information over time"),
        language.gettext(
            "The share of its domain that a cell leaves open, in the mean over all cells: 0 % would be exact values. A "
            "row that is held back counts 100 %. Less is better."
        ),
    )
    line = Line(language.gettext("loss"), tuple((chapter.number, chapter.loss) for chapter in story.chapters))
    return line_chart(
        heading, [line], axes=(language.gettext("release"), language.gettext("loss")), shown=_shares(language)
    )


def rows_chart(story: Story, language: Language = ENGLISH) -> Drawing:
    """How many rows are shown and held back; few are not told exactly."""
    least = story.least
    untold = least - 0.5
    caption = language.gettext(
        "Rows are held back as long as their region does not satisfy the models. Fewer than %(least)s are drawn at "
        "%(least)s and not told exactly."
    )
    heading = Heading(
        "rows", language.gettext("Rows shown and held back"), caption % {"least": _counted(least, language)}
    )

    def shown(value: float) -> str:
        if value == untold:
            return language.gettext("fewer than %(least)s") % {"least": _counted(least, language)}
        return number(value) if language is ENGLISH else language.number(value)

    lines = [
        Line(language.gettext("shown"), tuple((one.number, one.shown) for one in story.chapters)),
        Line(
            language.gettext("held back"),
            tuple((one.number, untold if 0 < one.held < least else one.held) for one in story.chapters),
        ),
    ]
    return line_chart(heading, lines, axes=(language.gettext("release"), language.gettext("rows")), shown=shown)


def regions_chart(story: Story, language: Language = ENGLISH) -> Drawing:
    """How many regions there are."""
    heading = Heading(
        "regions",
        language.gettext("Regions over time"),
        language.gettext("Regions are only ever split, never merged or moved."),
    )
    line = Line(language.gettext("regions"), tuple((chapter.number, chapter.count) for chapter in story.chapters))
    shown = number if language is ENGLISH else language.number
    return line_chart(heading, [line], axes=(language.gettext("release"), language.gettext("regions")), shown=shown)


def target_chart(story: Story, language: Language = ENGLISH) -> Drawing:
    """How much of the target is reached, and what cuts through it have cost."""
    heading = Heading(
        "target",
        language.gettext("Distance to the target"),
        language.gettext(
            "Reached: the share of the target's regions that are told apart from all others; there, splits go on by "
            "what they tell. Deviation: the share of the target's size that cuts through its other regions have cost."
        ),
    )
    found = story.distances(MOST_DISTANCES)
    lines = [
        Line(language.gettext("reached"), tuple((at, distance.reached) for at, distance in found)),
        Line(language.gettext("deviation"), tuple((at, distance.deviation) for at, distance in found)),
    ]
    axes = (language.gettext("release"), language.gettext("share of the target"))
    return line_chart(heading, lines, axes=axes, shown=_shares(language))


def _shares(language: Language) -> Callable[[float], str]:
    return percent if language is ENGLISH else language.percent


def _counted(amount: int, language: Language) -> str:
    return count(amount) if language is ENGLISH else language.number(amount)
