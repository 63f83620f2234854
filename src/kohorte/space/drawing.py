"""The style sheet and the legend of both drawings of a lattice."""

from __future__ import annotations

from markupsafe import Markup

from kohorte.pages import beside
from kohorte.pages.charts.svg import bar
from kohorte.space.facts import Facts


def rules() -> str:
    """The style sheet of both drawings, in addition to that of every drawing."""
    return beside(__file__, "lattice.css")


def legend(facts: Facts) -> list[tuple[str, str]]:
    """The entries of the legend: style class and meaning."""
    shades = [(f"s{number}", f"{facts.metric} {name}") for number, name in enumerate(facts.shade_names())]
    middle = "optimum" if facts.space.best else "nearest: the fewest suppressed rows"
    return [*shades, ("off", "not a solution"), ("ring", middle), ("beside", "one step from it")]


def swatch(kind: str, x: float, y: float) -> Markup:
    """One mark of the legend, 14 pixels wide and high."""
    inset = 1.5 if kind in ("ring", "beside") else 0.5
    size = 14 - 2 * inset
    return bar(x + inset, y + inset, size, size, f"{kind} dash" if kind == "off" else kind, rx=2)
