"""The page of a series."""

from __future__ import annotations

from itertools import pairwise

from kohorte.drawing import Drawing, bar, page, safe
from kohorte.release.words import model_in_words
from kohorte.series.picture.charts import over_time
from kohorte.series.picture.panels import RULES, SHADES, region_panels
from kohorte.series.picture.story import Chapter, Story
from kohorte.series.picture.strips import region_strips
from kohorte.series.status.region_names import few


def to_html(story: Story) -> str:
    """Return the page: one file without a script and without an address outside."""
    panels = region_panels(story) or region_strips(story)
    body = f"""<header>
<h1>A series of {_releases(len([one for one in story.chapters if one.time is not None]))}</h1>
<p class="answer">{safe(_answer(story))}</p>
<p>{safe(_promise(story))}</p>
</header>
{"".join(_section(drawing) for drawing in over_time(story)) if story.chapters else ""}
{_heading() if panels else ""}{"".join(_figure(drawing) for drawing in panels)}
{_table(story) if story.chapters else ""}
"""
    return page("A series of releases", body, rules=RULES)


def _releases(count: int) -> str:
    return f"{count:,} release{'' if count == 1 else 's'}"


def _answer(story: Story) -> str:
    if not story.chapters:
        return "No release has been made yet."
    last = story.chapters[-1]
    held = few(None if 0 < last.held < story.least else last.held, story.least)
    shows = "shows" if last.time is not None else "would show"
    return (
        f"Release {last.number} {shows} {last.shown:,} rows in {last.count:,} regions; a cell leaves open "
        f"{last.loss:.1%} of its domain. Held back: {held}."
    )


def _promise(story: Story) -> str:
    models = ", ".join(model_in_words(model) for model in story.definition.plan.models)
    names = ", ".join(domain.name for domain in story.definition.domains)
    return f"In every release, every region satisfies {models}. Regions are about {names}."


def _section(drawing: Drawing) -> str:
    return f"<section>\n<h2>{safe(drawing.title)}</h2>\n{_body(drawing)}</section>\n"


def _figure(drawing: Drawing) -> str:
    return f"<h3>{safe(drawing.title)}</h3>\n{_body(drawing)}"


def _body(drawing: Drawing) -> str:
    return f'<div class="scroll">{drawing.inline()}</div>\n<p class="note">{safe(drawing.caption)}</p>\n'


def _heading() -> str:
    """What the shades of regions mean."""
    between = [f"{less:.0%} to {more:.0%}" for more, less in pairwise(SHADES)]
    words = [f"{SHADES[0]:.0%} or more", *between, f"less than {SHADES[-1]:.0%}"]
    parts = []
    for number, said in enumerate(words):
        parts.append(bar(number * 104, 4, 14, 12, f"cell{4 - number}"))
        parts.append(f'<text class="small" x="{number * 104 + 20}" y="14">{safe(said)}</text>\n')
    legend = Drawing("legend", "What the shades mean", "", 530, 22, "".join(parts))
    return (
        "<section>\n<h2>Regions of the releases</h2>\n"
        "<p>What a cell of a region leaves open, in the mean over all attributes:</p>\n"
        f'<div class="scroll">{legend.inline()}</div>\n</section>\n'
    )


def _table(story: Story) -> str:
    names = ("release", "time (UTC)", "rows shown", "held back", "regions", "loss")
    head = "".join(f"<th>{name}</th>" for name in names)
    lines = "\n".join(_line(_cells(one, story.least)) for one in story.chapters)
    table = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody>\n</table>"
    return f"<section>\n<h2>All releases</h2>\n{table}\n</section>"


def _line(cells: list[str]) -> str:
    return f"<tr>{''.join(f'<td>{safe(cell)}</td>' for cell in cells)}</tr>"


def _cells(one: Chapter, least: int) -> list[str]:
    time = "as it would be" if one.time is None else one.time[:16].replace("T", " ")
    held = f"fewer than {least:,}" if 0 < one.held < least else f"{one.held:,}"
    return [str(one.number), time, f"{one.shown:,}", held, f"{one.count:,}", f"{one.loss:.4g}"]
