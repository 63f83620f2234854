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
    "good": "#1d7a3e",
    "fair": "#9a6200",
    "bad": "#b3261e",
    "tone0": "#2a6ab5",
    "tone1": "#d1460b",
    "tone2": "#1d7a3e",
    "tone3": "#7b3fa0",
    "tone4": "#9a6200",
    "tone5": "#5a6572",
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
    "good": "#62c586",
    "fair": "#e3b341",
    "bad": "#ff8a80",
    "tone0": "#92c7f6",
    "tone1": "#ffa24a",
    "tone2": "#62c586",
    "tone3": "#cfa3ec",
    "tone4": "#e3b341",
    "tone5": "#a3aebb",
}
RULES = """\
.paper{fill:@paper}
text{fill:@ink;font-family:system-ui,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;font-size:12px}
.soft{fill:@soft}
.strong{font-weight:600}
.small{font-size:11px}
.end{text-anchor:end}
.mid{text-anchor:middle}
.axis{stroke:@hollow;fill:none}
.grid{stroke:@line;fill:none}
.leader{stroke:@hollow;stroke-width:.8;fill:none}
.whisker{stroke:@ink;stroke-width:1.5;fill:none}
.dash{stroke-dasharray:4 3}
.good{fill:@good}
.fair{fill:@fair}
.bad{fill:@bad}
.tone0{fill:@tone0}
.stroke0{stroke:@tone0;stroke-width:2;fill:none}
.area0{fill:@tone0;fill-opacity:.25;stroke:@tone0;stroke-width:1.5}
.tone1{fill:@tone1}
.stroke1{stroke:@tone1;stroke-width:2;fill:none}
.area1{fill:@tone1;fill-opacity:.25;stroke:@tone1;stroke-width:1.5}
.tone2{fill:@tone2}
.stroke2{stroke:@tone2;stroke-width:2;fill:none}
.area2{fill:@tone2;fill-opacity:.25;stroke:@tone2;stroke-width:1.5}
.tone3{fill:@tone3}
.stroke3{stroke:@tone3;stroke-width:2;fill:none}
.area3{fill:@tone3;fill-opacity:.25;stroke:@tone3;stroke-width:1.5}
.tone4{fill:@tone4}
.stroke4{stroke:@tone4;stroke-width:2;fill:none}
.area4{fill:@tone4;fill-opacity:.25;stroke:@tone4;stroke-width:1.5}
.tone5{fill:@tone5}
.stroke5{stroke:@tone5;stroke-width:2;fill:none}
.area5{fill:@tone5;fill-opacity:.25;stroke:@tone5;stroke-width:1.5}
"""
"""The rules of every drawing, with plain colours once they are filled in: not every viewer knows variables."""

_NO_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_TURNING = "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
"""Marks that turn the direction of the text around them, so that a name could change what stands beside it."""

_UNSAFE = re.compile(f"{_NO_XML}|{_TURNING}")


def css(rules: str) -> str:
    """Fill in the colours: light ones, and dark ones for a screen that asks for them."""
    coloured = "".join(f"{line}\n" for line in rules.splitlines() if "@" in line and not line.startswith("@"))
    return f"{_fill(rules, LIGHT)}@media screen and (prefers-color-scheme:dark){{\n{_fill(coloured, DARK)}}}\n"


def _fill(rules: str, colours: dict[str, str]) -> str:
    return re.sub(r"@(\w+)(?=[;}\s])", lambda found: colours.get(found[1], found[0]), rules)


def safe(text: object) -> str:
    """Escape text for HTML, XML and their attributes; what XML cannot hold, or turns text around, becomes U+FFFD."""
    return html.escape(_UNSAFE.sub("\ufffd", str(text)), quote=True)


def short(text: str, most: int) -> str:
    """The text, cut where it is longer than there is room for."""
    return text if len(text) <= most else text[: most - 1] + "\u2026"
