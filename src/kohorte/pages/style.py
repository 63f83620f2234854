"""Colours in light and dark, and text that is safe in HTML and XML."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from markupsafe import Markup, escape

COLOURS = {
    "paper": ("#ffffff", "#14181d"),
    "ink": ("#1b2027", "#e9edf2"),
    "soft": ("#5a6572", "#a3aebb"),
    "line": ("#d9dee5", "#2d3540"),
    "edge": ("#8791a0", "#6d7987"),
    "hollow": ("#7b8694", "#6d7987"),
    "mark": ("#c43f06", "#ffa24a"),
    "link": ("#1f5aa0", "#92c7f6"),
    "panel": ("#f6f8fa", "#1b2027"),
    "shade0": ("#0b3d7e", "#d9edff"),
    "shade1": ("#2a6ab5", "#92c7f6"),
    "shade2": ("#69a2d6", "#5195d2"),
    "shade3": ("#a8cae8", "#346a9a"),
    "shade4": ("#d7e6f4", "#264a69"),
    "seam0": ("#ffffff", "#14181d"),
    "seam1": ("#ffffff", "#14181d"),
    "seam2": ("#0b3d7e", "#14181d"),
    "seam3": ("#0b3d7e", "#d9edff"),
    "seam4": ("#0b3d7e", "#d9edff"),
    "on0": ("#ffffff", "#0c1a2b"),
    "on1": ("#ffffff", "#0c1a2b"),
    "on2": ("#0c1a2b", "#0c1a2b"),
    "on3": ("#0c1a2b", "#ffffff"),
    "on4": ("#0c1a2b", "#ffffff"),
    "good": ("#1d7a3e", "#62c586"),
    "fair": ("#9a6200", "#e3b341"),
    "bad": ("#b3261e", "#ff8a80"),
    "tone0": ("#2a6ab5", "#92c7f6"),
    "tone1": ("#c43f06", "#ffa24a"),
    "tone2": ("#1d7a3e", "#62c586"),
    "tone3": ("#7b3fa0", "#cfa3ec"),
    "tone4": ("#9a6200", "#e3b341"),
    "tone5": ("#5a6572", "#a3aebb"),
}
"""Each colour in light and in dark; a rule names it with an @.

Text has a contrast of at least 4.5 to 1 with what is behind it, and a shape one of 3 to 1, by its area or by its edge
(W3C, Web Content Accessibility Guidelines 2.2, 2023, success criteria 1.4.3 and 1.4.11).
"""

_NOT_IN_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_TURNING = "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
"""Marks that change the direction of the text around them; a name with one could alter the text beside it."""

_UNSAFE = re.compile(f"{_NOT_IN_XML}|{_TURNING}")


def css(rules: str) -> Markup:
    """Fill in the colours: light ones, and dark ones for a screen that asks for them.

    The colours are written out, because not every viewer of SVG supports variables.
    """
    coloured = "".join(f"{line}\n" for line in rules.splitlines() if "@" in line and not line.startswith("@"))
    filled = f"{_fill(rules, 0)}@media screen and (prefers-color-scheme:dark){{\n{_fill(coloured, 1)}}}\n"
    return Markup(filled)  # noqa: S704 - rules are files of the package


def _fill(rules: str, scheme: int) -> str:
    return re.sub(
        r"@(\w+)(?=[;}\s])", lambda found: COLOURS[found[1]][scheme] if found[1] in COLOURS else found[0], rules
    )


def clean(text: object) -> str:
    """Replace characters that XML forbids or that change the text direction by U+FFFD; keep numbers and % together."""
    return harmless(text).replace(" %", "\u00a0%")


def harmless(text: object) -> str:
    """Replace the same characters and nothing else: for pages whose forms send texts back."""
    return _UNSAFE.sub("\ufffd", str(text))


def safe(text: object) -> Markup:
    """Escape text for HTML, XML and their attributes; text that is markup already stays as it is."""
    return text if isinstance(text, Markup) else escape(clean(text))


def short(text: str, most: int) -> str:
    """Cut a text that is longer than `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "\u2026"


@cache
def beside(module: str, name: str) -> str:
    """Return the text of a file in the folder of a module."""
    return Path(module).with_name(name).read_text(encoding="utf-8")
