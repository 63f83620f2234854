"""The regions of a series over one attribute: a strip for each of some releases, one below the other."""

from __future__ import annotations

import numpy as np

from kohorte.drawing import Drawing, text, tooltip
from kohorte.kernels.arrays import Floats
from kohorte.series.domain.regions import Regions
from kohorte.series.picture.panels import MOST_DRAWN, RULES, outline, shades_of
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
        edges = _edges(target.regions, axis.length)[:MOST_DRAWN].tolist()
        path = "".join(outline(LEFT + left, bottom, wide, STRIP) for left, wide in edges)
        parts.append(f'<path class="target" d="{path}"/>\n')
        bottom += PITCH
    first, last = axis.ticks(0, axis.length)
    parts.append(text(LEFT, bottom + 10, first, "small soft") + text(LEFT + WIDE, bottom + 10, last, "small soft end"))
    caption = f"{axis.name} to the right; each strip is a release."
    return [Drawing("regions", axis.name, caption, LEFT + WIDE + 8, bottom + 20, "".join(parts), RULES)]


def _strip(story: Story, title: str, regions: Regions, y: float) -> str:
    [axis] = story.definition.axes
    parts = [text(LEFT - 8, y + 14, title, "small strong end")]
    edges, shades = _edges(regions, axis.length), shades_of(story.losses(regions))
    for number in np.argsort(-edges[:, 1], kind="stable")[:MOST_DRAWN].tolist():
        left, wide = edges[number].tolist()
        hint = tooltip(f"{axis.name} {label_of(axis, int(regions.lows[number, 0]), int(regions.highs[number, 0]))}")
        parts.append(f'<path class="cell{shades[number]}" d="{outline(LEFT + left, y, wide, STRIP)}">{hint}</path>\n')
    return "".join(parts)


def _edges(regions: Regions, length: int) -> Floats:
    """Where each region begins, and how wide it is."""
    scale = WIDE / length
    return np.stack([regions.lows[:, 0] * scale, (regions.highs[:, 0] - regions.lows[:, 0]) * scale], axis=1)
