"""What the two drawings of a lattice share: their rules, and the marks of the legend."""

from __future__ import annotations

from kohorte.release.picture.facts import Facts

RULES = """\
text{font-size:13px}
.dash{stroke-dasharray:3 2}
.title{font-size:22px;font-weight:650}
.head{font-size:15px;font-weight:600}
.mark{fill:@mark;font-weight:600}
.halo{fill:@paper;stroke:@paper;stroke-width:6;font-weight:600}
.line{stroke:@line;fill:none}
.edges{stroke:@edge;stroke-width:1;fill:none}
.near{stroke:@mark;stroke-width:1.8;fill:none}
.ring{stroke:@mark;stroke-width:3;fill:none}
.beside{stroke:@mark;stroke-width:1.6;fill:none}
.off{fill:@paper;stroke:@hollow;stroke-width:.9}
.on-off{fill:@soft}
.s0{fill:@shade0;stroke:@shade0}
.s1{fill:@shade1;stroke:@shade1}
.s2{fill:@shade2;stroke:@shade2}
.s3{fill:@shade3;stroke:@shade2}
.s4{fill:@shade4;stroke:@shade3}
.plain{stroke:none}
.t0{fill:@on0}
.t1{fill:@on1}
.t2{fill:@on2}
.t3{fill:@on3}
.t4{fill:@on4}
.gauge{fill:@ink}
.gap{fill:none;stroke:@hollow}
"""
"""What the rules of every drawing lack."""


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
