"""The frame of a page: one file that opens without a network, in light, in dark and on paper."""

from __future__ import annotations

from pathlib import Path

from kohorte.drawing.style import RULES, css, safe

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The browser itself refuses whatever would be fetched from elsewhere."""


def page(title: str, body: str, *, rules: str = "", script: str = "", language: str = "en") -> str:
    """Return a whole page; `rules` are those that it needs beyond the rules of every page and every drawing."""
    policy = POLICY + ("; script-src 'unsafe-inline'" if script else "")
    return f"""<!DOCTYPE html>
<html lang="{safe(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{safe(title)}</title>
<style>
{css(RULES + beside(__file__, "page.css") + rules)}</style>
</head>
<body>
{body}{f"<script>{chr(10)}{script}</script>{chr(10)}" if script else ""}</body>
</html>
"""


def beside(module: str, name: str) -> str:
    """The text of a file that lies beside a module."""
    return Path(module).with_name(name).read_text(encoding="utf-8")
