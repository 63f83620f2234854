"""Pictures of the solution space: every node is drawn, the optimum and its neighbours are marked and right."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import Ordering
from kohorte.lattice import Lattice, Node
from kohorte.models import KAnonymity
from kohorte.pages.style import COLOURS
from kohorte.search import Evaluation
from kohorte.space.facts import Facts
from kohorte.space.solution_space import SolutionSpace
from kohorte.space.write import write_picture

MakePlan = Callable[..., ko.Plan]
SVG = "{http://www.w3.org/2000/svg}"
EMPTY = {"meta", "br", "path", "rect"}


class Page(HTMLParser):
    """A page as a list of elements, each with its attributes and text; complains about what is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[int] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        if tag != "meta":
            self._open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self._open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        for index in self._open:
            self.elements[index][2].append(data)

    def texts(self, tag: str) -> list[str]:
        return ["".join(text) for name, _, text in self.elements if name == tag]

    def with_class(self, kind: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes, _ in self.elements if kind in (attributes.get("class") or "").split()]

    @property
    def data(self) -> dict[str, object]:
        [text] = [text for _, attributes, text in self.elements if attributes.get("id") == "space"]
        found: dict[str, object] = json.loads("".join(text))
        return found


def space_of(
    shape: tuple[int, ...], *, solved: bool = True, seed: int = 1, names: tuple[str, ...] | None = None
) -> SolutionSpace:
    """A made-up space: costs rise with the levels, rows are suppressed at the low ones; 1,000 rows, limit 100."""
    names = names or tuple(f"q{axis}" for axis in range(len(shape)))
    plan = ko.Plan(
        attributes={name: ko.Attribute("quasi-identifying") for name in names},
        models=[KAnonymity(k=5)],
        suppression_limit=0.1,
    )
    dice = random.Random(seed)
    most = sum(length - 1 for length in shape)
    nodes = []
    for node in Lattice(shape).nodes():
        share = sum(node) / most if most else 1.0
        suppressed = int(1000 * max(0.0, 0.6 - share)) + dice.randrange(50) + (0 if solved else 200)
        cost = share + dice.random() / 10
        solution = suppressed <= 100
        nodes.append(Evaluation(node, solution, cost if solution else math.inf, suppressed, 10, 5))
    solutions = [node for node in nodes if node.solution]
    best = min(solutions, key=lambda node: (node.cost, sum(node.node), node.node), default=None)
    return SolutionSpace(names, shape, tuple(nodes), best, plan, 1000)


def drawn(text: str) -> int:
    """How many nodes are drawn: boxes of a diagram, or outlines in the paths of a map."""
    boxes = len(re.findall('<g class="node"', text))
    paths = re.findall(r'<path class="cells[^"]*"[^>]* d="([^"]*)"', text)
    return boxes + sum(path.count("z") for path in paths)


def pictures(space: SolutionSpace) -> list[str]:
    return [space.to_svg(), space.to_html()]


