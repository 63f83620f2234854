"""What changes from release to release, as lines."""

from __future__ import annotations

from kohorte.in_words import count, number, percent
from kohorte.pages import Drawing, Heading, Line, line_chart
from kohorte.series.picture.story import Story

MOST_DISTANCES = 30
"""Of how many releases the distance to the target is measured."""


def over_time(story: Story) -> list[Drawing]:
    """All charts."""
    drawn = [loss_chart(story), rows_chart(story), regions_chart(story)]
    return drawn if story.definition.target is None else [*drawn, target_chart(story)]


def loss_chart(story: Story) -> Drawing:
    """How much the cells leave open."""
    heading = Heading(
        "loss",
        "Information over time",
        "The share of its domain that a cell leaves open, in the mean over all cells: 0 % would be exact values. A row "
        "that is held back counts 100 %. Less is better.",
    )
    line = Line("loss", tuple((chapter.number, chapter.loss) for chapter in story.chapters))
    return line_chart(heading, [line], axes=("release", "loss"), shown=percent)


def rows_chart(story: Story) -> Drawing:
    """How many rows are shown and held back; few are not told exactly."""
    least = story.least
    untold = least - 0.5
    heading = Heading(
        "rows",
        "Rows shown and held back",
        f"Rows are held back as long as their region does not satisfy the models. Fewer than {count(least)} are drawn "
        f"at {count(least)} and not told exactly.",
    )

    def shown(value: float) -> str:
        return f"fewer than {count(least)}" if value == untold else number(value)

    lines = [
        Line("shown", tuple((one.number, one.shown) for one in story.chapters)),
        Line("held back", tuple((one.number, untold if 0 < one.held < least else one.held) for one in story.chapters)),
    ]
    return line_chart(heading, lines, axes=("release", "rows"), shown=shown)


def regions_chart(story: Story) -> Drawing:
    """How many regions there are."""
    heading = Heading("regions", "Regions over time", "Regions are only ever split, never merged or moved.")
    line = Line("regions", tuple((chapter.number, chapter.count) for chapter in story.chapters))
    return line_chart(heading, [line], axes=("release", "regions"))


def target_chart(story: Story) -> Drawing:
    """How much of the target is reached, and what cuts through it have cost."""
    heading = Heading(
        "target",
        "Distance to the target",
        "Reached: the share of the target's regions that are told apart from all others; there, splits go on by what "
        "they tell. Deviation: the share of the target's size that cuts through its other regions have cost.",
    )
    found = story.distances(MOST_DISTANCES)
    lines = [
        Line("reached", tuple((at, distance.reached) for at, distance in found)),
        Line("deviation", tuple((at, distance.deviation) for at, distance in found)),
    ]
    return line_chart(heading, lines, axes=("release", "share of the target"), shown=percent)
