"""The page of a series."""

from __future__ import annotations

from itertools import pairwise

from kohorte.in_words import cost, count, percent
from kohorte.models.words import model_in_words
from kohorte.pages import Drawing, page
from kohorte.pages.charts.svg import bar, joined, text
from kohorte.series.picture.charts import over_time
from kohorte.series.picture.panels import SHADES, region_panels
from kohorte.series.picture.story import Chapter, Story
from kohorte.series.picture.strips import region_strips
from kohorte.series.status.region_names import few

LEGEND = 120
"""The room for one shade in the legend."""


def to_html(story: Story) -> str:
    """Return the page: one file without a script and without an address outside."""
    definition = story.definition
    return page(
        __package__,
        "series.html.j2",
        "A series of releases",
        rules="@page{size:landscape}\n",
        made=sum(one.time is not None for one in story.chapters),
        answer=_answer(story),
        models=", ".join(model_in_words(model) for model in definition.plan.models),
        names=", ".join(domain.name for domain in definition.domains),
        charts=over_time(story) if story.chapters else [],
        legend=_legend(),
        panels=region_panels(story) or region_strips(story),
        releases=[_cells(one, story.least) for one in story.chapters],
    )


def _answer(story: Story) -> str:
    if not story.chapters:
        return "No release has been made yet."
    last = story.chapters[-1]
    held = few(None if 0 < last.held < story.least else last.held, story.least)
    shows = "shows" if last.time is not None else "would show"
    return (
        f"Release {last.number} {shows} {count(last.shown, 'row')} in {count(last.count, 'region')}; a cell leaves "
        f"open {percent(last.loss)} of its domain. Held back: {held}."
    )


def _legend() -> Drawing:
    """What the shades of regions mean."""
    between = [f"{percent(less)} to {percent(more)}" for more, less in pairwise(SHADES)]
    words = [f"{percent(SHADES[0])} or more", *between, f"less than {percent(SHADES[-1])}"]
    parts = [
        bar(number * LEGEND, 4, 14, 12, f"cell{4 - number}") + text(number * LEGEND + 20, 14, said, "small")
        for number, said in enumerate(words)
    ]
    return Drawing("legend", "What the shades mean", "", LEGEND * len(words), 22, joined(parts))


def _cells(one: Chapter, least: int) -> list[str]:
    time = "as it would be" if one.time is None else one.time[:16].replace("T", " ")
    held = f"fewer than {count(least)}" if 0 < one.held < least else count(one.held)
    return [str(one.number), time, count(one.shown), held, count(one.count), cost(one.loss)]
