"""Words that the source and the documentation do without."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KINDS = {".py", ".pyi", ".md", ".yaml", ".html", ".jinja", ".js", ".css"}
WORDS = {
    r"anew\b": "again, from scratch, re-read",
    r"whoever\b": "if someone, a person who, anyone who",
    r"the\s+own\b": "their own, its own",
    r"so\s+to\s+speak\b": "nothing",
    r"seed\s+00\d": "the source in full: author, title, year, section",
    r"the\s+dissertation\b": "the source in full: author, title, year, section",
}
TEXTS = [path for folder in ("src", "docs") for path in sorted((ROOT / folder).rglob("*")) if path.suffix in KINDS]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_that_readers_stumble_over_is_not_used(word: str) -> None:
    assert TEXTS
    found = [
        f"{path.relative_to(ROOT)}, line {text[: match.start()].count(chr(10)) + 1}"
        for path in TEXTS
        for text in [path.read_text(encoding="utf-8")]
        for match in re.finditer(rf"\b{word}", text, re.IGNORECASE)
    ]
    assert found == [], f"write instead: {WORDS[word]}"
