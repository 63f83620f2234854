"""Drawings and pages: SVG and HTML in light and dark, without an address outside; they know nothing of privacy."""

from kohorte.drawing.bars import Bar, Pair, histogram, horizontal_bars, paired_bars
from kohorte.drawing.lines import Line, line_chart
from kohorte.drawing.page import beside, page
from kohorte.drawing.regions import Region, region_chart
from kohorte.drawing.style import css, safe, short
from kohorte.drawing.svg import Drawing, Heading, bar, line, mark, text, tooltip
from kohorte.drawing.write import refuse_file, refuse_page, write_text

__all__ = [
    "Bar",
    "Drawing",
    "Heading",
    "Line",
    "Pair",
    "Region",
    "bar",
    "beside",
    "css",
    "histogram",
    "horizontal_bars",
    "line",
    "line_chart",
    "mark",
    "page",
    "paired_bars",
    "refuse_file",
    "refuse_page",
    "region_chart",
    "safe",
    "short",
    "text",
    "tooltip",
    "write_text",
]
