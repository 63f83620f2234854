"""The frame of a page, and writing it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from kohorte.errors import InputError
from kohorte.pages import page, refuse_page, write_text

frame = partial(page, "kohorte.pages", "page.html.j2")


def test_a_page_allows_scripts_only_where_it_has_one() -> None:
    without, with_one = frame("t"), frame("t", script="let x = 1;\n")
    assert "script" not in without
    assert "default-src 'none'; style-src 'unsafe-inline'\"" in without
    assert "script-src 'unsafe-inline'" in with_one
    assert with_one.count("<script>") == 1


def test_the_title_of_a_page_is_text() -> None:
    assert "<title>a &lt;b&gt;</title>" in frame("a <b>")


def test_a_page_is_refused_by_suffix_by_source_and_where_it_exists(tmp_path: Path) -> None:
    plan = tmp_path / "plan.html"
    plan.write_text("plan")
    for path, code in ((tmp_path / "x.txt", "page-format"), (plan, "output-is-input")):
        with pytest.raises(InputError) as caught:
            refuse_page(path, needed=[plan], force=True)
        assert caught.value.code == code
    with pytest.raises(InputError) as caught:
        refuse_page(plan, needed=[], force=False)
    assert caught.value.code == "output-exists"
    refuse_page(tmp_path / "new.HTM", needed=[plan], force=False)


def test_a_page_is_written_whole_and_replaced_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_text(path, "one \u00fc", force=False)
    with pytest.raises(InputError):
        write_text(path, "two", force=False)
    assert path.read_text(encoding="utf-8") == "one \u00fc"
    write_text(path, "two", force=True)
    assert [found.name for found in tmp_path.iterdir()] == ["page.html"]
