"""The regions of a series over one attribute: a strip for each of some releases, one below the other."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from kohorte.kernels.arrays import Floats
from kohorte.pages import Drawing
from kohorte.pages.charts.boxes import outlined, shaded
from kohorte.pages.charts.svg import joined, text
from kohorte.series.domain.regions import Regions
from kohorte.series.picture.panels import shades_of
from kohorte.series.picture.story import Story
from kohorte.series.status.region_names import label_of

MOST_RELEASES = 12
LEFT, WIDE = 190, 800
STRIP, PITCH = 20, 28


def region_strips(story: Story) -> list[Drawing]:
    """One drawing of a series with one quasi-identifier, none of others."""
    drawn = [(one.title, one.regions) for one in story.some(MOST_RELEASES) if one.regions is not None]
    if not drawn or len(story.definition.axes) != 1:
        return []
    [axis] = story.definition.axes
    parts = [_strip(story, title, regions, 4 + number * PITCH) for number, (title, regions) in enumerate(drawn)]
    bottom = 4 + len(drawn) * PITCH
    if (target := story.definition.target) is not None:
        parts.append(text(LEFT - 8, bottom + 14, "target", "small strong end"))
        parts.append(outlined(_boxes(target.regions, axis.length, bottom)))
        bottom += PITCH
    first, last = axis.ticks(0, axis.length)
    parts.append(text(LEFT, bottom + 10, first, "small soft") + text(LEFT + WIDE, bottom + 10, last, "small soft end"))
    caption = f"{axis.name} to the right; each strip is a release."
    return [Drawing("regions", axis.name, caption, LEFT + WIDE + 8, bottom + 20, joined(parts))]


def _strip(story: Story, title: str, regions: Regions, y: float) -> Markup:
    [axis] = story.definition.axes

    def name(number: int) -> str:
        return f"{axis.name} {label_of(axis, int(regions.lows[number, 0]), int(regions.highs[number, 0]))}"

    words = text(LEFT - 8, y + 14, title, "small strong end")
    return words + shaded(_boxes(regions, axis.length, y), shades_of(story.losses(regions)), name)


def _boxes(regions: Regions, length: int, y: float) -> Floats:
    """Left, top, width and height of each region."""
    lows, highs = regions.lows[:, 0] * WIDE / length, regions.highs[:, 0] * WIDE / length
    return np.stack([LEFT + lows, np.full(len(lows), y), highs - lows, np.full(len(lows), STRIP)], axis=1)
