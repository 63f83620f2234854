"""The style sheets of pages."""

from pathlib import Path

import pytest

import kohorte as ko
from kohorte.pages import style


@pytest.mark.parametrize("page", ["space/page.css", "comparison/page.css", "pages/page.css", "report/page.css"])
def test_the_style_of_a_page_closes_what_it_opens_in_light_and_in_dark(page):
    """A rule of several lines lost its end in the dark half, and swallowed the rules after it."""
    rules = (Path(ko.__file__).parent / page).read_text(encoding="utf-8")
    filled = style.css(rules)
    dark = filled.split("prefers-color-scheme:dark)", 1)[1]
    assert filled.count("{") == filled.count("}")
    assert all(line.count("{") == line.count("}") for line in dark.strip().removeprefix("{").splitlines()[1:-1])
