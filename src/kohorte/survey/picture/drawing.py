"""The curves as a chart, as an image and as a page."""

from __future__ import annotations

from dataclasses import replace

from kohorte.in_words import count, percent
from kohorte.pages import Drawing, Heading, Line, Sheet, line_chart, page
from kohorte.pages.charts.sheet import MARGIN
from kohorte.survey.estimators.judgements import is_coefficient
from kohorte.survey.picture.curves import RiskCurves

NAMES = {"expected": "expected", "worst": "at worst"}
CAPTION = (
    "Expected: if people answer independently of each other and as the frequencies say. At worst: no table with "
    "exactly these frequencies has more people alone; where more are expected by chance, their number. OR, FG, RT and "
    "RR are published coefficients per person, at most 100 % (DA): they count combinations of answers, and are neither "
    "probabilities nor numbers of people."
)


def chart(curves: RiskCurves) -> Drawing:
    """A line for each judgement."""
    title = f"People alone with their answers, by the number of people; {count(curves.survey.cells)} combinations"
    lines = [
        Line(_name(by), tuple(zip(map(float, curves.people), (value / 100 for value in percents), strict=True)))
        for by, percents in curves.percents.items()
    ]
    return line_chart(
        Heading("survey", title, CAPTION),
        lines,
        axes=("number of people", "share of the people"),
        shown=percent,
        highest=1.0,
    )


def _name(by: str) -> str:
    return f"{by} (coefficient)" if is_coefficient(by) else NAMES[by]


def to_svg(curves: RiskCurves) -> str:
    """Return the curves as one self-contained SVG image."""
    drawing = chart(curves)
    sheet = Sheet(drawing.width)
    sheet.line(drawing.title, "title", drop=10)
    sheet.drop(14)
    sheet.drawing(drawing)
    sheet.paragraph(drawing.caption, "soft")
    return replace(drawing, width=sheet.width, height=round(sheet.y + MARGIN), body=sheet.body()).file(drawing.caption)


def to_html(curves: RiskCurves) -> str:
    """Return the curves as one self-contained page, with a table of all points."""
    rows = [
        (count(number), *(percent(percents[place] / 100) for percents in curves.percents.values()))
        for place, number in enumerate(curves.people)
    ]
    return page(
        __package__,
        "curves.html.j2",
        "The risk of a survey",
        drawing=chart(curves),
        head=["people", *map(_name, curves.percents)],
        rows=rows,
        questions=count(len(curves.survey.questions), "question"),
    )
