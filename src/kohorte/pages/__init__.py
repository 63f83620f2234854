"""The page kit: templates and charts in light and dark, without external resources; it knows nothing about privacy."""

from kohorte.pages.charts.bars import Bar, Pair, Scale, horizontal_bars, paired_bars, shares_of
from kohorte.pages.charts.lines import Line, line_chart
from kohorte.pages.charts.rows import Kind, Row, Rows
from kohorte.pages.charts.scatter import Point, scatter
from kohorte.pages.charts.sheet import Sheet
from kohorte.pages.charts.svg import Drawing, Heading
from kohorte.pages.page import page, render
from kohorte.pages.style import beside
from kohorte.pages.write import refuse_file, refuse_page, write_text

__all__ = [
    "Bar",
    "Drawing",
    "Heading",
    "Kind",
    "Line",
    "Pair",
    "Point",
    "Row",
    "Rows",
    "Scale",
    "Sheet",
    "beside",
    "horizontal_bars",
    "line_chart",
    "page",
    "paired_bars",
    "refuse_file",
    "refuse_page",
    "render",
    "scatter",
    "shares_of",
    "write_text",
]
