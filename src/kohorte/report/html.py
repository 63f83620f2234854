"""Pieces of the page: sections, paragraphs, tables, drawings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kohorte.drawing import Drawing, safe


def told(words: object) -> str:
    """Text for the page; a figure and its percent sign stay on one line."""
    return safe(words).replace(" %", "\u00a0%")


def section(title: str, *parts: str) -> str:
    """A part of the page under its title; nothing where there is nothing to tell."""
    body = "".join(parts)
    return f"<section>\n<h2>{told(title)}</h2>\n{body}</section>\n" if body else ""


def paragraph(words: str, kind: str = "") -> str:
    """A paragraph."""
    return f"<p{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{told(words)}</p>\n"


def note(words: str) -> str:
    """What helps to read a figure."""
    return paragraph(words, "note")


def bullets(items: Iterable[str]) -> str:
    """A list."""
    listed = "".join(f"<li>{told(item)}</li>\n" for item in items)
    return f"<ul>\n{listed}</ul>\n" if listed else ""


def table(header: Sequence[str], rows: Iterable[Sequence[object]], *, figures: bool = True) -> str:
    """A table whose first column has the names; `figures` are aligned at the right."""
    lines = "".join(
        f'<tr><th scope="row">{told(name)}</th>{"".join(f"<td>{told(cell)}</td>" for cell in cells)}</tr>\n'
        for name, *cells in rows
    )
    heads = "".join(f'<th scope="col">{told(head)}</th>' for head in header)
    kind = ' class="figures"' if figures else ""
    above = f"<thead><tr>{heads}</tr></thead>\n" if header else ""
    return f'<div class="scroll"><table{kind}>{above}<tbody>\n{lines}</tbody></table></div>\n' if lines else ""


def figure(drawing: Drawing) -> str:
    """A drawing with its title and how to read it."""
    return (
        f"<figure>\n<h3>{told(drawing.title)}</h3>\n"
        f'<div class="scroll">{drawing.inline()}</div>\n<figcaption>{told(drawing.caption)}</figcaption>\n</figure>\n'
    )
