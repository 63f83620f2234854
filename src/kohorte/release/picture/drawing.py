"""The drawing of all nodes: a Hasse diagram where there is room for one, otherwise a map."""

from __future__ import annotations

from dataclasses import dataclass, field

from kohorte.release.picture.facts import Facts
from kohorte.release.picture.style import safe


@dataclass(frozen=True)
class Drawing:
    """A piece of SVG with its size; `caption` says how to read it, `cells` where the nodes of a map are."""

    width: int
    height: int
    body: str
    caption: str
    cells: dict[str, object] = field(default_factory=dict)


def tooltip(text: str) -> str:
    """What a viewer shows when the mouse rests on a thing."""
    return f"<title>{safe(text)}</title>"


def legend(facts: Facts) -> list[tuple[str, str]]:
    """The marks of a drawing: the class of each, and what it means."""
    shades = [(f"s{number}", f"{facts.metric} {name}") for number, name in enumerate(facts.shade_names())]
    middle = "optimum" if facts.space.best else "nearest: the fewest suppressed rows"
    return [*shades, ("off", "not a solution"), ("ring", middle), ("beside", "one step from it")]


def swatch(kind: str, x: float, y: float) -> str:
    """One mark of the legend, 14 wide and high."""
    inset = 1.5 if kind in ("ring", "beside") else 0.5
    size = 14 - 2 * inset
    dash = " dash" if kind == "off" else ""
    return f'<rect class="{kind}{dash}" x="{x + inset:g}" y="{y + inset:g}" width="{size:g}" height="{size:g}" rx="2"/>'
