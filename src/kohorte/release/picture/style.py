"""Colours in light and dark, and text that is safe in HTML and XML."""

from __future__ import annotations

import html
import re

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1b2027",
    "soft": "#5a6572",
    "line": "#d9dee5",
    "edge": "#c5ccd6",
    "hollow": "#98a2af",
    "mark": "#d1460b",
    "panel": "#f6f8fa",
    "shade0": "#0b3d7e",
    "shade1": "#2a6ab5",
    "shade2": "#69a2d6",
    "shade3": "#a8cae8",
    "shade4": "#d7e6f4",
    "on0": "#ffffff",
    "on1": "#ffffff",
    "on2": "#0c1a2b",
    "on3": "#0c1a2b",
    "on4": "#0c1a2b",
}
DARK = {
    "paper": "#14181d",
    "ink": "#e9edf2",
    "soft": "#a3aebb",
    "line": "#2d3540",
    "edge": "#3b4551",
    "hollow": "#6d7987",
    "mark": "#ffa24a",
    "panel": "#1b2027",
    "shade0": "#d9edff",
    "shade1": "#92c7f6",
    "shade2": "#5195d2",
    "shade3": "#346a9a",
    "shade4": "#264a69",
    "on0": "#0c1a2b",
    "on1": "#0c1a2b",
    "on2": "#0c1a2b",
    "on3": "#ffffff",
    "on4": "#ffffff",
}
RULES = """\
.paper{fill:@paper}
text{fill:@ink;font-family:system-ui,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;font-size:13px}
.soft{fill:@soft}
.strong{font-weight:600}
.small{font-size:11px}
.end{text-anchor:end}
.mid{text-anchor:middle}
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
.dash{stroke-dasharray:3 2}
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
"""The rules of every drawing; written out with plain colours, for viewers that know no variables."""

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def css(rules: str) -> str:
    """Fill in the colours: light ones, and dark ones for a screen that asks for them."""
    coloured = "".join(f"{line}\n" for line in rules.splitlines() if "@" in line and not line.startswith("@"))
    return f"{_fill(rules, LIGHT)}@media screen and (prefers-color-scheme:dark){{\n{_fill(coloured, DARK)}}}\n"


def _fill(rules: str, colours: dict[str, str]) -> str:
    return re.sub(r"@(\w+)(?=[;}\s])", lambda found: colours.get(found[1], found[0]), rules)


def safe(text: object) -> str:
    """Escape text for HTML, XML and their attributes; what XML cannot hold becomes a replacement character."""
    return html.escape(_NO_XML.sub("\ufffd", str(text)), quote=True)


def short(text: str, most: int) -> str:
    """The text, cut where it is longer than there is room for."""
    return text if len(text) <= most else text[: most - 1] + "\u2026"