SHAPES = [(1,), (2,), (7,), (6, 4, 2), (5, 4, 3, 2), (3,) * 6, (20, 15), (2,) * 9, (2, 5, 2, 3, 4, 3, 3, 3, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("solved", [True, False], ids=["solved", "unsolved"])
def test_every_node_is_drawn_once_and_one_is_marked(shape: tuple[int, ...], *, solved: bool) -> None:
    space = space_of(shape, solved=solved)
    svg, html = pictures(space)
    assert drawn(svg) == drawn(html) == len(space.nodes) == math.prod(shape)
    middle = Facts(space).middle
    marked = [item for item in Page(html).with_class("ring") if item["x"] != "1.5"]  # not that of the legend
    assert len(marked) == 1
    assert f"\u2605 {'optimum' if solved else 'nearest'}" in svg
    assert html.count(f'data-node="{space.index(middle.node)}"') >= 2
    ET.fromstring(svg)


@pytest.mark.parametrize("shape", [(6, 4, 2), (3,) * 6], ids=["diagram", "map"])
def test_as_many_neighbours_are_marked_as_the_lattice_has(shape: tuple[int, ...]) -> None:
    space = space_of(shape)
    assert space.best is not None
    lattice = Lattice(shape)
    expected = {*lattice.successors(space.best.node), *lattice.predecessors(space.best.node)}
    root = ET.fromstring(space.to_svg())
    marked = [item for item in root.iter(f"{SVG}rect") if item.get("class") == "beside"]
    assert len(marked) - 1 == len(expected)  # and one in the legend
    assert Facts(space).neighbours == expected


def test_a_map_shows_the_nodes_in_the_order_that_the_script_looks_them_up(patient_plan: ko.Plan) -> None:
    space = space_of((3,) * 6)
    cells = Page(space.to_html()).data["cells"]
    assert isinstance(cells, dict)
    assert sorted(cells["order"]) == list(range(len(space.nodes)))
    for _, start, count in cells["bands"]:
        band = [space.nodes[index] for index in cells["order"][start : start + count]]
        assert len({sum(node.node) for node in band}) == 1
        keys = [(not node.solution, node.cost, 0 if node.solution else node.suppressed) for node in band]
        assert keys == sorted(keys)


def sides(html: str) -> list[str]:
    page = Page(html)
    return [text.replace("\u00a0", " ") for text in page.texts("td")]


def test_the_neighbours_of_the_optimum_are_those_of_a_recount(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    space = ko.solution_space(patients, patient_plan)
    assert space.best is not None
    cells = sides(space.to_html())
    for axis, name in enumerate(space.attributes):
        for step in (-1, 1):
            level = space.best.node[axis] + step
            words = space.short_meanings[axis]
            if not 0 <= level < space.shape[axis]:
                assert sum(cell.startswith(("\u2713", "\u2717")) and f" {name}: " in cell for cell in cells) == 1
                continue
            [text] = [cell for cell in cells if f" {name}: {words[level - step]} \u2192 {words[level]}: " in cell]
            suppressed = recount(patients, patient_plan, (*space.best.node[:axis], level, *space.best.node[axis + 1 :]))
            rows = f"{suppressed} row{'' if suppressed == 1 else 's'}"
            if suppressed <= 1:
                assert text.startswith("\u2713")
                assert f"{rows} suppressed ({suppressed / 12:.2%}".replace("%", " %") in text
            else:
                assert text.startswith("\u2717")
                assert f"not a solution, {rows} would have to be suppressed (limit 1)" in text


def recount(frame: pl.DataFrame, plan: ko.Plan, node: Node) -> int:
    """The suppressed rows of a node, from the labels of the hierarchies, without engine or search."""
    columns = []
    for name, level in zip(plan.quasi_identifiers, node, strict=True):
        values = frame[name].cast(pl.String)
        builder = plan.attributes[name].hierarchy or Ordering()
        hierarchy = builder.build(sorted(set(values)), attribute=name)
        labels = dict(zip(hierarchy.values, hierarchy.column(level), strict=True))
        columns.append([labels[value] for value in values])
    rows = list(zip(*columns, strict=True))
    return sum(rows.count(row) < 2 for row in rows)


def test_the_neighbours_say_in_words_what_would_happen() -> None:
    space = space_of((6, 4, 2))
    assert space.best is not None
    cells = "\n".join(sides(space.to_html()))
    best = space.best.node
    finer = space.at((best[0] - 1, *best[1:]))
    assert not finer.solution
    words = space.short_meanings[0]
    assert (
        f"q0: {words[best[0]]} \u2192 {words[best[0] - 1]}: not a solution, {finer.suppressed} rows would have "
        "to be suppressed (limit 100)" in cells
    )


def test_the_ten_best_are_listed_in_their_order() -> None:
    space = space_of((3,) * 6)
    rows = [attributes for tag, attributes, _ in Page(space.to_html()).elements if tag == "tr"]
    listed = [int(str(row["data-node"])) for row in rows if "data-node" in row]
    assert listed == [space.index(node.node) for node in space.solutions()[:10]]


def test_without_a_solution_the_node_with_the_fewest_suppressed_rows_stands_in_the_middle() -> None:
    space = space_of((4, 3), solved=False)
    fewest = min(node.suppressed for node in space.nodes)
    for text in pictures(space):
        assert "No combination of levels satisfies the plan" in text
        assert "Nearest to a solution" in text
        assert f"{fewest} rows would have to be suppressed (limit 100)" in text
        assert "inf" not in re.sub(r"<script>.*", "", text, flags=re.DOTALL)
    assert Facts(space).middle.suppressed == fewest


def test_a_lattice_of_one_node_has_no_neighbours() -> None:
    space = space_of((1,))
    assert space.best == space.nodes[0]
    assert sides(space.to_html()).count("no further level") == 2


def test_equal_and_vanishing_costs_are_no_problem() -> None:
    space = space_of((6, 4, 2))
    nodes = tuple(replace(node, cost=0.0 if node.solution else math.inf) for node in space.nodes)
    best = min((node for node in nodes if node.solution), key=lambda node: (sum(node.node), node.node))
    flat = replace(space, nodes=nodes, best=best)
    for text in pictures(flat):
        assert "the same" in text
        assert "nan" not in re.sub(r"<script>.*", "", text, flags=re.DOTALL)
    uneven = replace(flat, nodes=tuple(replace(node, cost=node.cost and node.cost + 1) for node in nodes))
    assert "s0" in uneven.to_svg()


HOSTILE = ("<b>&\"'", "</script><script>alert(1)</script>", "]]><!--", "a\x00\x1b\ud800z", "\u00fcml\u00e4ut \u202e")


@pytest.mark.parametrize("shape", [(2, 2, 2, 2, 2), (4, 4, 4, 3, 3)], ids=["diagram", "map"])
def test_names_of_attributes_are_text_and_nothing_else(shape: tuple[int, ...]) -> None:
    space = space_of(shape, names=HOSTILE)
    svg, html = pictures(space)
    root = ET.fromstring(svg.encode())
    assert any(HOSTILE[0] in "".join(item.itertext()) for item in root.iter(f"{SVG}text"))
    assert {item.tag for item in root.iter()} == {
        SVG + tag for tag in ("svg", "title", "desc", "style", "rect", "path", "text", "g")
    }
    page = Page(html.encode().decode())
    assert [tag for tag, _, _ in page.elements].count("script") == 2
    assert "b" not in {tag for tag, attributes, _ in page.elements if attributes}
    assert any(text.startswith(HOSTILE[1]) for text in page.texts("th"))
    assert page.data["names"] == list(HOSTILE)


@pytest.mark.parametrize("shape", [(6, 4, 2), (3,) * 6], ids=["diagram", "map"])
def test_nothing_comes_from_outside(shape: tuple[int, ...]) -> None:
    svg, html = pictures(space_of(shape))
    for text in (svg.replace('xmlns="http://www.w3.org/2000/svg"', "", 1), html):
        assert "//" not in re.sub(r"^ *// .*$", "", text, flags=re.MULTILINE)
        assert not re.search(r"\b(src|href)=(?!\"#)|url\(|@import|fetch\(|XMLHttpRequest", text)
    assert "<script" not in svg
    assert "default-src 'none'" in html


@pytest.mark.parametrize("shape", [(6, 4, 2), (3,) * 6], ids=["diagram", "map"])
def test_the_same_space_gives_the_same_bytes(shape: tuple[int, ...]) -> None:
    assert pictures(space_of(shape)) == pictures(space_of(shape))


def test_light_and_dark_are_both_there_and_every_colour_is_filled_in() -> None:
    for text in pictures(space_of((6, 4, 2))):
        assert "prefers-color-scheme:dark" in text
        assert not any(f"@{name}" in text for name in COLOURS)


def test_no_value_of_a_cell_is_in_a_picture(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    coded = patients.with_columns(
        pl.col("zip").map_elements({zip_: f"canary{n}" for n, zip_ in enumerate(set(patients["zip"]))}.get, pl.String),
        pl.col("sex").replace({"m": "canarym", "f": "canaryf", "d": "canaryd"}),
    )
    for text in pictures(ko.solution_space(coded, patient_plan)):
        assert "canary" not in text


@pytest.mark.slow
def test_a_picture_of_45_000_nodes_is_small() -> None:
    space = space_of((6, 5, 2, 3, 2, 5, 5, 5))
    svg, html = pictures(space)
    assert len(svg.encode()) < 2_000_000
    assert len(html.encode()) < 2_000_000
    assert drawn(svg) == drawn(html) == 45_000


@pytest.mark.slow
def test_beyond_a_hundred_thousand_nodes_cells_are_joined_and_the_image_stays_small() -> None:
    space = space_of((6, 5, 4, 3, 2, 5, 5, 6))
    svg = space.to_svg()
    assert len(svg.encode()) < 500_000
    outlines = re.findall(r'<path class="cells[^"]*"[^>]* d="([^"]*)"', svg)
    area = sum(int(width) * int(height) for path in outlines for width, height in re.findall(r"h(\d+)v(\d+)", path))
    pitch = {int(height) for path in outlines for height in re.findall(r"v(\d+)", path)}
    assert len(pitch) == 1
    assert area == len(space.nodes) * pitch.pop() ** 2


def test_the_kind_of_a_picture_is_that_of_its_name(tmp_path: Path) -> None:
    space = space_of((3, 2))
    write_picture(space, tmp_path / "a.html", force=False)
    write_picture(space, tmp_path / "b.SVG", force=False)
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == space.to_html()
    assert (tmp_path / "b.SVG").read_text(encoding="utf-8") == space.to_svg()
    with pytest.raises(ko.InputError) as caught:
        write_picture(space, tmp_path / "c.png", force=False)
    assert caught.value.code == "picture-format"
    with pytest.raises(ko.InputError) as caught:
        write_picture(space, tmp_path / "a.html", force=False)
    assert caught.value.code == "output-exists"
    write_picture(space, tmp_path / "a.html", force=True)


def test_a_space_counted_with_threads_is_that_counted_without(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    many = pl.concat([patients] * 3)
    spaces = [
        ko.solution_space(many, replace(patient_plan, search=ko.SearchOptions(threads=threads))) for threads in (1, 3)
    ]
    assert spaces[0].nodes == spaces[1].nodes
    assert spaces[0].best == spaces[1].best


def test_a_space_has_what_the_search_finds_at_each_node(patients: pl.DataFrame, patient_plan: ko.Plan) -> None:
    from kohorte.release.anonymization import set_up_search
    from kohorte.release.preparation import encode_problem
    from kohorte.sources import FrameSource

    space = ko.solution_space(patients, patient_plan)
    evaluator = set_up_search(encode_problem(FrameSource(patients), patient_plan)).evaluator
    for node in space.nodes:
        again = evaluator(node.node)
        for field in ("solution", "cost", "suppressed", "classes", "smallest_class"):
            assert getattr(node, field) == getattr(again, field)
        assert space.at(node.node) is node
    assert np.prod(space.shape) == len(space.nodes)


@pytest.mark.parametrize("shape", [(3, 4), (6, 7, 9)])
def test_cells_are_reached_by_the_keyboard_and_have_names(shape: tuple[int, ...]) -> None:
    """Of a small lattice every node; of a large one the optimum and its neighbours, from where arrow keys lead on."""
    space = space_of(shape)
    _, html = pictures(space)
    drawing = html.split('id="drawing"')[1].split("</svg>")[0]
    cells = re.findall(r"<(?:g|rect) class=\"[^\"]*\"[^>]*data-node=\"(\d+)\"[^>]*>", drawing)
    reached = re.findall(
        r"<(?:g|rect) [^>]*data-node=\"(\d+)\"[^>]*tabindex=\"0\"[^>]*aria-label=\"([^\"]+)\"", drawing
    )
    assert sorted(number for number, _ in reached) == sorted(cells)
    assert len(cells) >= (len(space.nodes) if len(shape) == 2 else 1 + len(shape))
    assert all(": " in name for _, name in reached)
    script = html.split("<script>")[1]
    assert all(key in script for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "Enter"))
    assert 'role="group"' in html.split('id="drawing"')[1][:200]


@pytest.mark.parametrize("shape", [(3, 4), (6, 7, 9)])
def test_the_lattice_is_legible_on_a_phone_and_can_be_moved_by_the_keyboard(shape: tuple[int, ...]) -> None:
    _, html = pictures(space_of(shape))
    least, most = re.findall(r"min-width:(\d+)px;max-width:(\d+)px", html)[0]
    assert 11 * int(least) / int(most) >= 10
    assert '<div class="scroll" tabindex="0" role="region" aria-label="All combinations of levels">' in html
    assert len(re.findall(r'<h2 id="([^"]+)">', html)) == 4
