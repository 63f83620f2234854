"""Text from outside never becomes markup: names of columns, files, values and labels, on every page."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.cli.main import main
from kohorte.pages import render
from kohorte.space.page import to_html as space_page
from kohorte.space.sheet import to_svg as space_image

SOURCES = Path(ko.__file__).parent
TAG = re.compile(r"</|(?<!\?P)<[a-z][a-z0-9]*[\s/>]|(?i:<!doctype)")
"""A tag, but no named group of a regular expression and no repr such as `<Series of ...>`."""
HOSTILE = "<script>alert(1)</script>"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;"


def hostile_table() -> pl.DataFrame:
    """Every name and every value of a hierarchy is markup."""
    return pl.DataFrame(
        {
            f"{HOSTILE} age": [str(20 + row % 40) for row in range(200)],
            HOSTILE: [f"{HOSTILE} {row % 3}" for row in range(200)],
        }
    )


def hostile_plan() -> ko.Plan:
    intervals = {"intervals": {"lower": 0, "upper": 100, "widths": [10, 50]}}
    attributes = {
        f"{HOSTILE} age": {"role": "quasi-identifying", "hierarchy": intervals},
        HOSTILE: {"role": "sensitive"},
    }
    return ko.Plan.from_dict({"kohorte": 1, "attributes": attributes, "models": [{"model": "k-anonymity", "k": 3}]})


def assert_escaped(page: str) -> None:
    assert HOSTILE not in page
    assert ESCAPED in page
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, flags=re.DOTALL)
    assert not any("<script" in script or "alert(1)</" in script for script in scripts)


@pytest.mark.parametrize("view", ["public", "internal"])
def test_a_report_escapes_names_values_and_the_name_of_the_file(tmp_path: Path, view: str) -> None:
    table, plan, page = tmp_path / "<b>patients<b>.csv", tmp_path / "plan.yaml", tmp_path / "report.html"
    hostile_table().write_csv(table)
    plan.write_text(json.dumps(hostile_plan().to_dict()), encoding="utf-8")
    release = tmp_path / "<b>release<b>.csv"
    assert main(["anonymize", str(table), "--plan", str(plan), "--output", str(release)]) == 0
    asked = ["risk", str(table), "--plan", str(plan), "--compare", str(release), "--report-view", view]
    assert main([*asked, "--report", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert_escaped(text)
    assert "<b>" not in text
    assert "&lt;b&gt;release&lt;b&gt;.csv" in text


def test_the_solution_space_escapes_names_in_the_page_its_script_and_the_image() -> None:
    space = ko.solution_space(hostile_table(), hostile_plan())
    page = space_page(space)
    assert_escaped(page)
    data = re.search(r'<script type="application/json" id="space">(.*?)</script>', page)
    assert data is not None
    assert json.loads(data[1])["names"] == [f"{HOSTILE} age"]
    assert_escaped(space_image(space))


def test_a_comparison_escapes_the_names_of_columns() -> None:
    pytest.importorskip("sklearn")
    found = ko.compare_algorithms(hostile_table(), hostile_plan(), algorithms=["optimal", "mondrian"], task=HOSTILE)
    assert_escaped(found.to_html())


def test_a_series_escapes_names_and_the_labels_of_its_regions(tmp_path: Path) -> None:
    tree = {f"{HOSTILE} {part}": [f"{HOSTILE} {part}{number}" for number in range(3)] for part in "AB"}
    attributes = {HOSTILE: {"role": "quasi-identifying", "hierarchy": {"tree": tree}}}
    plan = ko.Plan.from_dict({"kohorte": 1, "attributes": attributes, "models": [{"model": "k-anonymity", "k": 2}]})
    series = ko.Series.start(tmp_path / "series", plan, {})
    series.release(pl.DataFrame({HOSTILE: [f"{HOSTILE} {'AB'[row % 2]}{row % 3}" for row in range(60)]}))
    series.write_picture(tmp_path / "series.html")
    text = (tmp_path / "series.html").read_text(encoding="utf-8")
    assert_escaped(text)
    assert f"<title>{ESCAPED} {ESCAPED} A0</title>" in text


def test_every_part_of_the_kit_escapes_its_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts as the web interface will use them, from templates of its own."""
    (tmp_path / "outside" / "templates").mkdir(parents=True)
    (tmp_path / "outside" / "__init__.py").touch()
    (tmp_path / "outside" / "templates" / "all.html.j2").write_text(
        """{% import "parts.html.j2" as parts %}
{% call parts.section(x, id=x) %}{{ x }}{% endcall %}{{ parts.verdict(x, x, [x]) }}
{{ parts.note(x) }}{{ parts.bullets([x]) }}
{{ parts.table([x], [[x, x]], x) }}{{ parts.definitions([(x, x)]) }}""",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    page = render("outside", "all.html.j2", x=HOSTILE + "\u202e\x00 5 %")
    assert_escaped(page)
    assert page.count(ESCAPED) == 15
    assert not re.search("[\u202e\x00]", page)
    assert " %" not in page.replace("\u00a0%", "")


def test_a_section_without_content_is_not_shown_and_a_misspelt_name_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jinja2 import UndefinedError

    (tmp_path / "other" / "templates").mkdir(parents=True)
    (tmp_path / "other" / "__init__.py").touch()
    write = (tmp_path / "other" / "templates" / "some.html.j2").write_text
    write('{% import "parts.html.j2" as parts %}{% call parts.section("empty") %} {% endcall %}', encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert not render("other", "some.html.j2").strip()
    write("{{ facts.misspelt }}", encoding="utf-8")
    with pytest.raises(UndefinedError):
        render("other", "some.html.j2", facts=object())


def strings(module: Path) -> list[str]:
    """All strings of a module that are not docstrings; those of f-strings, too."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in alone)
    return [node.value for node in constants if isinstance(node.value, str)]


def test_only_charts_and_templates_write_tags() -> None:
    modules = [path for path in SOURCES.rglob("*.py") if SOURCES / "pages" / "charts" not in path.parents]
    assert len(modules) > 300
    found = {str(path.relative_to(SOURCES)): text for path in modules for text in strings(path) if TAG.search(text)}
    assert found == {}


def test_every_template_is_escaped_and_none_says_that_a_text_is_safe() -> None:
    templates = sorted(SOURCES.rglob("*.j2"))
    assert len(templates) >= 8
    for template in templates:
        assert not re.search(r"\|\s*safe|autoescape", template.read_text(encoding="utf-8")), template.name


def test_the_help_of_the_command_does_not_load_the_templates() -> None:
    import subprocess
    import sys

    code = (
        "import sys\nfrom kohorte.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "sys.exit('jinja2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
