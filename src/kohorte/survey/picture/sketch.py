"""The risk of a survey over the number of people for the survey planner: before and after merges, in a language."""

from __future__ import annotations

from kohorte.languages import Language
from kohorte.pages import Drawing, Heading, Line, line_chart
from kohorte.survey.picture.curves import RiskCurves


def sketch_chart(curves: RiskCurves, merged: RiskCurves | None, percent: float | None, language: Language) -> Drawing:
    """Draw what is expected and the bound of the worst case; with merges, those of the merged survey beside it."""
    lines = [
        _line(curves, "expected", language.gettext("expected")),
        _line(curves, "worst", language.gettext("at worst")),
    ]
    if merged is not None:
        lines.append(_line(merged, "expected", language.gettext("expected, merged")))
        lines.append(_line(merged, "worst", language.gettext("at worst, merged")))
    caption = language.gettext(
        "Expected: if people answer independently of each other and as the shares say. At worst: no survey with "
        "exactly these shares has more people alone; where more are expected by chance, their number."
    )
    return line_chart(
        Heading("survey", language.gettext("The risk over the number of people"), caption),
        lines,
        axes=(language.gettext("number of people"), language.gettext("share of people alone with their answers")),
        shown=lambda share: language.percent(share, 0),
        limit=None if percent is None else (language.gettext("wanted: at most"), percent / 100),
        highest=1.0,
        counted=lambda number: language.number(number, 0),
    )


def _line(curves: RiskCurves, by: str, name: str) -> Line:
    shares = (percent / 100 for percent in curves.percents[by])
    return Line(name, tuple(zip(map(float, curves.people), shares, strict=True)))
