"""Boxes that fill an area, such as the regions into which a domain was split: shaded, or outlined over others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from markupsafe import Markup

from kohorte.kernels.arrays import Counts, Floats
from kohorte.pages.charts.svg import box, joined, path

MOST_DRAWN = 1500
"""The number of boxes that are drawn; smaller ones show the colour of the area below them."""
MOST_NAMED = 150
"""Up to this number, each box has a tooltip."""
MOST_OUTLINED = 80
"""Up to this number, boxes are outlined with a line of full width."""
TINY = 3
"""Boxes that are less wide or high have thin edges, because wide ones would cover them."""
SHADES = 5


def shaded(boxes: Floats, shades: Counts, name: Callable[[int], str]) -> Markup:
    """Draw boxes, given by left, top, width and height, by shade; only the largest ones if there are many."""
    largest = _largest(boxes)
    if len(boxes) <= MOST_NAMED:
        return joined(path(_outline(boxes[[one]]), f"cell{shades[one]}", name(one)) for one in largest.tolist())
    tiny = boxes[:, 2:].min(axis=1) < TINY
    parts = []
    for shade, edge in product(range(SHADES), (False, True)):
        here = largest[(shades[largest] == shade) & (tiny[largest] == edge)]
        if len(here):
            parts.append(path(_outline(boxes[here]), f"cell{shade}" + (" tiny" if edge else "")))
    return joined(parts)


def outlined(boxes: Floats) -> Markup:
    """Draw the edges of boxes."""
    return path(_outline(boxes[_largest(boxes)]), "target" if len(boxes) <= MOST_OUTLINED else "dense")


def _largest(boxes: Floats) -> Counts:
    return np.argsort(-boxes[:, 2] * boxes[:, 3], kind="stable")[:MOST_DRAWN]


def _outline(boxes: Floats) -> str:
    return "".join(box(*one) for one in boxes.tolist())
