"""What a person reads on a page: its texts in their order, with the language in which each is marked."""

from __future__ import annotations

from dataclasses import dataclass
from html.parser import HTMLParser

VOID = frozenset(("area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"))
UNREAD = frozenset(("script", "style"))
DATA = frozenset(("code", "pre", "textarea"))
"""Elements whose contents are no sentences: plans, queries, commands."""
SPOKEN = ("alt", "aria-label", "placeholder", "title")


@dataclass(frozen=True)
class Shown:
    """A text of a page; `language` is that of the nearest element that states one."""

    text: str
    language: str


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.texts: list[Shown] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        language = given.get("lang") or (self.open[-1][1] if self.open else "")
        self.links += [given["href"]] if tag == "a" and "href" in given else []
        self.texts += [Shown(given[name], language) for name in SPOKEN if given.get(name)]
        if tag not in VOID:
            self.open.append((tag, language))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if text and self.open and not {tag for tag, _ in self.open} & (UNREAD | DATA):
            self.texts.append(Shown(text, self.open[-1][1]))


def texts_and_links(page: str) -> tuple[list[Shown], list[str]]:
    """Return what a page says, also to a screen reader, and where its links lead."""
    reader = _Reader()
    reader.feed(page)
    return reader.texts, reader.links
